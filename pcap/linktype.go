package pcap

import "strconv"

// LINKTYPE_ values (https://www.tcpdump.org/linktypes.html) that Decode understands. 12 and 14 are the DLT_RAW of old
// files and of OpenBSD.
const (
	LinkNull     LinkType = 0
	LinkEthernet LinkType = 1
	LinkPPP      LinkType = 9
	linkRaw12    LinkType = 12
	linkRaw14    LinkType = 14
	LinkPPPHDLC  LinkType = 50
	LinkPPPoE    LinkType = 51
	LinkRaw      LinkType = 101
	LinkCHDLC    LinkType = 104
	LinkLoop     LinkType = 108
	LinkSLL      LinkType = 113
	LinkIPv4     LinkType = 228
	LinkIPv6     LinkType = 229
	LinkSLL2     LinkType = 276
)

// Decoded reports whether Decode understands the link type.
func (t LinkType) Decoded() bool {
	switch t {
	case LinkNull, LinkEthernet, LinkPPP, linkRaw12, linkRaw14, LinkPPPHDLC, LinkPPPoE, LinkRaw, LinkCHDLC, LinkLoop, LinkSLL,
		LinkIPv4, LinkIPv6, LinkSLL2:
		return true
	}
	return false
}

// String returns the registry's name without LINKTYPE_, or the number.
func (t LinkType) String() string {
	switch t {
	case LinkNull:
		return "NULL"
	case LinkEthernet:
		return "ETHERNET"
	case 6:
		return "IEEE802_5"
	case LinkPPP:
		return "PPP"
	case 10:
		return "FDDI"
	case LinkPPPHDLC:
		return "PPP_HDLC"
	case LinkPPPoE:
		return "PPP_ETHER"
	case linkRaw12, linkRaw14, LinkRaw:
		return "RAW"
	case LinkCHDLC:
		return "C_HDLC"
	case 105:
		return "IEEE802_11"
	case 107:
		return "FRELAY"
	case LinkLoop:
		return "LOOP"
	case LinkSLL:
		return "LINUX_SLL"
	case 117:
		return "PFLOG"
	case 119:
		return "IEEE802_11_PRISM"
	case 127:
		return "IEEE802_11_RADIOTAP"
	case 189:
		return "USB_LINUX"
	case 192:
		return "PPI"
	case 195:
		return "IEEE802_15_4_WITHFCS"
	case 201:
		return "BLUETOOTH_HCI_H4_WITH_PHDR"
	case 220:
		return "USB_LINUX_MMAPPED"
	case LinkIPv4:
		return "IPV4"
	case LinkIPv6:
		return "IPV6"
	case 239:
		return "NFLOG"
	case 240:
		return "NETANALYZER"
	case 242:
		return "IPOIB"
	case 247:
		return "INFINIBAND"
	case 253:
		return "NETLINK"
	case 258:
		return "PKTAP"
	case LinkSLL2:
		return "LINUX_SLL2"
	}
	return strconv.Itoa(int(t))
}

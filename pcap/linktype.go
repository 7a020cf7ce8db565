package pcap

import "strconv"

// LINKTYPE_ values (https://www.tcpdump.org/linktypes.html) that most captures have. 12 and 14 are the DLT_RAW of old
// files and of OpenBSD. rareLink has the others that Decode understands.
const (
	LinkNull     LinkType = 0
	LinkEthernet LinkType = 1
	LinkPPP      LinkType = 9
	linkRaw12    LinkType = 12
	linkRaw14    LinkType = 14
	LinkPPPHDLC  LinkType = 50
	LinkPPPoE    LinkType = 51
	LinkRaw      LinkType = 101
	LinkLoop     LinkType = 108
	LinkSLL      LinkType = 113
	LinkIPv4     LinkType = 228
	LinkIPv6     LinkType = 229
	LinkSLL2     LinkType = 276
)

// Link types of radio, of packets logged by a firewall, of other media, and of captures with headers before the frame.
const (
	linkTokenRing  LinkType = 6
	linkSLIP       LinkType = 8
	linkFDDI       LinkType = 10
	linkATM        LinkType = 100
	LinkCHDLC      LinkType = 104
	linkDot11      LinkType = 105
	linkFrameRelay LinkType = 107
	linkEnc        LinkType = 109
	linkPFLog      LinkType = 117
	linkPrism      LinkType = 119
	linkSunATM     LinkType = 123
	linkRadiotap   LinkType = 127
	linkFireWire   LinkType = 138
	linkAVS        LinkType = 163
	linkPPPD       LinkType = 166
	linkPPI        LinkType = 192
	linkPPPWithDir LinkType = 204
	linkNFLog      LinkType = 239
	linkNetana     LinkType = 240
	linkIPoIB      LinkType = 242
	linkPKTAP      LinkType = 258
	linkBroadcom   LinkType = 281
	linkBroadcomAt LinkType = 282 // before the frame
	linkMarvell    LinkType = 284
	linkMarvellEth LinkType = 285
)

// Decoded reports whether Decode understands the link type.
func (t LinkType) Decoded() bool { return new(Header).link(nil, 0, 0, t) }

// String returns the registry's name without LINKTYPE_, or the number.
func (t LinkType) String() string {
	names := [...]string{
		LinkNull: "NULL", LinkEthernet: "ETHERNET", 3: "AX25", linkTokenRing: "IEEE802_5", 7: "ARCNET_BSD", linkSLIP: "SLIP", LinkPPP: "PPP",
		linkFDDI: "FDDI", linkRaw12: "RAW", linkRaw14: "RAW", LinkPPPHDLC: "PPP_HDLC", LinkPPPoE: "PPP_ETHER", linkATM: "ATM_RFC1483",
		LinkRaw: "RAW", LinkCHDLC: "C_HDLC", linkDot11: "IEEE802_11", 106: "ATM_CLIP", linkFrameRelay: "FRELAY", LinkLoop: "LOOP", linkEnc: "ENC",
		LinkSLL: "LINUX_SLL", 114: "LTALK", linkPFLog: "PFLOG", linkPrism: "IEEE802_11_PRISM", 122: "IP_OVER_FC", linkSunATM: "SUNATM",
		linkRadiotap: "IEEE802_11_RADIOTAP", 129: "ARCNET_LINUX", linkFireWire: "APPLE_IP_OVER_IEEE1394", 139: "MTP2_WITH_PHDR", 140: "MTP2",
		141: "MTP3", 142: "SCCP", 143: "DOCSIS", 144: "LINUX_IRDA", linkAVS: "IEEE802_11_AVS", 165: "BACNET_MS_TP", linkPPPD: "PPP_PPPD",
		177: "LINUX_LAPD", 182: "MFR", 187: "BLUETOOTH_HCI_H4", 189: "USB_LINUX", linkPPI: "PPI", 195: "IEEE802_15_4_WITHFCS", 197: "ERF",
		201: "BLUETOOTH_HCI_H4_WITH_PHDR", linkPPPWithDir: "PPP_WITH_DIR", 220: "USB_LINUX_MMAPPED", 226: "IPNET", 227: "CAN_SOCKETCAN",
		LinkIPv4: "IPV4", LinkIPv6: "IPV6", 230: "IEEE802_15_4_NOFCS", 231: "DBUS", linkNFLog: "NFLOG", linkNetana: "NETANALYZER",
		linkIPoIB: "IPOIB", 247: "INFINIBAND", 249: "USBPCAP", 251: "BLUETOOTH_LE_LL", 252: "WIRESHARK_UPPER_PDU", 253: "NETLINK", linkPKTAP: "PKTAP",
		271: "VSOCK", 274: "ETHERNET_MPACKET", LinkSLL2: "LINUX_SLL2", linkBroadcom: "DSA_TAG_BRCM", linkBroadcomAt: "DSA_TAG_BRCM_PREPEND",
		linkMarvell: "DSA_TAG_DSA", linkMarvellEth: "DSA_TAG_EDSA",
	}
	if int(t) < len(names) && names[t] != "" {
		return names[t]
	}
	return strconv.Itoa(int(t))
}

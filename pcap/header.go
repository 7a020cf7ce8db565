package pcap

import "net/netip"

// TCP flags as they are in the header, with the NS/AE bit left out.
const (
	FIN uint8 = 1 << iota
	SYN
	RST
	PSH
	ACK
	URG
	ECE
	CWR
)

// Checksum is what a transport checksum proves to be. Partial is the folded pseudo-header sum that checksum offload
// (CHECKSUM_PARTIAL) leaves in outgoing and GRO-merged packets; it needs only the headers to be proven.
type Checksum uint8

const (
	ChecksumUnknown Checksum = iota // there is none, or it was not looked at
	ChecksumValid
	ChecksumPartial
	ChecksumWrong
	ChecksumCut // not partial; the packet was not captured whole, so that it may be valid or wrong
)

// Header is the flat decode of a packet: one struct for all layers that the hot path needs. Lengths come from the
// headers (or, where they are 0, from the record's original length), never from what was captured, so that a short
// snap length changes nothing that headers tell.
type Header struct {
	Network    Network // what of the fields below is valid
	Transport  Transport
	Src, Dst   [16]byte // addresses; IPv4 in the first four bytes
	Fault      Fault    // what is wrong with these headers
	VLAN       uint16   // outermost tag's VLAN identifier, 0 if there is none
	Tags       uint8    // VLAN tags; 1 with VLAN 0 is a priority tag
	TTL        uint8    // or hop limit
	ID         uint16   // IPv4 identification
	HasID      bool
	ECN        uint8 // the two low bits of the traffic class
	Fragment   bool  // one of several fragments
	FirstFrag  bool  // the one that holds the transport header
	LengthZero bool  // the IP length field was 0 (TSO, BIG TCP), or too small for its own headers: the length is the record's
	IPLen      int   // bytes of the IP packet, header included
	NetworkAt  int   // where its header begins in Packet.Data

	// All other fields are those of the innermost packet. Tunnel keeps equal addresses in different tunnels apart: a hash
	// of kind, VXLAN or Geneve network, GRE key and (GRE, IP in IP) the ends, the same in both directions; 0 outside of tunnels.
	Tunnel     uint32
	TunnelKind TunnelKind // of the innermost tunnel
	Tunnels    uint8      // how many
	inPart     bool       // the packet around this one is the first of its fragments
	frames     uint8      // Ethernet headers and their like met

	// Valid iff Transport is TCP or UDP.
	SrcPort, DstPort uint16
	Payload          int // bytes of transport payload the packet had; captured or not (ICMP too: behind its 8 bytes)
	PayloadAt        int // where it begins in Packet.Data; may be past the end (ICMP too)
	Checksum         uint16

	ICMPType, ICMPCode uint8 // valid iff Transport is ICMP

	// Valid iff Transport is TCP.
	Seq, Ack uint32
	Flags    uint8
	Window   uint16 // as in the header, not scaled
	Options  TCPOptions
}

// Network is the innermost network layer found.
type Network uint8

const (
	NoNetwork Network = iota
	IPv4
	IPv6
)

// Transport is the innermost transport layer found whose header was captured far enough.
type Transport uint8

const (
	NoTransport Transport = iota
	TCP
	UDP
	ICMP
	OtherTransport
)

// TunnelKind is a way of carrying packets in packets.
type TunnelKind uint8

const (
	NoTunnel TunnelKind = iota
	IPinIP              // IPv4 or IPv6 straight in IPv4 or IPv6
	GRE
	VXLAN
	Geneve
	GTP
	L2TP
	Teredo
	MPLSinUDP
)

func (k TunnelKind) String() string {
	return [...]string{"", "ipip", "gre", "vxlan", "geneve", "gtp", "l2tp", "teredo", "mpls"}[k]
}

// TCPOptions are the TCP options of one packet. Cut says that the snap length or a bad length ended them early.
type TCPOptions struct {
	Length       uint8 // bytes of options in the header
	Cut          bool
	HasTimestamp bool
	HasMSS       bool
	HasScale     bool
	SACKOK       bool
	MPTCP        bool
	FastOpen     bool
	MSS          uint16
	Scale        uint8
	TSVal, TSEcr uint32
	SACKs        uint8 // how many of SACK are valid
	SACK         [4][2]uint32
}

// addr returns the address of one end of the packet.
func (h *Header) addr(a *[16]byte) netip.Addr {
	switch h.Network {
	case IPv4:
		return netip.AddrFrom4([4]byte(a[:4]))
	case IPv6:
		return netip.AddrFrom16(*a)
	default:
		return netip.Addr{}
	}
}

// Captured returns the first bytes of the payload of p, at most n and no more than were captured.
func (h *Header) Captured(p *Packet, n int) []byte {
	if h.PayloadAt == 0 || h.PayloadAt >= len(p.Data) {
		return nil
	}
	return p.Data[h.PayloadAt:min(h.PayloadAt+min(max(n, 0), h.Payload), len(p.Data))]
}

// Source returns the sender's address and port; the port is 0 unless the transport is TCP or UDP.
func (h *Header) Source() netip.AddrPort { return netip.AddrPortFrom(h.addr(&h.Src), h.SrcPort) }

// Destination returns the receiver's address and port.
func (h *Header) Destination() netip.AddrPort { return netip.AddrPortFrom(h.addr(&h.Dst), h.DstPort) }

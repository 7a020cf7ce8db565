package analyze

import (
	"context"
	"encoding/hex"
	"net"
	"strconv"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// PacketRecord is one decoded packet of a capture, as packets and records print it. Times are since the source's epoch.
type PacketRecord struct {
	Record      int64      `json:"record"` // Wireshark's frame number
	Offset      int64      `json:"offset"`
	Time        unit.Nanos `json:"time_ns"`
	Interface   int        `json:"interface"`
	Device      uint32     `json:"device,omitempty"`    // the system's interface index, where the record tells
	Direction   string     `json:"direction,omitempty"` // in or out, where the capture tells
	Length      int        `json:"length"`              // bytes the packet had on the link
	Captured    int        `json:"captured"`
	Proto       string     `json:"proto"` // tcp, udp, icmp, ip, ip6, other
	Src         string     `json:"src"`
	Dst         string     `json:"dst"`
	LinkSrc     string     `json:"link_src,omitempty"` // Ethernet addresses
	LinkDst     string     `json:"link_dst,omitempty"`
	ID          int        `json:"ip_id"` // IPv4 identification; -1 for IPv6
	TTL         int        `json:"ttl"`   // or hop limit
	Conn        int64      `json:"conn"`  // connection number, 0 for none
	Seq         uint32     `json:"seq"`
	Ack         uint32     `json:"ack"`
	Header      string     `json:"tcp_flags"` // as tcpdump prints them: "S.", "P."
	Window      int        `json:"window"`
	Payload     int        `json:"payload"`
	WirePackets int        `json:"wire_packets"`
	Flags       []string   `json:"flags"`          // the analysis' marks, or Wireshark's
	Data        string     `json:"data,omitempty"` // the first bytes of the payload in hexadecimal, where Options ask for them
}

// Packets decodes the capture behind path and hands each packet that the filter lets through to emit. The record is
// reused.
func Packets(ctx context.Context, path string, filter pcap.Filter, o Options, emit func(*PacketRecord) error) (*source.Ledger, error) {
	var ledger source.Ledger
	err := eachCapture(path, o.Stdin, &ledger, func(src *source.Source) error { return packets(ctx, src, filter, o, &ledger, emit) })
	return &ledger, err
}

func packets(ctx context.Context, src *source.Source, filter pcap.Filter, o Options, ledger *source.Ledger, emit func(*PacketRecord) error) error {
	epoch, started := unit.Nanos(0), false
	var record PacketRecord
	var wireshark *tcp.WiresharkMarker
	if o.WiresharkFlags {
		wireshark = tcp.NewWiresharkMarker(src.Path, tcp.WiresharkOptions{}, ledger)
	}
	_, _, err := track(ctx, src, ledger, o, func(p *pcap.Packet, h *pcap.Header, m tcp.Mark) error {
		var theirs tcp.WiresharkFlags
		if wireshark != nil {
			theirs = wireshark.Mark(p, h) // before the filter, which must not change what is marked
		}
		if p.HasTime && !started {
			epoch, started = p.Time-p.Time%unit.Second, true
		}
		if !filter.Match(p, h) || !o.Marked.match(p.Record, m) {
			return nil
		}
		record.fill(p, h, m, epoch)
		record.Data = hex.EncodeToString(h.Captured(p, o.PayloadBytes))
		if wireshark != nil {
			record.Flags = theirs.Names()
		}
		return emit(&record)
	})
	return err
}

func (r *PacketRecord) fill(p *pcap.Packet, h *pcap.Header, m tcp.Mark, epoch unit.Nanos) {
	*r = PacketRecord{Record: p.Record, Offset: p.Offset, Interface: p.Interface, Length: p.WireLen, Captured: p.CapLen,
		Proto: proto(h), ID: -1, TTL: int(h.TTL), Payload: h.Payload, Conn: m.Connection, WirePackets: m.WirePackets, Flags: m.Flags.Names()}
	r.Device, r.Direction = p.Device, [...]string{"", "in", "out"}[p.Direction]
	if p.HasTime {
		r.Time = p.Time - epoch
	}
	if p.LinkType == pcap.LinkEthernet && len(p.Data) >= 12 {
		r.LinkDst, r.LinkSrc = net.HardwareAddr(p.Data[:6]).String(), net.HardwareAddr(p.Data[6:12]).String()
	}
	if h.Network != pcap.NoNetwork {
		r.Src, r.Dst = endpoint(h.Source().Addr().String(), h.SrcPort, h), endpoint(h.Destination().Addr().String(), h.DstPort, h)
	}
	if h.HasID {
		r.ID = int(h.ID)
	}
	if h.Transport == pcap.TCP {
		r.Seq, r.Ack, r.Window, r.Header = h.Seq, h.Ack, int(h.Window), headerFlags(h.Flags)
	}
}

func proto(h *pcap.Header) string {
	switch h.Transport {
	case pcap.TCP:
		return "tcp"
	case pcap.UDP:
		return "udp"
	case pcap.ICMP:
		return "icmp"
	}
	switch h.Network {
	case pcap.IPv4:
		return "ip"
	case pcap.IPv6:
		return "ip6"
	}
	return "other"
}

func endpoint(addr string, port uint16, h *pcap.Header) string {
	if h.Transport != pcap.TCP && h.Transport != pcap.UDP {
		return addr
	}
	if h.Network == pcap.IPv6 {
		return "[" + addr + "]:" + strconv.Itoa(int(port))
	}
	return addr + ":" + strconv.Itoa(int(port))
}

// headerFlags prints TCP flags as tcpdump does, ACK as a dot.
func headerFlags(flags uint8) string {
	var b []byte
	for _, f := range []struct {
		bit  uint8
		name byte
	}{{pcap.FIN, 'F'}, {pcap.SYN, 'S'}, {pcap.RST, 'R'}, {pcap.PSH, 'P'}, {pcap.ACK, '.'}, {pcap.URG, 'U'}, {pcap.ECE, 'E'}, {pcap.CWR, 'W'}} {
		if flags&f.bit != 0 {
			b = append(b, f.name)
		}
	}
	return string(b)
}

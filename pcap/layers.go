package pcap

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"nettrace/unit"
)

// Layer is one header of an opened packet, or what it carries, with the bytes that it is made of.
type Layer struct {
	Name       string
	Start, End int // in Packet.Data
	Fields     []Field
}

// Field is one value of a layer. Fields smaller than a byte share their bytes.
type Field struct {
	Name       string
	Value      string
	Start, End int // in Packet.Data
}

// Layers decodes all that was captured of a packet, for people to read. It never fails: what is not understood is a layer
// of bytes. The hot path uses Header.Decode instead, which is the one that judgements rest on.
func Layers(p *Packet) []Layer {
	linkType := layers.LinkType(p.LinkType)
	if p.LinkType == linkRaw12 || p.LinkType == linkRaw14 {
		linkType = layers.LinkTypeRaw
	}
	packet := gopacket.NewPacket(p.Data, linkType, gopacket.DecodeOptions{NoCopy: true})
	var list []Layer
	at := 0
	for _, decoded := range packet.Layers() {
		if _, failed := decoded.(gopacket.ErrorLayer); failed {
			break
		}
		contents := decoded.LayerContents()
		start, inside := place(p.Data, contents)
		if !inside {
			break
		}
		l := Layer{Name: decoded.LayerType().String(), Start: start, End: start + len(contents)}
		b := &fields{layer: &l, data: contents}
		b.of(decoded)
		list = append(list, l)
		at = l.End
	}
	if at < len(p.Data) {
		list = append(list, rest(p.Data, at))
	}
	return list
}

// rest is what no decoder takes: trailers of short frames, bytes behind a header that is damaged or cut.
func rest(data []byte, at int) Layer {
	l := Layer{Name: "bytes not decoded", Start: at, End: len(data)}
	b := &fields{layer: &l, data: data[at:]}
	b.payload()
	return l
}

// place returns where part begins in whole, and whether it is a part of it at all.
func place(whole, part []byte) (int, bool) {
	at := cap(whole) - cap(part)
	if len(part) == 0 || at < 0 || at+len(part) > len(whole) {
		return 0, false
	}
	return at, &whole[at] == &part[0]
}

// fields fills in the fields of a layer.
type fields struct {
	layer *Layer
	data  []byte // of the layer
}

// add enters the field in the bytes from start to end of the layer.
func (f *fields) add(name string, start, end int, format string, args ...any) {
	if end > len(f.data) {
		return // cut
	}
	f.layer.Fields = append(f.layer.Fields, Field{name, fmt.Sprintf(format, args...), f.layer.Start + start, f.layer.Start + end})
}

func (f *fields) of(decoded gopacket.Layer) {
	switch l := decoded.(type) {
	case *layers.Ethernet:
		f.add("destination", 0, 6, "%s", l.DstMAC)
		f.add("source", 6, 12, "%s", l.SrcMAC)
		f.add("type", 12, 14, "%s (%#04x)", l.EthernetType, binary.BigEndian.Uint16(f.data[12:]))
	case *layers.Dot1Q:
		f.add("priority", 0, 1, "%d", l.Priority)
		f.add("drop eligible", 0, 1, "%v", l.DropEligible)
		f.add("VLAN", 0, 2, "%d", l.VLANIdentifier)
		f.add("type", 2, 4, "%s", l.Type)
	case *layers.ARP:
		f.arp(l)
	case *layers.IPv4:
		f.ipv4(l)
	case *layers.IPv6:
		f.ipv6(l)
	case *layers.TCP:
		f.tcp(l)
	case *layers.UDP:
		f.add("source port", 0, 2, "%d", uint16(l.SrcPort))
		f.add("destination port", 2, 4, "%d", uint16(l.DstPort))
		f.add("length", 4, 6, "%d", l.Length)
		f.add("checksum", 6, 8, "%#04x", l.Checksum)
	case *layers.ICMPv4:
		f.add("type, code", 0, 2, "%s", l.TypeCode)
		f.add("checksum", 2, 4, "%#04x", l.Checksum)
		f.add("identifier", 4, 6, "%d", l.Id)
		f.add("sequence", 6, 8, "%d", l.Seq)
	case *layers.ICMPv6:
		f.add("type, code", 0, 2, "%s", l.TypeCode)
		f.add("checksum", 2, 4, "%#04x", l.Checksum)
	case *gopacket.Payload, *gopacket.Fragment:
		f.payload()
	default:
		f.other(decoded)
	}
}

func (f *fields) arp(l *layers.ARP) {
	operation := map[uint16]string{1: "request", 2: "reply"}[l.Operation]
	f.add("operation", 6, 8, "%d %s", l.Operation, operation)
	at := 8
	for _, part := range []struct {
		name  string
		bytes []byte
		show  func([]byte) string
	}{
		{"sender hardware", l.SourceHwAddress, mac}, {"sender address", l.SourceProtAddress, address},
		{"target hardware", l.DstHwAddress, mac}, {"target address", l.DstProtAddress, address},
	} {
		f.add(part.name, at, at+len(part.bytes), "%s", part.show(part.bytes))
		at += len(part.bytes)
	}
}

func mac(b []byte) string { return net.HardwareAddr(b).String() }

func address(b []byte) string {
	if len(b) == net.IPv4len || len(b) == net.IPv6len {
		return net.IP(b).String()
	}
	return hex.EncodeToString(b)
}

func (f *fields) ipv4(l *layers.IPv4) {
	f.add("version", 0, 1, "%d", l.Version)
	f.add("header length", 0, 1, "%d bytes", int(l.IHL)*4)
	f.add("DSCP, ECN", 1, 2, "%d, %d", l.TOS>>2, l.TOS&3)
	f.add("total length", 2, 4, "%d", binary.BigEndian.Uint16(f.data[2:])) // as it is printed: 0 says TSO
	f.add("identification", 4, 6, "%d (%#04x)", l.Id, l.Id)
	f.add("flags", 6, 7, "%s", orElse(l.Flags.String(), "none"))
	f.add("fragment offset", 6, 8, "%d", int(l.FragOffset)*8)
	f.add("TTL", 8, 9, "%d", l.TTL)
	f.add("protocol", 9, 10, "%s", l.Protocol)
	f.add("checksum", 10, 12, "%#04x", l.Checksum)
	f.add("source", 12, 16, "%s", l.SrcIP)
	f.add("destination", 16, 20, "%s", l.DstIP)
	if head := int(l.IHL) * 4; head > 20 {
		f.add("options", 20, head, "%d bytes", head-20)
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (f *fields) ipv6(l *layers.IPv6) {
	f.add("version", 0, 1, "%d", l.Version)
	f.add("DSCP, ECN", 0, 2, "%d, %d", l.TrafficClass>>2, l.TrafficClass&3)
	f.add("flow label", 1, 4, "%#05x", l.FlowLabel)
	f.add("payload length", 4, 6, "%d", binary.BigEndian.Uint16(f.data[4:]))
	f.add("next header", 6, 7, "%s", l.NextHeader)
	f.add("hop limit", 7, 8, "%d", l.HopLimit)
	f.add("source", 8, 24, "%s", l.SrcIP)
	f.add("destination", 24, 40, "%s", l.DstIP)
}

func (f *fields) tcp(l *layers.TCP) {
	f.add("source port", 0, 2, "%d", uint16(l.SrcPort))
	f.add("destination port", 2, 4, "%d", uint16(l.DstPort))
	f.add("sequence", 4, 8, "%d", l.Seq)
	f.add("acknowledgment", 8, 12, "%d", l.Ack)
	f.add("header length", 12, 13, "%d bytes", int(l.DataOffset)*4)
	f.add("flags", 12, 14, "%s", flagNames(f.data[13]))
	f.add("window", 14, 16, "%d (not scaled)", l.Window)
	f.add("checksum", 16, 18, "%#04x", l.Checksum)
	f.add("urgent", 18, 20, "%d", l.Urgent)
	at := 20
	for i := range l.Options {
		o := &l.Options[i]
		size := max(int(o.OptionLength), 1)
		f.add("option", at, at+size, "%s", tcpOption(o))
		at += size
	}
}

// flagNames spells out the flags of a TCP header, the highest first.
func flagNames(flags uint8) string {
	var names []string
	for i, name := range [...]string{"CWR", "ECE", "URG", "ACK", "PSH", "RST", "SYN", "FIN"} {
		if flags&(0x80>>i) != 0 {
			names = append(names, name)
		}
	}
	return orElse(strings.Join(names, " "), "none")
}

func tcpOption(o *layers.TCPOption) string {
	d := o.OptionData
	switch {
	case o.OptionType == layers.TCPOptionKindEndList:
		return "end"
	case o.OptionType == layers.TCPOptionKindNop:
		return "no operation"
	case o.OptionType == layers.TCPOptionKindMSS && len(d) == 2:
		return fmt.Sprintf("MSS %d", binary.BigEndian.Uint16(d))
	case o.OptionType == layers.TCPOptionKindWindowScale && len(d) == 1:
		return fmt.Sprintf("window scale %d (times %d)", d[0], 1<<min(d[0], 14))
	case o.OptionType == layers.TCPOptionKindSACKPermitted:
		return "SACK permitted"
	case o.OptionType == layers.TCPOptionKindSACK:
		return "SACK" + ranges(d)
	case o.OptionType == layers.TCPOptionKindTimestamps && len(d) == 8:
		return fmt.Sprintf("timestamps %d, echo %d", binary.BigEndian.Uint32(d), binary.BigEndian.Uint32(d[4:]))
	default:
		return fmt.Sprintf("%s: %x", o.OptionType, d)
	}
}

func ranges(d []byte) string {
	text := ""
	for ; len(d) >= 8; d = d[8:] {
		text += fmt.Sprintf(" %d-%d", binary.BigEndian.Uint32(d), binary.BigEndian.Uint32(d[4:]))
	}
	return text
}

// payload shows how much there is; the bytes themselves are shown beside the fields.
func (f *fields) payload() {
	f.add("data", 0, len(f.data), "%s bytes", unit.Count(int64(len(f.data))))
}

// other prints a layer as the library sees it, without the bytes, which are shown anyway.
func (f *fields) other(decoded gopacket.Layer) {
	text := gopacket.LayerString(decoded)
	if open := strings.IndexByte(text, '{'); open >= 0 {
		text = strings.TrimSuffix(text[open+1:], "}")
	}
	for _, word := range strings.Split(text, " ") {
		name, value, isField := strings.Cut(word, "=")
		if isField && !strings.HasPrefix(value, "[..") && !strings.HasPrefix(value, "{") {
			f.add(name, 0, len(f.data), "%s", value)
		}
	}
	if len(f.layer.Fields) == 0 {
		f.payload()
	}
}

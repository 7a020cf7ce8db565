package pcap

import (
	"encoding/binary"
	"net/netip"

	"nettrace/anonymize"
)

// Anonymizer makes packets that can be shown to others: of each the innermost IP packet up to the end of its transport
// header, with other addresses. Link layers, tunnels, payload, comments, IP options and what IPv6 routing and destination
// headers hold are gone; of ICMP errors the headers that they quote stay. Checksums prove what they proved.
type Anonymizer struct {
	Mapping *anonymize.Mapping
	out     Packet
	data    []byte
}

// Packet returns what stands for a packet with its decoded header, valid until the next call; ok is false if it is not IP.
func (a *Anonymizer) Packet(p *Packet, h *Header) (out *Packet, ok bool) {
	if h.Network == NoNetwork || h.NetworkAt >= len(p.Data) {
		return nil, false
	}
	data := p.Data[h.NetworkAt:]
	a.data = append(a.data[:0], data[:min(a.kept(h, data), len(data))]...)
	sum := a.network(a.data)
	a.transport(h, Verify(p, h) == ChecksumPartial, sum)
	a.out = Packet{Record: p.Record, Offset: p.Offset, Time: p.Time, HasTime: p.HasTime, CapLen: len(a.data), WireLen: max(p.WireLen-h.NetworkAt, len(a.data)),
		Interface: p.Interface, Tap: p.Tap, LinkType: LinkRaw, Direction: p.Direction, Data: a.data}
	return &a.out, true
}

// Interface returns what stands for an interface.
func (a *Anonymizer) Interface(i *Interface) *Interface {
	out := *i
	out.Name, out.Description, out.Filter = a.Mapping.Text(i.Name), a.Mapping.Text(i.Description), a.Mapping.Text(i.Filter)
	return &out
}

// quotedTransport is how much of a transport header an ICMP error quotes at least (RFC 792).
const quotedTransport = 8

// kept is how many bytes of an IP packet stay.
func (a *Anonymizer) kept(h *Header, data []byte) int {
	switch h.Transport {
	case TCP, UDP:
		return h.PayloadAt - h.NetworkAt
	case ICMP:
		end := h.PayloadAt - h.NetworkAt
		if quotes(h) && end < len(data) {
			end += headerBytes(data[end:]) + quotedTransport
		}
		return end
	default:
		return headerBytes(data)
	}
}

func quotes(h *Header) bool {
	if h.Network == IPv4 {
		return h.ICMPType == 3 || h.ICMPType == 4 || h.ICMPType == 5 || h.ICMPType == 11 || h.ICMPType == 12
	}
	return h.ICMPType >= 1 && h.ICMPType <= 4
}

// headerBytes is the length of the IP header at the beginning of data, without extensions.
func headerBytes(data []byte) int {
	switch {
	case len(data) > 0 && data[0]>>4 == 4:
		return int(data[0]&15) * 4
	case len(data) > 0 && data[0]>>4 == 6:
		return 40
	}
	return 0
}

// network replaces the addresses of an IP header in place, and clears what else may hold some. It returns the sum of the
// new addresses less that of the old ones.
func (a *Anonymizer) network(b []byte) (sum uint32) {
	n := headerBytes(b)
	switch {
	case n == 0 || len(b) < n || n < 20:
		clear(b) // cut within: it may hold a part of an address
		return 0
	case n == 40 && b[0]>>4 == 6:
		sum = a.replace(b[8:24]) + a.replace(b[24:40])
		clearExtensions(b)
		return sum
	}
	before := sum16(b[:n], 0)
	sum = a.replace(b[12:16]) + a.replace(b[16:20])
	for i := 20; i < n; i++ {
		b[i] = optionNop
	}
	if check := b[10:12]; binary.BigEndian.Uint16(check) != 0 {
		mend(check, sum16(b[:n], 0)+uint32(^fold(before)))
	}
	return sum
}

// replace replaces one address in place, and returns the sum of the new one less that of the old one.
func (a *Anonymizer) replace(b []byte) uint32 {
	before := sum16(b, 0)
	old, _ := netip.AddrFromSlice(b)
	copy(b, a.Mapping.Addr(old).AsSlice())
	return sum16(b, 0) + uint32(^fold(before))
}

// mend changes a checksum for words whose sum has changed by so much (RFC 1624).
func mend(check []byte, change uint32) {
	sum := fold(uint32(^binary.BigEndian.Uint16(check)) + uint32(fold(change)))
	binary.BigEndian.PutUint16(check, ^sum)
}

// clearExtensions clears what follows an IPv6 header and holds addresses: routing and destination headers.
func clearExtensions(b []byte) {
	next, at := b[6], 40
	for range maxExtensions {
		if at+8 > len(b) || next != protoHopByHop && next != protoRouting && next != protoDest && next != protoFragment {
			return
		}
		size := 8
		if next != protoFragment {
			size += int(b[at+1]) * 8
		}
		end := min(at+size, len(b))
		switch next {
		case protoRouting:
			clear(b[at+4 : end])
		case protoDest:
			b[at+2], b[at+3] = 1, byte(max(size-4, 0)) // one option of padding
			clear(b[min(at+4, end):end])
		}
		next, at = b[at], end
	}
}

// transport mends the checksum of a transport header for other addresses, and clears options of TCP and fields of ICMP
// that hold some.
func (a *Anonymizer) transport(h *Header, partial bool, change uint32) {
	end := min(h.PayloadAt-h.NetworkAt, len(a.data))
	at, check := 0, 0
	switch h.Transport {
	case TCP:
		at = h.PayloadAt - h.NetworkAt - 20 - int(h.Options.Length)
		check = at + 16
		if options := clearOptions(a.data, at+20, end); !partial {
			change += options
		}
	case UDP:
		at = h.PayloadAt - h.NetworkAt - 8
		check = at + 6
	case ICMP:
		a.icmp(h)
		return
	default:
		return
	}
	if check < 0 || check+2 > len(a.data) || h.Transport == UDP && h.Checksum == 0 {
		return
	}
	field := a.data[check : check+2]
	if partial { // the sum of the addresses itself, not complemented
		binary.BigEndian.PutUint16(field, fold(uint32(binary.BigEndian.Uint16(field))+uint32(fold(change))))
		return
	}
	mend(field, change)
}

// clearOptions makes TCP options that hold addresses or payload into no operations, and returns by how much the sum of
// the header changes.
func clearOptions(data []byte, from, to int) uint32 {
	if from < 0 || from >= to || to > len(data) {
		return 0
	}
	options := data[from:to]
	before := sum16(options, 0)
	for b := options; len(b) > 0 && b[0] != optionEnd; {
		size := optionSize(b)
		if size == 0 {
			clear(b)
			break
		}
		switch b[0] {
		case optionNop, optionMSS, optionScale, optionSACKOK, optionSACK, optionTimestamp:
		default:
			for i := range size {
				b[i] = optionNop
			}
		}
		b = b[size:]
	}
	return sum16(options, 0) + uint32(^fold(before))
}

// icmp replaces the addresses that an error quotes, and the gateway of a redirect. Its checksum is that of what was there.
func (a *Anonymizer) icmp(h *Header) {
	end := h.PayloadAt - h.NetworkAt
	if end > len(a.data) {
		return
	}
	if h.Network == IPv4 && h.ICMPType == 5 && end >= 4 {
		a.replace(a.data[end-4 : end])
	}
	if quotes(h) {
		a.network(a.data[end:])
	}
}

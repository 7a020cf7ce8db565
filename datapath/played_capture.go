package datapath

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"nettrace/pcap"
	"nettrace/unit"
)

// PlacesOfCapture returns where a run can be captured: above the card of either end, where packets are as the stacks hand
// them over, or on the wire.
func PlacesOfCapture() []string { return []string{"client", "server", "wire"} }

// WriteCapture writes the packets of the run (the changed one, if there is one) as a capture at one of PlacesOfCapture, or ""
// for where the recording was made. Payloads are zeros, of which the capture holds none: records have headers only, and
// say how long the packets were. All else is right: sequence numbers, windows, timestamps, checksums over the zeros.
func (p *Playback) WriteCapture(w io.Writer, place, program string) error {
	s := p.setup
	switch place {
	case "":
	case "client", "server":
		s.side, s.wire = slices.Index(PlacesOfCapture(), place), false
	case "wire":
		s.wire = true
	default:
		return fmt.Errorf("%q is no place of capture, expected one of %v", place, PlacesOfCapture())
	}
	packets, err := s.run()
	if err != nil {
		return err
	}
	slices.SortStableFunc(packets, func(a, b recordedPacket) int { return cmp.Compare(a.at, b.at) })
	out := pcap.NewWriter(w, program)
	b := frameBuilder{mss: s.path.mss, addresses: p.addresses}
	for i := range packets {
		frame, length := b.frame(&packets[i])
		record := pcap.Packet{Record: int64(i + 1), Time: p.start + packets[i].at, HasTime: true, Data: frame, WireLen: length, LinkType: pcap.LinkEthernet}
		if err := out.Write(&record, &pcap.Interface{LinkType: pcap.LinkEthernet}); err != nil {
			return err
		}
	}
	return out.Flush()
}

// frameBuilder makes the bytes of a run's packets.
type frameBuilder struct {
	mss       int
	addresses [2]netip.AddrPort
	id        [2]uint16
	stamp     [2]uint32 // last timestamp of each side, which the other echoes
}

const (
	firstSequence   = 1000000
	windowScale     = 7
	timestampsBytes = 12
	stampUnit       = unit.Millisecond
)

// frame returns the headers of a packet, and its whole length.
func (b *frameBuilder) frame(p *recordedPacket) (headers []byte, length int) {
	from := 0
	if p.fromServer {
		from = 1
	}
	syn := p.flags&pcap.SYN != 0
	options := b.options(p, from, syn)
	h := make([]byte, tcpHeaderMin, tcpHeaderMin+len(options))
	binary.BigEndian.PutUint16(h, b.addresses[from].Port())
	binary.BigEndian.PutUint16(h[2:], b.addresses[1-from].Port())
	seq, ack := firstSequence+1+uint32(p.seq), firstSequence+1+uint32(p.ack)
	if syn {
		seq = firstSequence
	}
	binary.BigEndian.PutUint32(h[4:], seq)
	if p.flags&pcap.ACK != 0 {
		binary.BigEndian.PutUint32(h[8:], ack)
	}
	h[12] = byte((tcpHeaderMin + len(options)) / 4 << 4)
	h[13] = p.flags
	binary.BigEndian.PutUint16(h[14:], b.window(p, syn))
	h = append(h, options...)
	head := append(b.network(from, len(h)+int(p.payload)), h...)
	length = len(head) + int(p.payload)
	whole := append(head, make([]byte, p.payload)...)
	if v, err := ParseView(whole); err == nil {
		v.SetChecksums()
	}
	b.id[from] += uint16(p.wire)
	return whole[:len(head)], length
}

func (b *frameBuilder) options(p *recordedPacket, from int, syn bool) []byte {
	b.stamp[from] = uint32(p.at/stampUnit) + 1000
	stamp := []byte{1, 1, 8, 10}
	stamp = binary.BigEndian.AppendUint32(stamp, b.stamp[from])
	stamp = binary.BigEndian.AppendUint32(stamp, b.stamp[1-from])
	if !syn {
		return stamp
	}
	mss := uint16(b.mss + timestampsBytes)
	return append([]byte{2, 4, byte(mss >> 8), byte(mss), 4, 2, 8, 10}, append(stamp[4:], 1, 3, 3, windowScale)...)
}

// window is what the packet's sender takes beyond what it acknowledges.
func (b *frameBuilder) window(p *recordedPacket, syn bool) uint16 {
	if p.edge == noEdge || p.edge == 0 {
		return 0xffff
	}
	if syn {
		return uint16(min(p.edge, 0xffff))
	}
	return uint16(min((p.edge-min(p.edge, p.ack))>>windowScale, 0xffff))
}

// network makes Ethernet and IP headers before n bytes.
func (b *frameBuilder) network(from, n int) []byte {
	source, to := b.addresses[from].Addr(), b.addresses[1-from].Addr()
	frame := []byte{2, 0, 0, 0, 0, byte(2 - from), 2, 0, 0, 0, 0, byte(1 + from)}
	if source.Is4() {
		total := 20 + n
		h := []byte{8, 0, 0x45, 0, byte(total >> 8), byte(total), byte(b.id[from] >> 8), byte(b.id[from]), 0x40, 0, 64, 6, 0, 0}
		return append(append(append(frame, h...), source.AsSlice()...), to.AsSlice()...)
	}
	h := []byte{0x86, 0xdd, 0x60, 0, 0, 0, byte(n >> 8), byte(n), 6, 64}
	return append(append(append(frame, h...), source.AsSlice()...), to.AsSlice()...)
}

package pcap

import (
	"encoding/binary"
	"iter"
)

// FastOpenCookie returns the cookie of a Fast Open option (RFC 7413 section 4.1.1), the experimental form included; nil if
// there is none.
func (h *Header) FastOpenCookie(p *Packet) []byte {
	for kind, value := range h.tcpOptions(p) {
		switch {
		case kind == optionFastOpen:
			return value
		case (kind == optionTest1 || kind == optionTest2) && len(value) >= 2 && binary.BigEndian.Uint16(value) == experimentalOpen:
			return value[2:]
		}
	}
	return nil
}

// Multipath returns the value of the first Multipath TCP option (RFC 8684 section 3), nil if there is none.
func (h *Header) Multipath(p *Packet) []byte {
	for kind, value := range h.tcpOptions(p) {
		if kind == optionMPTCP {
			return value
		}
	}
	return nil
}

// tcpOptions are the options of the packet's TCP header that were captured whole.
func (h *Header) tcpOptions(p *Packet) iter.Seq2[uint8, []byte] {
	return func(yield func(uint8, []byte) bool) {
		if h.Transport != TCP {
			return
		}
		end := min(h.PayloadAt, len(p.Data))
		b := p.Data[min(max(h.PayloadAt-int(h.Options.Length), 0), end):end]
		for len(b) > 0 && b[0] != optionEnd {
			size := optionSize(b)
			if size == 0 || size > 1 && !yield(b[0], b[2:size]) {
				return
			}
			b = b[size:]
		}
	}
}

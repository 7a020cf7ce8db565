package pcap

import (
	"encoding/binary"
	"iter"
)

// byteOrder is that of a file or section; true is big-endian.
type byteOrder bool

func (big byteOrder) u16(b []byte) uint16 {
	if big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (big byteOrder) u32(b []byte) uint32 {
	if big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (big byteOrder) u64(b []byte) uint64 {
	if big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// options yields the options at the end of a pcapng block up to the end mark or the first that does not fit:
// code and length of 16 bits each, the value padded to 32 bits.
func options(b []byte, order byteOrder) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= 4 {
			code, length := order.u16(b), int(order.u16(b[2:]))
			if code == 0 || length > len(b)-4 || !yield(code, b[4:4+length]) {
				return
			}
			b = b[min(4+padded(length), len(b)):]
		}
	}
}

func padded(n int) int { return (n + 3) &^ 3 }

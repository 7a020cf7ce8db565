package perf

import (
	"encoding/binary"
	"math/bits"
)

// order reads numbers in the byte order of the machine that recorded.
type order struct{ big bool }

func (o order) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if o.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (o order) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if o.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (o order) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if o.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// cursor takes the fields of a body in their order. A body that ends too early makes all further fields zero and short true.
type cursor struct {
	order
	b     []byte
	short bool
}

// bytes takes the next n bytes, nil if there are fewer.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.short = nil, true
		return nil
	}
	taken := c.b[:n]
	c.b = c.b[n:]
	return taken
}

func (c *cursor) uint16() uint16 {
	if b := c.bytes(2); b != nil {
		return c.u16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.bytes(4); b != nil {
		return c.u32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return c.u64(b)
	}
	return 0
}

// words takes the next n words of 8 bytes.
func (c *cursor) words(n uint64) []byte {
	if n > uint64(len(c.b))/8 {
		c.b, c.short = nil, true
		return nil
	}
	return c.bytes(8 * n)
}

// text takes a string of a feature section: its padded length, then its bytes up to the first NUL.
func (c *cursor) text() string { return cString(c.bytes(uint64(c.uint32()))) }

// cString returns b up to its first NUL.
func cString(b []byte) string {
	for i, x := range b {
		if x == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

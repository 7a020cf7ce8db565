package pcap

import (
	"bytes"
	"encoding/binary"

	"nettrace/source"
)

// Magics, as a file of the reader's byte order has them.
const (
	magicMicros   = 0xa1b2c3d4
	magicNanos    = 0xa1b23c4d
	magicModified = 0xa1b2cd34 // Alexey Kuznetsov's patched libpcap: 8 more bytes a record
	magicSection  = 0x0a0d0d0a // pcapng section header block; a palindrome
	magicOrder    = 0x1a2b3c4d // byte order of a pcapng section
)

const magicSnoop = "snoop\x00\x00\x00" // RFC 1761

// Sniff reports whether head is the beginning of a capture.
func Sniff(head []byte) source.Match {
	if len(head) < 4 {
		return beginning(head)
	}
	if _, known := classicMagic(head); known || vendorMagic(head) {
		return source.Strong
	}
	switch {
	case binary.BigEndian.Uint32(head) == magicSection:
		if len(head) < 12 || sectionOrder(head) != 0 {
			return source.Strong
		}
	case bytes.HasPrefix(head, []byte(magicSnoop)):
		return source.Strong
	case len(head) < len(magicSnoop):
		return beginning(head)
	}
	return source.No
}

// beginning tells whether the few bytes there are may become a magic.
func beginning(head []byte) source.Match {
	for _, magic := range []string{"\xa1\xb2", "\xd4\xc3", "\x4d\x3c", "\x34\xcd", "\x0a\x0d\x0d\x0a", magicSnoop} {
		n := min(len(head), len(magic))
		if n > 0 && string(head[:n]) == magic[:n] {
			return source.More
		}
	}
	return source.No
}

// classicMagic tells the byte order of a pcap file header that is understood.
func classicMagic(head []byte) (order byteOrder, known bool) {
	for _, order := range []byteOrder{false, true} {
		switch order.u32(head) {
		case magicMicros, magicNanos, magicModified:
			return order, true
		}
	}
	return false, false
}

// vendorMagic recognises file headers that are like pcap's, of vendors who changed the records: a magic that begins
// with a1 (or Ixia's) before a version 2.
func vendorMagic(head []byte) bool {
	for _, order := range []byteOrder{false, true} {
		magic := order.u32(head)
		like := magic>>24 == 0xa1 || magic == 0x1c0001ab || magic == 0x1c0001ac
		if like && len(head) >= 8 && order.u16(head[4:]) == 2 && order.u16(head[6:]) <= 4 {
			return true
		}
	}
	return false
}

// sectionOrder returns 'b' or 'l' for the byte order of a pcapng section header block, 0 if it is none.
func sectionOrder(head []byte) byte {
	switch {
	case byteOrder(true).u32(head[8:]) == magicOrder:
		return 'b'
	case byteOrder(false).u32(head[8:]) == magicOrder:
		return 'l'
	}
	return 0
}

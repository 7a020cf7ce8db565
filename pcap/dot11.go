package pcap

import "encoding/binary"

// Radio: frames of IEEE 802.11, alone or behind what the receiver noted of them. What is encrypted stays closed.

// dot11 reads a data frame (IEEE 802.11-2020 section 9.3.2): frame control, duration, three addresses and a sequence
// number, then a fourth address between access points, quality of service and, with it, high-throughput control.
// aligned says that the receiver has put padding behind the header. Of an aggregate (A-MSDU) the first frame is read.
func (h *Header) dot11(data []byte, at, end int, aligned bool) {
	const (
		typeMask, typeData    = 0x000c, 0x0008
		withoutData, quality  = 0x0040, 0x0080
		bothWays              = 0x0300 // between access points
		protected, hasControl = 0x4000, 0x8000
		aggregate             = 0x80
		fragmentNumber        = 0x0f
	)
	if len(data) < at+24 {
		return
	}
	control := binary.LittleEndian.Uint16(data[at:])
	if control&typeMask != typeData || control&(withoutData|protected) != 0 || data[at+22]&fragmentNumber != 0 {
		return
	}
	head, several := 24, false
	if control&bothWays == bothWays {
		head += 6
	}
	if control&quality != 0 {
		several = len(data) > at+head && data[at+head]&aggregate != 0
		if head += 2; control&hasControl != 0 {
			head += 4
		}
	}
	if aligned {
		head = padded(head)
	}
	if at += head; several { // each begins with two addresses and its length
		at += 14
	}
	h.llc(data, at, end, 0)
}

// radiotap goes past the header of radiotap.org: version, padding, length, words that tell which fields there are (the top
// bit: one more word), then the fields. The first two that may be there are a time, aligned to 8 bytes, and flags.
func (h *Header) radiotap(data []byte, at, end int) {
	const (
		hasTime, hasFlags, more = 1 << 0, 1 << 1, 1 << 31
		checked, aligned        = 0x10, 0x20
	)
	if len(data) < at+8 {
		return
	}
	length, present := int(binary.LittleEndian.Uint16(data[at+2:])), binary.LittleEndian.Uint32(data[at+4:])
	field, flags := 8, byte(0)
	for word := present; word&more != 0 && len(data) >= at+field+4; field += 4 {
		word = binary.LittleEndian.Uint32(data[at+field:])
	}
	if present&hasTime != 0 {
		field = (field+7)&^7 + 8
	}
	if present&hasFlags != 0 && field < length && len(data) > at+field {
		flags = data[at+field]
	}
	if flags&checked != 0 {
		end -= 4
	}
	if length >= 8 {
		h.dot11(data, at+length, end, flags&aligned != 0)
	}
}

// prism goes past the headers of old drivers: Prism's, whose second word is its length, in the order of the host, and AVS's,
// which begins with its version and has its length there, too, big-endian. Link types are told from what is there, since
// drivers that changed from one to the other kept Prism's.
func (h *Header) prism(data []byte, at, end int) {
	const avs = 0x80211
	if len(data) < at+8 {
		return
	}
	length := binary.BigEndian.Uint32(data[at+4:])
	if binary.BigEndian.Uint32(data[at:])>>8 != avs && length > 0xffff {
		length = binary.LittleEndian.Uint32(data[at+4:])
	}
	if length >= 8 && length <= 0xffff {
		h.dot11(data, at+int(length), end, false)
	}
}

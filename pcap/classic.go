package pcap

// pcap: written by tcpdump, libpcap, Wireshark and nearly everything else (pcap-savefile(5); draft-ietf-opsawg-pcap).
//
//	file header    magic, version 2.4, zone, accuracy, snaplen, link type      24 bytes
//	record header  seconds, micro- or nanoseconds, captured, original length   16 bytes; 24 in the modified format
//	data           captured length bytes, unpadded
//
// Zone and accuracy are ignored, as everyone writes 0. The header's snaplen is a hint: 0 and too small ones occur.

import "nettrace/unit"

// swapped says whether a record has original and captured length exchanged (libpcap, sf-pcap.c: version 2.3 was
// written both ways, older ones exchanged).
type swapped uint8

const (
	neverSwapped swapped = iota
	maybeSwapped
	alwaysSwapped
)

const fileHeaderBytes = 24

// fileHeader reads the file header at the beginning of the window, the first one or that of an appended capture.
func (r *Reader) fileHeader() {
	b := r.win.peek(fileHeaderBytes)
	if len(b) < fileHeaderBytes {
		r.truncated(r.pos(), "file header", fileHeaderBytes, int64(len(b)))
		return
	}
	order, _ := classicMagic(b)
	s := section{Format: FormatPcap, Order: order, Base: len(r.info.Interfaces), HeadBytes: 16}
	i := Interface{Resolution: 6, SnapLen: int(order.u32(b[16:]))}
	switch order.u32(b) {
	case magicNanos:
		i.Resolution = 9
	case magicModified:
		s.HeadBytes = 24
	}
	s.Swapped = r.version(order.u16(b[4:]), order.u16(b[6:]))
	i.LinkType, i.FCSBytes = r.linkField(order.u32(b[20:]))
	r.state = s
	if !r.addInterface(i) {
		r.state.Base-- // go on with the last one
	}
	r.info.Sections++
	r.win.advance(fileHeaderBytes)
}

func (r *Reader) version(major, minor uint16) swapped {
	switch {
	case major == 2 && minor < 3:
		return alwaysSwapped
	case major == 2 && minor == 3:
		return maybeSwapped
	case major != 2 || minor > 4:
		r.count(unknownVersion)
	}
	return neverSwapped
}

// linkField takes the link-type field apart: the type in 16 bits, bit 26 set when the top four bits are the length of
// the frame check sequence in 16-bit words, the others reserved.
func (r *Reader) linkField(field uint32) (t LinkType, fcsBytes int) {
	const hasFCS, reserved = 1 << 26, 0x0bff0000
	if field&reserved != 0 {
		r.count(reservedLinkBits)
	}
	if field&hasFCS != 0 {
		fcsBytes = int(field>>28) * 2
	}
	return LinkType(field), fcsBytes
}

// lengths returns the captured and the original length of a record header.
func (s *section) lengths(b []byte) (captured, original uint32) {
	captured, original = s.Order.u32(b[8:]), s.Order.u32(b[12:])
	if s.Swapped == alwaysSwapped || s.Swapped == maybeSwapped && captured > original {
		return original, captured
	}
	return captured, original
}

func (r *Reader) classicRecord() bool {
	head := r.state.HeadBytes
	b := r.win.peek(head)
	if len(b) < head {
		r.short("record header", head, b)
		return false
	}
	seconds, fraction := r.state.Order.u32(b), r.state.Order.u32(b[4:])
	captured, original := r.state.lengths(b)
	if mayBeMagic(seconds) && r.appended() {
		return false
	}
	if captured > maxRecord || seconds|fraction|captured|original == 0 {
		r.damaged("no record: "+impossible(captured), r.plausibleRecord)
		return false
	}
	size := head + int(captured)
	if b = r.win.peek(size); len(b) < size {
		r.truncated(r.pos(), "record's data", int64(captured), int64(len(b)-head))
		return false
	}
	p := &r.packet
	p.Data, p.WireLen, p.Device, p.Direction = b[head:size:size], int(original), 0, DirectionUnknown
	if head == 24 {
		p.Device = r.state.Order.u32(b[16:])
		p.Direction = packetDirection(uint16(b[22]), DirectionUnknown)
	}
	unitsPerSecond := uint64(1e6)
	if r.info.Interfaces[r.state.Base].Resolution == 9 {
		unitsPerSecond = 1e9
	}
	if uint64(fraction) >= unitsPerSecond {
		r.count(fractionAbove)
	}
	return r.take(r.state.Base, uint64(seconds)*unitsPerSecond+uint64(fraction), true, size)
}

func impossible(captured uint32) string {
	if captured == 0 {
		return "its header is all zeros"
	}
	return "its captured length of " + unit.Count(int64(captured)) + " is above " + unit.Count(maxRecord)
}

// short ends the capture where a header should begin: well, if nothing is there, and cut otherwise.
func (r *Reader) short(what string, wanted int, there []byte) {
	if len(there) == 0 {
		r.finish()
		return
	}
	r.truncated(r.pos(), what, int64(wanted), int64(len(there)))
}

// mayBeMagic is a cheap test for a second file header, in either byte order, in the place of a record: magics read as
// times are possible ones (2055 and others), so appended makes sure.
func mayBeMagic(seconds uint32) bool {
	switch seconds {
	case magicMicros, magicNanos, magicModified, 0xd4c3b2a1, 0x4d3cb2a1, 0x34cdb2a1:
		return true
	}
	return false
}

// appended reads a second file header if there is one: its version is known and its link type, too, is a small number.
func (r *Reader) appended() bool {
	b := r.win.peek(fileHeaderBytes)
	order, known := classicMagic(b)
	if !known || order.u16(b[4:]) != 2 || order.u16(b[6:]) > 4 {
		return false
	}
	r.count(appendedCapture)
	r.fileHeader()
	return true
}

// plausibleRecord reports whether records surely begin at b: a chain of three whose headers make sense and whose times
// are within a day of the last good one, or fewer that end where the capture ends.
func (r *Reader) plausibleRecord(b []byte, last bool) bool {
	const day = 24 * 3600
	head := r.state.HeadBytes
	for range 3 {
		if len(b) < head {
			return last && len(b) == 0
		}
		captured, original := r.state.lengths(b)
		if captured == 0 || captured > original || original > maxRecord {
			return false
		}
		apart := int64(r.state.Order.u32(b)) - int64(r.last/unit.Second)
		if r.record > 0 && (apart > day || apart < -day) || r.state.Order.u32(b[4:]) >= 1e9 {
			return false
		}
		size := head + int(captured)
		if len(b) < size {
			return !last
		}
		b = b[size:]
	}
	return true
}

package pcap

// snoop: written by Solaris and illumos snoop(8), RFC 1761. Everything is big-endian.
//
//	file header    "snoop\0\0\0", version 2, datalink type                                        16 bytes
//	record header  original length, captured length, record length, drops, seconds, microseconds  24 bytes
//	data           captured length bytes, padded up to the record length
//
// Drops are cumulative.

import (
	"encoding/binary"
	"fmt"

	"nettrace/unit"
)

const snoopHeaderBytes, snoopRecordBytes = 16, 24

func (r *Reader) snoopHeader() error {
	b := r.win.peek(snoopHeaderBytes)
	if len(b) < snoopHeaderBytes {
		r.truncated(r.pos(), "file header", snoopHeaderBytes, int64(len(b)))
		return nil
	}
	if version := binary.BigEndian.Uint32(b[8:]); version != 2 {
		r.count(unknownVersion)
	}
	link, known := snoopLink(binary.BigEndian.Uint32(b[12:]))
	if !known {
		return r.refuse(fmt.Sprintf("snoop datalink type %d is not known; expected Ethernet (0, 4) or FDDI (8)", binary.BigEndian.Uint32(b[12:])))
	}
	r.state = section{Format: FormatSnoop, Order: true}
	r.addInterface(Interface{LinkType: link, Resolution: 6})
	r.info.Sections++
	r.win.advance(snoopHeaderBytes)
	return nil
}

// snoopLink maps RFC 1761's datalink types (and snoop's own 18 and up are not mapped).
func snoopLink(datalink uint32) (LinkType, bool) {
	switch datalink {
	case 0, 4:
		return LinkEthernet, true
	case 2:
		return 6, true
	case 8:
		return 10, true
	}
	return 0, false
}

func (r *Reader) snoopRecord() bool {
	b := r.win.peek(snoopRecordBytes)
	if len(b) < snoopRecordBytes {
		r.short("record header", snoopRecordBytes, b)
		return false
	}
	be := binary.BigEndian
	original, captured, size := be.Uint32(b), be.Uint32(b[4:]), be.Uint32(b[8:])
	if captured > maxRecord || uint64(size) < snoopRecordBytes+uint64(captured) || size > maxBlock {
		r.damaged(fmt.Sprintf("no record: its length is %s and its captured length %s", unit.Count(int64(size)), unit.Count(int64(captured))), r.plausibleSnoop)
		return false
	}
	seconds, micros := be.Uint32(b[16:]), be.Uint32(b[20:])
	if b = r.win.peek(int(size)); len(b) < int(size) {
		r.truncated(r.pos(), "record", int64(size), int64(len(b)))
		return false
	}
	if micros >= 1e6 {
		r.count(fractionAbove)
	}
	r.info.Interfaces[0].Dropped = int64(be.Uint32(b[12:]))
	p, end := &r.packet, snoopRecordBytes+int(captured)
	p.Data, p.WireLen = b[snoopRecordBytes:end:end], int(original)
	return r.take(0, uint64(seconds)*1e6+uint64(micros), true, int(size))
}

// plausibleSnoop reports whether records begin at b: two whose lengths agree, or one that ends the capture.
func (r *Reader) plausibleSnoop(b []byte, last bool) bool {
	be := binary.BigEndian
	for range 2 {
		if len(b) < snoopRecordBytes {
			return last && len(b) == 0
		}
		original, captured, size := be.Uint32(b), be.Uint32(b[4:]), be.Uint32(b[8:])
		exact := uint64(size) >= uint64(captured)+snoopRecordBytes && uint64(size) < uint64(captured)+snoopRecordBytes+16
		if !exact || captured == 0 || captured > original || original > maxRecord || be.Uint32(b[20:]) >= 1e6 {
			return false
		}
		if len(b) < int(size) {
			return !last
		}
		b = b[size:]
	}
	return true
}

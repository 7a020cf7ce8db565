package pcap

// pcapng: written by dumpcap, Wireshark, tcpdump on macOS, editcap, mergecap, pktmon (draft-ietf-opsawg-pcapng).
//
//	section header         block type 0a0d0d0a, total length, byte-order magic, version 1.0, section length, options, total length
//	interface description  link type, snaplen, options (name, time resolution, ...)
//	enhanced packet        interface, 64-bit time, captured and original length, data padded to 4, options
//
// Also read: simple packets, the old packet block, interface statistics. Skipped by length and not counted: name
// resolution (4), journal (9) and decryption secrets (10), which hold no packets; custom blocks (0xbad, 0x40000bad) and
// unknown types are skipped and counted. As in Wireshark, a custom or journal block takes a record number. The section
// length is ignored: it is -1 in most files and says nothing that the blocks do not.

import (
	"fmt"

	"nettrace/unit"
)

const (
	blockInterface  = 1
	blockOldPacket  = 2
	blockSimple     = 3
	blockNames      = 4
	blockStatistics = 5
	blockPacket     = 6
	blockJournal    = 9
	blockSecrets    = 10
	blockCustom     = 0xbad
	blockCustomCopy = 0x40000bad // not to be copied into other files
)

// Options; those above 1 mean different things in different blocks.
const (
	optComment     = 1
	optHardware    = 2 // section
	optSystem      = 3
	optWriter      = 4
	optName        = 2 // interface
	optDescription = 3
	optResolution  = 9
	optFilter      = 11
	optFCS         = 13
	optOffset      = 14
	optFlags       = 2 // packet
	optPacketDrops = 4
	optReceived    = 4 // statistics
	optIfaceDrops  = 5
	optSystemDrops = 7
)

const (
	blockFrameBytes  = 12 // type and both lengths
	packetFixedBytes = 20 // of an enhanced packet block's body
)

// block reads the block at the beginning of the window and reports whether it was a packet.
func (r *Reader) block() bool {
	b := r.win.peek(blockFrameBytes)
	if len(b) < blockFrameBytes {
		r.short("block", blockFrameBytes, b)
		return false
	}
	order := r.state.Order
	if order.u32(b) == magicSection {
		order = sectionOrder(b) == 'b'
	}
	kind, size := order.u32(b), order.u32(b[4:])
	switch {
	case kind == magicSection && sectionOrder(b) == 0, size < blockFrameBytes, size%4 != 0:
		r.damaged(fmt.Sprintf("no block: type %#x, length %d", kind, size), r.plausibleBlock)
		return false
	case size > maxBlock:
		r.largeBlock(kind, size)
		return false
	}
	b = r.win.peek(int(size))
	if len(b) < int(size) {
		r.truncated(r.pos(), "block", int64(size), int64(len(b)))
		return false
	}
	if again := order.u32(b[size-4:]); again != size {
		r.damaged(fmt.Sprintf("a block's length is %d at its beginning and %d at its end", size, again), r.plausibleBlock)
		return false
	}
	return r.body(kind, b[:size:size], order)
}

// body reads a block that is whole.
func (r *Reader) body(kind uint32, b []byte, order byteOrder) bool {
	body := b[8 : len(b)-4]
	var ok, packet bool
	switch kind {
	case blockPacket:
		ok, packet = r.enhanced(body)
	case blockOldPacket:
		ok, packet = r.oldPacket(body)
	case blockSimple:
		ok, packet = r.simple(body)
	case magicSection:
		ok = r.sectionHeader(body, order)
	case blockInterface:
		ok = r.interfaceDescription(body)
	case blockStatistics:
		ok = r.statistics(body)
	default:
		r.otherBlock(kind)
		ok = true
	}
	if !ok {
		r.damaged(fmt.Sprintf("a block of type %#x and length %d is too short for what it says it holds", kind, len(b)), r.plausibleBlock)
		return false
	}
	if !packet {
		r.win.advance(len(b))
	}
	return packet
}

func (r *Reader) otherBlock(kind uint32) {
	switch kind {
	case blockNames, blockSecrets:
	case blockJournal:
		r.record++
	case blockCustom, blockCustomCopy:
		r.count(skippedBlock)
		r.record++
	default:
		r.count(skippedBlock)
	}
}

// largeBlock passes over a block that is larger than any packet's. Only types that may be so large are believed.
func (r *Reader) largeBlock(kind, size uint32) {
	switch kind {
	case blockNames, blockJournal, blockSecrets, blockCustom, blockCustomCopy:
	default:
		r.damaged(fmt.Sprintf("no block: type %#x, length %s", kind, unit.Count(int64(size))), r.plausibleBlock)
		return
	}
	place := r.pos()
	if there := r.win.skip(int64(size)); there < int64(size) {
		r.truncated(place, "block", int64(size), there)
		return
	}
	r.otherBlock(kind)
}

// plausibleBlock reports whether a block begins at b: a type that is known and a length that is repeated at its end.
func (r *Reader) plausibleBlock(b []byte, _ bool) bool {
	if len(b) < blockFrameBytes {
		return false
	}
	order := r.state.Order
	switch kind := order.u32(b); kind {
	case magicSection:
		if sectionOrder(b) == 0 {
			return false
		}
		order = sectionOrder(b) == 'b'
	case blockInterface, blockOldPacket, blockSimple, blockNames, blockStatistics, blockPacket, blockJournal, blockSecrets, blockCustom, blockCustomCopy:
	default:
		return false
	}
	size := uint64(order.u32(b[4:]))
	return size >= blockFrameBytes && size%4 == 0 && size <= uint64(len(b)) && uint64(order.u32(b[size-4:])) == size
}

// The methods below read bodies; they report false when a body is too short for its fixed part.

func (r *Reader) sectionHeader(body []byte, order byteOrder) bool {
	if len(body) < 16 {
		return false
	}
	if major, minor := order.u16(body[4:]), order.u16(body[6:]); major != 1 || minor != 0 && minor != 2 {
		r.count(unknownVersion)
	}
	r.state = section{Format: FormatPcapng, Order: order, Base: len(r.info.Interfaces)}
	for code, value := range options(body[16:], order) {
		switch {
		case code == optComment:
			r.info.Comments++
		case r.info.Sections > 0:
		case code == optHardware:
			r.info.Hardware = string(value)
		case code == optSystem:
			r.info.System = string(value)
		case code == optWriter:
			r.info.Writer = string(value)
		}
	}
	r.info.Sections++
	return true
}

func (r *Reader) interfaceDescription(body []byte) bool {
	if len(body) < 8 {
		return false
	}
	order := r.state.Order
	i := Interface{LinkType: LinkType(order.u16(body)), SnapLen: int(order.u32(body[4:])), Resolution: 6}
	for code, value := range options(body[8:], order) {
		switch {
		case code == optComment:
			r.info.Comments++
		case code == optName:
			i.Name = text(value)
		case code == optDescription:
			i.Description = text(value)
		case code == optFilter && len(value) > 1 && value[0] == 0: // 0: a filter expression, 1: BPF byte code
			i.Filter = text(value[1:])
		case code == optResolution && len(value) == 1:
			i.Resolution = value[0]
		case code == optFCS && len(value) == 1:
			i.FCSBytes = int(value[0])
		case code == optOffset && len(value) == 8:
			i.Offset = int64(order.u64(value))
		}
	}
	r.addInterface(i)
	return true
}

// text bounds a string of the file, so that the table of interfaces stays small.
func text(value []byte) string {
	const longest = 256
	return string(value[:min(len(value), longest)])
}

func (r *Reader) statistics(body []byte) bool {
	if len(body) < 12 {
		return false
	}
	order := r.state.Order
	number, ok := r.interfaceNumber(order.u32(body))
	if !ok {
		return true
	}
	i := &r.info.Interfaces[number]
	for code, value := range options(body[12:], order) {
		switch {
		case code == optComment:
			r.info.Comments++
		case len(value) != 8:
		case code == optReceived:
			i.Received = saturated(order.u64(value))
		case code == optIfaceDrops:
			i.Dropped = saturated(order.u64(value))
		case code == optSystemDrops:
			i.OSDrops = saturated(order.u64(value))
		}
	}
	return true
}

// interfaceNumber turns a section's number of an interface into the capture's.
func (r *Reader) interfaceNumber(inSection uint32) (int, bool) {
	if n := uint64(r.state.Base) + uint64(inSection); n < uint64(len(r.info.Interfaces)) {
		return int(n), true
	}
	r.count(unknownInterface)
	return 0, false
}

func (r *Reader) enhanced(body []byte) (ok, packet bool) {
	if len(body) < packetFixedBytes {
		return false, false
	}
	return r.packetBlock(body, r.state.Order.u32(body), 0)
}

// oldPacket reads the obsolete packet block (draft-ietf-opsawg-pcapng, appendix A): as the enhanced one, but for a
// 16-bit interface and a 16-bit count of drops, 0xffff for unknown.
func (r *Reader) oldPacket(body []byte) (ok, packet bool) {
	if len(body) < packetFixedBytes {
		return false, false
	}
	drops := r.state.Order.u16(body[2:])
	if drops == 0xffff {
		drops = 0
	}
	return r.packetBlock(body, uint32(r.state.Order.u16(body)), drops)
}

func (r *Reader) packetBlock(body []byte, inSection uint32, drops uint16) (ok, packet bool) {
	order, rest := r.state.Order, body[packetFixedBytes:]
	ticks := uint64(order.u32(body[4:]))<<32 | uint64(order.u32(body[8:]))
	captured, original := order.u32(body[12:]), order.u32(body[16:])
	if captured > uint32(len(rest)) {
		return false, false
	}
	number, known := r.interfaceNumber(inSection)
	if !known {
		r.record++
		return true, false
	}
	p := &r.packet
	p.Data, p.WireLen = rest[:captured:captured], int(original)
	p.Direction, p.Device, p.Flags, p.options = DirectionUnknown, 0, 0, nil
	i := &r.info.Interfaces[number]
	i.packetDrops += int64(drops)
	if after := padded(int(captured)); after < len(rest) {
		p.options, p.order = rest[after:], order
		r.packetOptions(i)
	}
	return true, r.take(number, ticks, true, len(body)+blockFrameBytes)
}

// packetOptions reads the options of the current packet.
func (r *Reader) packetOptions(i *Interface) {
	p := &r.packet
	for code, value := range options(p.options, p.order) {
		switch {
		case code == optComment:
			r.info.Comments++
		case code == optFlags && len(value) == 4:
			p.Flags = p.order.u32(value)
			p.Direction = [...]Direction{DirectionUnknown, Inbound, Outbound, DirectionUnknown}[p.Flags&3]
		case code == optPacketDrops && len(value) == 8:
			i.packetDrops += saturated(p.order.u64(value))
		}
	}
}

// simple reads a simple packet block: it belongs to the section's first interface, whose snaplen bounds what was captured.
func (r *Reader) simple(body []byte) (ok, packet bool) {
	if len(body) < 4 {
		return false, false
	}
	number, known := r.interfaceNumber(0)
	if !known {
		r.record++
		return true, false
	}
	original, captured := r.state.Order.u32(body), uint64(len(body)-4)
	captured = min(captured, uint64(original))
	if snap := r.info.Interfaces[number].SnapLen; snap > 0 {
		captured = min(captured, uint64(snap))
	}
	p := &r.packet
	p.Data, p.WireLen = body[4:4+captured:4+captured], int(original)
	p.Direction, p.Device, p.Flags, p.options = DirectionUnknown, 0, 0, nil
	return true, r.take(number, 0, false, len(body)+blockFrameBytes)
}

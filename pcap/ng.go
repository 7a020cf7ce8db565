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
	optSpeed       = 8
	optResolution  = 9
	optFilter      = 11
	optIfaceSystem = 12
	optFCS         = 13
	optOffset      = 14
	optDevice      = 15
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
		if r.Carry != nil && carried(kind) {
			r.Carry(kind, bool(order), body)
		}
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

// carried reports whether a block goes with the packets into another file (draft section 4.7: 0xbad may be copied).
func carried(kind uint32) bool {
	return kind == blockNames || kind == blockSecrets || kind == blockCustom
}

func (r *Reader) otherBlock(kind uint32) {
	switch kind {
	case blockNames:
		r.info.Names++
	case blockSecrets:
		r.info.Secrets++
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

// Package pcap reads and writes captures (pcap, pcapng) as a stream of packets with their places, and decodes the
// headers that the analysis needs into one flat struct, without allocation.
package pcap

import "nettrace/unit"

// LinkType is a LINKTYPE_ value of the tcpdump.org registry.
type LinkType uint16

// Direction says which way a packet went at the interface, where the capture tells.
type Direction uint8

const (
	DirectionUnknown Direction = iota
	Inbound
	Outbound
)

// Packet is one record of a capture. A Reader reuses it: Copy what has to outlive the next call.
type Packet struct {
	Record    int64      // Wireshark's frame number, from 1
	Offset    int64      // of the record in the decompressed file
	Time      unit.Nanos // since the Unix epoch, valid iff HasTime
	HasTime   bool       // false for pcapng simple packets
	CapLen    int        // bytes captured, len(Data)
	WireLen   int        // bytes the packet had
	Interface int        // counted over all sections of the file, from 0
	Tap       int        // Interface.Tap: equal for interfaces of several sections that are one
	LinkType  LinkType
	Direction Direction
	Device    uint32   // the system's interface index where the record tells (LINUX_SLL2, modified pcap), else 0
	Flags     uint32   // epb_flags of pcapng, else 0
	Data      []byte   // from the link-layer header on; a frame check sequence is taken off
	Verified  Checksum // what Verify found before the data was cut to its headers; ChecksumUnknown where it was not

	options []byte // of a pcapng packet block
	order   byteOrder
}

// Copy returns a packet of its own.
func (p *Packet) Copy() Packet {
	c := *p
	c.Data = append([]byte(nil), p.Data...)
	c.options = append([]byte(nil), p.options...)
	return c
}

// Comments returns the packet's comments (pcapng option opt_comment).
func (p *Packet) Comments() []string {
	var texts []string
	for code, value := range options(p.options, p.order) {
		if code == optComment {
			texts = append(texts, string(value))
		}
	}
	return texts
}

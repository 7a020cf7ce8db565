package pcap

import (
	"encoding/binary"
	"fmt"
	"io"

	"nettrace/source"
	"nettrace/unit"
)

// Bounds of the reader's own, since lengths in files prove nothing. libpcap's limit for a record is 262144 bytes;
// BIG TCP packets have up to 524280 bytes and their link header.
const (
	maxRecord     = 1 << 20
	maxBlock      = maxRecord + 64<<10
	maxInterfaces = 4096
)

// Reader reads the packets of a capture one after the other. Damage is entered into the ledger with its place; reading
// goes on at the next intact record where there is one.
type Reader struct {
	// Carry, if it is not nil, gets the blocks of a pcapng that belong to the whole capture: those that name addresses, hold
	// decryption secrets, or are custom and may be copied. body is valid until it returns.
	Carry func(kind uint32, bigEndian bool, body []byte)

	win    window
	ledger *source.Ledger
	state  section
	packet Packet
	record int64      // last record number given out
	last   unit.Nanos // time of the last packet that had one
	ended  bool
	held   bool // Next returns the current packet once more
	info   Info
	index  Index
	tally  [tallies]tally
}

// section is how the records from some place on have to be read.
type section struct {
	Format    Format    `json:"format"`
	Order     byteOrder `json:"big_endian"`
	Base      int       `json:"base"`                 // the section's first interface
	HeadBytes int       `json:"head_bytes,omitempty"` // of a pcap record header
	Swapped   swapped   `json:"swapped,omitempty"`    // of a pcap record header's lengths
}

// NewReader reads the file header of in, which Sniff has recognised. A capture that is cut inside of it has no packets
// and is an entry of the ledger; an error is returned only for what cannot be read at all.
func NewReader(in *source.Input, ledger *source.Ledger) (*Reader, error) {
	r := &Reader{win: newWindow(in), ledger: ledger}
	head := in.Peek(fileHeaderBytes)
	switch Sniff(head) {
	case source.No:
		return nil, r.refuse("not a capture: expected a pcap, pcapng or snoop file header")
	case source.More:
		r.truncated(r.pos(), "file header", fileHeaderBytes, int64(len(head)))
		return r, nil
	}
	_, classic := classicMagic(head)
	switch {
	case classic:
		r.info.Format = FormatPcap
		r.fileHeader()
		return r, nil
	case binary.BigEndian.Uint32(head) == magicSection:
		r.info.Format, r.state.Format = FormatPcapng, FormatPcapng
		return r, nil
	case head[0] == 's':
		r.info.Format = FormatSnoop
		return r, r.snoopHeader()
	}
	magic := byteOrder(head[0] == 0xa1 || head[0] == 0x1c).u32(head)
	return nil, r.refuse(fmt.Sprintf("magic %#08x is a vendor's variant of pcap whose records are not known; convert the file with the vendor's tool or editcap", magic))
}

func (r *Reader) refuse(fact string) error {
	return &source.SyntaxError{Pos: r.pos(), Msg: fact}
}

// Next returns the next packet, which is valid until the next call, or io.EOF.
func (r *Reader) Next() (*Packet, error) {
	if r.held {
		r.held = false
		return &r.packet, nil
	}
	for !r.ended {
		var found bool
		switch r.state.Format {
		case FormatPcap:
			found = r.classicRecord()
		case FormatPcapng:
			found = r.block()
		case FormatSnoop:
			found = r.snoopRecord()
		}
		if found {
			return &r.packet, nil
		}
	}
	return nil, io.EOF
}

// Info describes what was read so far.
func (r *Reader) Info() *Info { return &r.info }

// Index returns the places noted so far; it grows while reading goes on.
func (r *Reader) Index() *Index {
	r.index.Interfaces = r.info.Interfaces
	return &r.index
}

// pos is the place of the record at the beginning of the window.
func (r *Reader) pos() source.Pos {
	return source.Pos{Source: r.win.in.Name(), Offset: r.win.offset, Record: r.record + 1}
}

// addInterface completes an interface; it reports false when there are too many.
func (r *Reader) addInterface(i Interface) bool {
	if len(r.info.Interfaces) >= maxInterfaces {
		r.count(tooManyInterfaces)
		return false
	}
	i.clock, i.Tap = newClock(i.Resolution, i.Offset), r.tap(&i)
	i.Received, i.Dropped, i.OSDrops = -1, -1, -1
	r.info.Interfaces = append(r.info.Interfaces, i)
	return true
}

// tap returns the number of the first interface of the file that a new one of the current section is. Files joined with cat
// describe theirs in each section anew: equal link type, name and description make them one, in order where several of
// a section are alike. Two of one section never are.
func (r *Reader) tap(i *Interface) int {
	all, from := r.info.Interfaces, 0
	for n := r.state.Base; n < len(all); n++ {
		if all[n].like(i) {
			from = all[n].Tap + 1
		}
	}
	for n := from; n < r.state.Base; n++ {
		if all[n].Tap == n && all[n].like(i) {
			return n
		}
	}
	return len(all)
}

// like reports whether two interfaces of different sections are described as the same.
func (i *Interface) like(other *Interface) bool {
	return i.LinkType == other.LinkType && i.Name == other.Name && i.Description == other.Description
}

// take makes the record at the beginning of the window, of size bytes, the current packet. Its number, place, lengths,
// data and flags are set; the rest is that of its interface.
func (r *Reader) take(number int, ticks uint64, hasTime bool, size int) bool {
	p, i := &r.packet, &r.info.Interfaces[number]
	p.Offset, p.Interface, p.Tap, p.LinkType = r.win.offset, number, i.Tap, i.LinkType
	p.Time, p.HasTime = 0, false
	if hasTime {
		p.Time, p.HasTime = i.clock.nanos(ticks)
	}
	if !p.HasTime {
		r.untimed(hasTime)
	}
	if p.WireLen < len(p.Data) {
		r.count(capturedAboveLength)
		p.WireLen = len(p.Data)
	}
	r.stripFCS(i)
	p.CapLen = len(p.Data)
	if p.CapLen < p.WireLen {
		r.count(cutBySnaplen)
	}
	if p.LinkType == LinkSLL || p.LinkType == LinkSLL2 {
		p.cooked()
	}
	r.index.note(p, r)
	r.record++
	p.Record = r.record
	i.Packets++
	r.info.note(p, r.last)
	if p.HasTime {
		r.last = p.Time
	}
	r.win.advance(size)
	return true
}

func (r *Reader) untimed(outOfRange bool) {
	if outOfRange {
		r.count(timeOutOfRange)
	} else {
		r.count(noTime)
	}
}

// stripFCS takes the frame check sequence off; only whole frames hold it. The length that a packet tells in epb_flags
// (bits 5 to 8) goes before that of its interface.
func (r *Reader) stripFCS(i *Interface) {
	p, n := &r.packet, i.FCSBytes
	if own := int(p.Flags >> 5 & 15); own > 0 {
		n = own
	}
	if n > 0 {
		p.WireLen = max(p.WireLen-n, 0)
		p.Data = p.Data[:min(len(p.Data), p.WireLen)]
	}
}

// cooked takes over what a Linux cooked header tells of the interface (linux/if_packet.h: PACKET_HOST 0, BROADCAST 1,
// MULTICAST 2, OTHERHOST 3, OUTGOING 4).
func (p *Packet) cooked() {
	kind := uint16(3)
	switch d := p.Data; {
	case p.LinkType == LinkSLL && len(d) >= 16:
		kind = binary.BigEndian.Uint16(d)
	case p.LinkType == LinkSLL2 && len(d) >= 20:
		p.Device, kind = binary.BigEndian.Uint32(d[4:]), uint16(d[10])
	}
	p.Direction = packetDirection(kind, p.Direction)
}

func packetDirection(kind uint16, otherwise Direction) Direction {
	switch kind {
	case 0, 1, 2:
		return Inbound
	case 4:
		return Outbound
	}
	return otherwise
}

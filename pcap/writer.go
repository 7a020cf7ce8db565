package pcap

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"nettrace/unit"
)

// Writer writes packets as a pcapng section: their interfaces, link types, directions and comments are kept, times are
// in nanoseconds. Carry and Statistics keep what belongs to the whole capture that the packets come from.
type Writer struct {
	out        *bufio.Writer
	interfaces map[int]uint32 // Packet.Interface to the number in the section
	block      []byte
	err        error
}

const (
	longestWritten = 262144 // Wireshark refuses longer records
	longestOption  = 65535
	flagDirection  = 3       // epb_flags
	flagFCS        = 15 << 5 // the frame check sequence is gone
)

// NewWriter begins a section; program is what the file says wrote it. Flush has to be called at the end.
func NewWriter(w io.Writer, program string) *Writer {
	out := &Writer{out: bufio.NewWriterSize(w, firstBlock), interfaces: map[int]uint32{}}
	out.begin(magicSection)
	out.u32(magicOrder)
	out.u16(1)
	out.u16(0)
	out.block = binary.LittleEndian.AppendUint64(out.block, ^uint64(0)) // section length: not told
	out.option(optWriter, program)
	out.end()
	return out
}

// Write adds a packet that was captured on an interface of the reader, its own comments and those given. A packet
// without a time gets the time 0.
func (w *Writer) Write(p *Packet, on *Interface, comments ...string) error {
	number, known := w.interfaces[p.Interface]
	if !known {
		number = uint32(len(w.interfaces))
		w.interfaces[p.Interface] = number
		w.describe(on, p.LinkType)
	}
	data := p.Data[:min(len(p.Data), longestWritten)]
	ticks := uint64(max(p.Time, 0))
	w.begin(blockPacket)
	for _, v := range [...]uint32{number, uint32(ticks >> 32), uint32(ticks), uint32(len(data)), uint32(p.WireLen)} {
		w.u32(v)
	}
	w.block = append(w.block, data...)
	w.pad()
	if flags := p.Flags&^(flagDirection|flagFCS) | uint32(p.Direction); flags != 0 {
		w.option(optFlags, string(binary.LittleEndian.AppendUint32(nil, flags)))
	}
	for _, comment := range append(p.Comments(), comments...) {
		w.option(optComment, comment)
	}
	w.end()
	return w.err
}

// Carry writes a block that Reader.Carry was given. The section is little-endian: of a big-endian one names and secrets are
// turned; custom blocks, which only their makers understand, are left out, and it reports false.
func (w *Writer) Carry(kind uint32, bigEndian bool, body []byte) bool {
	if len(body) < 8 || bigEndian && kind != blockSecrets && kind != blockNames {
		return false
	}
	w.begin(kind)
	if bigEndian && kind == blockSecrets { // their type and length, and behind them options
		w.u32(binary.BigEndian.Uint32(body))
		w.u32(binary.BigEndian.Uint32(body[4:]))
		data := body[8:]
		end := min((uint64(binary.BigEndian.Uint32(body[4:]))+3)&^3, uint64(len(data)))
		w.block = append(w.block, data[:end]...)
		body = data[end:]
	}
	if bigEndian {
		body = w.turned(body)
	}
	w.block = append(w.block, body...)
	w.pad()
	w.end()
	return true
}

// turned writes records of a big-endian section, names or options: each has a kind, a length, and a value that has no
// order. It returns what is left, which is no record.
func (w *Writer) turned(b []byte) []byte {
	for len(b) >= 4 {
		length := int(binary.BigEndian.Uint16(b[2:]))
		end := 4 + padded(length)
		if end > len(b) {
			break
		}
		w.u16(binary.BigEndian.Uint16(b))
		w.u16(uint16(length))
		w.block = append(w.block, b[4:end]...)
		b = b[end:]
	}
	return b
}

// Statistics writes the counters of an interface (a number of the reader's), if a packet of it was written and it has any.
func (w *Writer) Statistics(number int, i *Interface, at unit.Nanos) {
	written, known := w.interfaces[number]
	if !known || i.Received < 0 && i.Dropped < 0 && i.OSDrops < 0 {
		return
	}
	w.begin(blockStatistics)
	w.u32(written)
	w.u32(uint32(uint64(max(at, 0)) >> 32))
	w.u32(uint32(max(at, 0)))
	for _, c := range [...]struct {
		code  uint16
		count int64
	}{{optReceived, i.Received}, {optIfaceDrops, i.Dropped}, {optSystemDrops, i.OSDrops}} {
		if c.count >= 0 {
			w.option(c.code, string(binary.LittleEndian.AppendUint64(nil, uint64(c.count))))
		}
	}
	w.end()
}

// Flush writes what is left in memory.
func (w *Writer) Flush() error {
	if err := w.out.Flush(); err != nil && w.err == nil {
		w.err = fmt.Errorf("write pcapng: %w", err)
	}
	return w.err
}

func (w *Writer) describe(i *Interface, link LinkType) {
	w.begin(blockInterface)
	w.u16(uint16(link))
	w.u16(0)
	w.u32(uint32(i.SnapLen))
	w.option(optName, i.Name)
	w.option(optDescription, i.Description)
	if i.Filter != "" {
		w.option(optFilter, "\x00"+i.Filter)
	}
	w.option(optResolution, "\x09")
	w.end()
}

// begin starts a block; its length is filled in by end.
func (w *Writer) begin(kind uint32) {
	w.block = w.block[:0]
	w.u32(kind)
	w.u32(0)
}

// end closes the block and writes it.
func (w *Writer) end() {
	size := uint32(len(w.block) + 4)
	binary.LittleEndian.PutUint32(w.block[4:], size)
	w.u32(size)
	if _, err := w.out.Write(w.block); err != nil && w.err == nil {
		w.err = fmt.Errorf("write pcapng: %w", err)
	}
}

// option adds an option; an empty one is left out. Options need no end mark where the block ends.
func (w *Writer) option(code uint16, value string) {
	if value == "" {
		return
	}
	value = value[:min(len(value), longestOption)]
	w.u16(code)
	w.u16(uint16(len(value)))
	w.block = append(w.block, value...)
	w.pad()
}

func (w *Writer) pad() {
	for len(w.block)%4 != 0 {
		w.block = append(w.block, 0)
	}
}

func (w *Writer) u16(v uint16) { w.block = binary.LittleEndian.AppendUint16(w.block, v) }
func (w *Writer) u32(v uint32) { w.block = binary.LittleEndian.AppendUint32(w.block, v) }

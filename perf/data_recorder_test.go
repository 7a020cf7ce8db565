package perf

import (
	"bytes"
	"encoding/binary"
	"testing"

	"nettrace/source"
)

// recorder writes recordings for tests: what a kernel would write of given fields.
type recorder struct {
	byteOrder
	pipe  bool
	attrs []recordedAttr
	data  bytes.Buffer
	// written behind the data, by feature
	features map[int][]byte
	// dataSize, if not nil, is written in place of the size of the data
	dataSize *uint64
}

// byteOrder is one that also appends.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

type recordedAttr struct {
	kind, size uint32
	config     uint64
	period     uint64
	fields     sampleField
	readFormat uint64
	flags      uint64
	branches   uint64
	user, intr uint64
	ids        []uint64
}

func newRecorder() *recorder {
	return &recorder{byteOrder: binary.LittleEndian, features: map[int][]byte{}}
}

func (r *recorder) big() bool { return r.byteOrder == byteOrder(binary.BigEndian) }

func (r *recorder) words(values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		b = r.AppendUint64(b, v)
	}
	return b
}

func (r *recorder) pair(a, b uint32) []byte { return r.AppendUint32(r.AppendUint32(nil, a), b) }

// record writes one record.
func (r *recorder) record(kind recordType, misc uint16, parts ...[]byte) {
	body := bytes.Join(parts, nil)
	head := r.AppendUint32(nil, uint32(kind))
	head = r.AppendUint16(head, misc)
	head = r.AppendUint16(head, uint16(recordHeaderSize+len(body)))
	r.data.Write(head)
	r.data.Write(body)
}

// name pads a name to whole words, with its NUL.
func name(s string) []byte { return append([]byte(s), make([]byte, 8-len(s)%8)...) }

func (r *recorder) attr(a *recordedAttr) []byte {
	size := a.size
	if size == 0 {
		size = 128
	}
	b := make([]byte, max(size, 128))
	r.PutUint32(b, a.kind)
	r.PutUint32(b[4:], size)
	for at, v := range map[int]uint64{8: a.config, 16: a.period, 24: uint64(a.fields), 32: a.readFormat, 72: a.branches, 80: a.user, 96: a.intr} {
		r.PutUint64(b[at:], v)
	}
	binary.LittleEndian.PutUint64(b[40:], a.flags)
	if r.big() {
		copy(b[40:48], r.words(flagsSwapped(a.flags)))
	}
	return b[:size]
}

// flagsSwapped is what a big-endian machine's word of flags reads as: each byte filled from its high end.
func flagsSwapped(flags uint64) uint64 {
	var b [8]byte
	for i := range b {
		b[i] = reverse(byte(flags >> (8 * i)))
	}
	return binary.BigEndian.Uint64(b[:])
}

func reverse(x byte) (y byte) {
	for i := range 8 {
		y |= x >> i & 1 << (7 - i)
	}
	return y
}

// bytes returns the recording.
func (r *recorder) bytes() []byte {
	magic := []byte("PERFILE2")
	if r.big() {
		magic = []byte("2ELIFREP")
	}
	if r.pipe {
		return bytes.Join([][]byte{magic, r.words(pipeHeaderSize), r.data.Bytes()}, nil)
	}
	const entry = 128 + 16
	attrs, ids := []byte{}, []byte{}
	idsAt := uint64(fileHeaderSize + entry*len(r.attrs))
	for i := range r.attrs {
		a := &r.attrs[i]
		b := append(r.attr(a), make([]byte, 128)...)[:128]
		attrs = append(append(attrs, b...), r.words(idsAt+uint64(len(ids)), uint64(8*len(a.ids)))...)
		ids = append(ids, r.words(a.ids...)...)
	}
	dataAt := idsAt + uint64(len(ids))
	size := uint64(r.data.Len())
	sections, contents, mask := []byte{}, []byte{}, uint64(0)
	at := dataAt + size + 16*uint64(len(r.features))
	for n := range 64 {
		if b, ok := r.features[n]; ok {
			mask |= 1 << n
			sections = append(sections, r.words(at+uint64(len(contents)), uint64(len(b)))...)
			contents = append(contents, b...)
		}
	}
	if r.dataSize != nil {
		size = *r.dataSize
	}
	head := r.words(fileHeaderSize, entry, fileHeaderSize, uint64(len(attrs)), dataAt, size, 0, 0, mask, 0, 0, 0)
	return bytes.Join([][]byte{magic, head, attrs, ids, r.data.Bytes(), sections, contents}, nil)
}

// read returns all events of a recording.
func read(t testing.TB, content []byte) ([]Event, *DataReader, []source.Entry) {
	t.Helper()
	var ledger source.Ledger
	reader, err := NewDataReader(source.NewInput("x", bytes.NewReader(content)), &ledger, DataOptions{At: bytes.NewReader(content), Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	var list []Event
	if err := Each(reader, func(e *Event) {
		kept := *e
		kept.Stack, kept.Payload = append([]Frame(nil), e.Stack...), append([]byte(nil), e.Payload...)
		list = append(list, kept)
	}); err != nil {
		t.Fatal(err)
	}
	return list, reader, ledger.Entries()
}

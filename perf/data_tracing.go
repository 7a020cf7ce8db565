package perf

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"nettrace/source"
)

// The formats of tracepoints as a recording carries them (tools/perf/util/trace-event-info.c, Linux 6.1): after a
// preamble each system's event files of tracefs, such as
//
//	name: netif_receive_skb
//	ID: 1397
//	format:
//		field:void * skbaddr;	offset:8;	size:8;	signed:0;
//		field:__data_loc char[] name;	offset:20;	size:4;	signed:0;
//	print fmt: "dev=%s skbaddr=%px len=%u", __get_str(name), REC->skbaddr, REC->len
//
// Left out: the pages' headers, ftrace's own events, symbols and command lines.

const (
	formatMax = 1 << 20
	fieldsMax = 4096
)

// traceFormat is how the payload of a tracepoint is laid out.
type traceFormat struct {
	name   string // "net:netif_receive_skb"
	fields []traceField
	print  *printFormat // nil where it is not understood: then fields are printed as name=value
}

// traceField is one field of a payload.
type traceField struct {
	name         string
	offset, size int
	signed       bool
	text         bool // an array of char
	array        bool // of something else
	dynamic      byte // 'd' for __data_loc, 'r' for __rel_loc: the field holds place and length
}

// tracing takes the formats of the tracepoints.
func (r *DataReader) tracing(b []byte, offset int64) {
	t := tracingReader{b: b}
	formats, err := t.read()
	if err != nil {
		r.ledger.Add("damaged-section", source.Warning, r.posAt(offset), 1, "the formats of the tracepoints: "+err.Error()+"; payloads of those behind are left out")
	}
	for _, a := range r.events.attrs {
		if a.kind == typeTracepoint && a.format == nil {
			a.format = formats[a.config]
		}
	}
}

// tracingReader takes the section apart. Its numbers have a byte order of their own.
type tracingReader struct {
	order
	b []byte
}

func (t *tracingReader) read() (map[uint64]*traceFormat, error) {
	formats := map[uint64]*traceFormat{}
	if !bytes.HasPrefix(t.b, []byte("\x17\x08\x44tracing")) {
		return formats, fmt.Errorf("they do not begin as they should")
	}
	t.b = t.b[10:]
	t.text() // version
	if head := t.bytes(6); head != nil {
		t.big = head[0] != 0
	}
	for _, name := range []string{"header_page", "header_event"} {
		if got := t.text(); got != name {
			return formats, fmt.Errorf("%s is missing", name)
		}
		t.bytes(t.long())
	}
	for n := t.int(); n > 0 && t.b != nil; n-- {
		t.bytes(t.long())
	}
	for systems := t.int(); systems > 0 && t.b != nil; systems-- {
		system := t.text()
		for n := t.int(); n > 0 && t.b != nil; n-- {
			if id, f := parseFormat(system, t.bytes(t.long())); f != nil {
				formats[id] = f
			}
		}
	}
	if t.b == nil {
		return formats, fmt.Errorf("they end too early")
	}
	return formats, nil
}

func (t *tracingReader) bytes(n uint64) []byte {
	if n > uint64(len(t.b)) {
		t.b = nil
		return nil
	}
	taken := t.b[:n]
	t.b = t.b[n:]
	return taken
}

func (t *tracingReader) int() uint32 {
	if b := t.bytes(4); b != nil {
		return t.u32(b)
	}
	return 0
}

func (t *tracingReader) long() uint64 {
	if b := t.bytes(8); b != nil {
		return t.u64(b)
	}
	return 0
}

func (t *tracingReader) text() string {
	i := bytes.IndexByte(t.b, 0)
	if i < 0 {
		t.b = nil
		return ""
	}
	s := string(t.b[:i])
	t.b = t.b[i+1:]
	return s
}

// parseFormat reads the format file of one event.
func parseFormat(system string, text []byte) (id uint64, f *traceFormat) {
	if len(text) > formatMax {
		return 0, nil
	}
	f = &traceFormat{}
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "name:"):
			name = strings.TrimSpace(line[5:])
		case strings.HasPrefix(line, "ID:"):
			id, _ = strconv.ParseUint(strings.TrimSpace(line[3:]), 10, 64)
		case strings.HasPrefix(line, "field:") && len(f.fields) < fieldsMax:
			if field, ok := parseField(line); ok {
				f.fields = append(f.fields, field)
			}
		case strings.HasPrefix(line, "print fmt:"):
			f.print = parsePrint(strings.TrimSpace(line[10:]), f)
		}
	}
	if name == "" {
		return 0, nil
	}
	f.name = system + ":" + name
	return id, f
}

// parseField reads "field:TYPE NAME[N]; offset:O; size:S; signed:B;".
func parseField(line string) (f traceField, ok bool) {
	for part := range strings.SplitSeq(line, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		switch key {
		case "field":
			f.declare(value)
		case "offset":
			f.offset, _ = strconv.Atoi(value)
		case "size":
			f.size, _ = strconv.Atoi(value)
		case "signed":
			f.signed = value == "1"
		}
	}
	return f, f.name != "" && f.offset >= 0 && f.size >= 0
}

// declare takes a C declaration: the name is the last word, what is before it the type.
func (f *traceField) declare(declaration string) {
	kind, array := declaration, false
	if i := strings.LastIndexByte(declaration, '['); i >= 0 && strings.HasSuffix(declaration, "]") && i > strings.LastIndexByte(declaration, ' ') {
		kind, array = declaration[:i], true
	}
	i := strings.LastIndexAny(kind, " *")
	if i < 0 {
		return
	}
	kind, f.name = kind[:i+1], kind[i+1:]
	switch {
	case strings.HasPrefix(kind, "__data_loc"):
		f.dynamic = 'd'
	case strings.HasPrefix(kind, "__rel_loc"):
		f.dynamic = 'r'
	}
	character := strings.Contains(kind, "char") && !strings.Contains(kind, "*")
	array = array || f.dynamic != 0
	f.text, f.array = character && array, array && !character
}

// bytes returns a field's bytes in a payload; nil if they are not all there.
func (f *traceField) bytes(o order, payload []byte) []byte {
	if f.offset+f.size > len(payload) {
		return nil
	}
	b := payload[f.offset : f.offset+f.size]
	if f.dynamic == 0 {
		return b
	}
	if len(b) < 4 {
		return nil
	}
	at := o.u32(b)
	start, n := int(at&0xffff), int(at>>16)
	if f.dynamic == 'r' {
		start += f.offset + f.size
	}
	if start+n > len(payload) {
		return nil
	}
	return payload[start : start+n]
}

// number returns a field's value, sign extended if it is signed.
func (f *traceField) number(o order, payload []byte) (v uint64, ok bool) {
	b := f.bytes(o, payload)
	switch len(b) {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(o.u16(b))
	case 4:
		v = uint64(o.u32(b))
	case 8:
		v = o.u64(b)
	default:
		return 0, false
	}
	if shift := 64 - 8*len(b); f.signed {
		v = uint64(int64(v<<shift) >> shift)
	}
	return v, true
}

// appendTo prints a payload the way perf script does: by the event's print format, else as name=value pairs.
func (t *traceFormat) appendTo(b []byte, o order, payload []byte) []byte {
	if t.print != nil {
		if out, ok := t.print.appendTo(b, o, payload); ok {
			return out
		}
	}
	for i := range t.fields {
		f := &t.fields[i]
		if strings.HasPrefix(f.name, "common_") {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, f.name...), '=')
		b = f.appendTo(b, o, payload)
	}
	return b
}

func (f *traceField) appendTo(b []byte, o order, payload []byte) []byte {
	if f.text {
		return append(b, cString(f.bytes(o, payload))...)
	}
	v, ok := f.number(o, payload)
	switch {
	case f.array:
	case ok && f.signed:
		return strconv.AppendInt(b, int64(v), 10)
	case ok && f.size == 8:
		return strconv.AppendUint(append(b, "0x"...), v, 16)
	case ok:
		return strconv.AppendUint(b, v, 10)
	}
	for i, x := range f.bytes(o, payload) {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, "0123456789abcdef"[x>>4], "0123456789abcdef"[x&15])
	}
	return b
}

package flame

// Maps of bpftrace that are keyed by stacks, as bpftrace 0.9 to 0.24 prints them, as text and (-f json) as JSON lines:
//
//	@[
//	    tcp_sendmsg+39
//	    sock_sendmsg+62
//	,
//	    __send+30
//	, iperf3, 2]: 7
//	{"type": "map", "data": {"@": {"\n    tcp_sendmsg+39\n,iperf3": 7}}}
//
// Source: bpftrace src/output.cpp, and the project's own recordings with 0.17. The key is all between [ and ]: keys are
// joined by a comma; a stack is a line end and its frames, leaf first, or nothing. Offsets are decimal. kstack(perf) prints
// "<TAB>address function+OFFSET (object)". With two stacks in a key the first is taken for the kernel's, unless addresses
// say otherwise; the kernel's frames lie on the thread's. Each map is an event with its name, the nameless one of none. Of
// the values, a sum is as it is, of stats() count and total are read, of histograms the counts are added up. Maps that are
// not keyed by stacks are left out with a note.

import (
	"bytes"
	"slices"
	"strings"

	"nettrace/perf"
	"nettrace/source"
)

// SniffBpftrace recognises the first line of a map with a stack in its key, and the lines that bpftrace begins with.
func SniffBpftrace(head []byte) source.Match {
	if len(head) == 0 || head[0] != '@' && head[0] != 'A' && head[0] != '{' {
		return source.No
	}
	line, rest, whole := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	if head[0] == '{' {
		if isBpftraceJSON(line) {
			return source.Strong
		}
		return source.No
	}
	if bytes.HasPrefix(line, []byte("Attach")) && bytes.HasSuffix(bytes.TrimRight(line, "."), []byte(" probes")) || isOneProbe(line) {
		for rest = bytes.TrimLeft(rest, "\r\n"); bytes.HasPrefix(rest, []byte("Lost ")); rest = bytes.TrimLeft(rest, "\r\n") {
			_, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
		line, rest, whole = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
	}
	if !whole || !isMapStart(line) {
		return source.No
	}
	if rest = bytes.TrimLeft(rest, ", \r\n\t"); len(rest) > 0 && rest[0] != '@' {
		return source.Strong
	}
	return source.No
}

func isOneProbe(line []byte) bool {
	return bytes.Equal(line, []byte("Attaching 1 probe...")) || bytes.Equal(line, []byte("Attached 1 probe"))
}

// isMapStart reports whether a line is the beginning of a map's key that goes on in the next line: a stack is in it.
func isMapStart(line []byte) bool {
	i := bytes.IndexByte(line, '[')
	return i > 0 && line[0] == '@' && isMapName(line[1:i]) && !bytes.Contains(line[i:], []byte("]: "))
}

func isMapName(name []byte) bool {
	for _, c := range name {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// ReadBpftrace reads the maps that are keyed by stacks.
func ReadBpftrace(l *source.Lines, ledger *source.Ledger) (*Profile, error) {
	start := l.Pos()
	f := bpfFolder{textFolder: newTextFolder(l, ledger)}
	for l.Next() && f.line(l.Bytes()) {
	}
	f.histogramEnd()
	if f.within {
		ledger.Add("cut-input", source.Warning, f.at, 1, "the key of a map has no end: the input ends within it, or a line is damaged; it is left out")
	}
	p := &Profile{Source: start.Source, Line: start.Line, Format: "bpftrace"}
	p.Lost.Events = f.lost
	return f.done(p, "not a line of a map that bpftrace prints"), nil
}

type bpfFolder struct {
	textFolder
	within    bool // the key
	at        source.Pos
	name      string
	key       []bpfKey
	histogram bool // rows of the value follow
	counts    int64
	lost      int64
}

// bpfKey is one of the keys of a map's entry: a stack's frames or a text.
type bpfKey struct {
	frames []byte // one a line
	text   string
}

// line takes one line and reports whether it is bpftrace's.
func (f *bpfFolder) line(line []byte) bool {
	if f.within {
		return f.keyLine(line)
	}
	if n := indent(line); len(line) > n && (line[n] == '[' || line[n] == '(') && bytes.IndexByte(line, '|') > 0 {
		if f.histogram { // a row of a histogram, else one of a map without stacks
			_, row, _ := bytes.Cut(line, []byte(")"))
			if i := bytes.IndexByte(line, ']'); i >= 0 && row == nil {
				row = line[i+1:]
			}
			if fields := bytes.Fields(row); len(fields) > 0 && isNumber(fields[0]) && fields[0][0] != '-' {
				f.counts = sum(f.counts, digits(fields[0]))
			}
		}
		return true
	}
	f.histogramEnd()
	switch {
	case len(bytes.TrimSpace(line)) == 0, bytes.HasPrefix(line, []byte("Attach")):
	case bytes.HasPrefix(line, []byte("Lost ")) && bytes.HasSuffix(line, []byte(" events")):
		f.loss(bytes.TrimSuffix(line[len("Lost "):], []byte(" events")))
	case line[0] == '{' && isBpftraceJSON(line):
		f.json(line)
	case line[0] == '@':
		return f.mapLine(line)
	default:
		f.lines.Back()
		return false
	}
	return true
}

func (f *bpfFolder) loss(n []byte) {
	if isNumber(n) && n[0] != '-' {
		f.lost = sum(f.lost, digits(n))
		f.ledger.Add("recorder-loss", source.Warning, f.lines.Pos(), digits(n), "bpftrace lost events: its buffers were full (BPFTRACE_PERF_RB_PAGES makes them larger)")
	}
}

// mapLine takes the first line of a map's entry.
func (f *bpfFolder) mapLine(line []byte) bool {
	bracket, colon := bytes.IndexByte(line, '['), bytes.Index(line, []byte(": "))
	switch {
	case bracket > 0 && isMapName(line[1:bracket]):
		f.within, f.at, f.name = true, f.lines.Pos(), string(line[1:bracket])
		f.key = f.key[:0]
		f.nextKey()
		f.rest(line[bracket+1:], ", ")
	case colon > 0 && isMapName(line[1:colon]):
		f.noStack()
	default:
		f.lines.Back()
		return false
	}
	return true
}

func (f *bpfFolder) noStack() {
	f.ledger.Add("map-without-stack", source.Note, f.lines.Pos(), 1, "a map that is not keyed by stacks; left out")
}

// keyLine takes a line within a key.
func (f *bpfFolder) keyLine(line []byte) bool {
	if n := indent(line); n > 0 && n < len(line) {
		last := &f.key[len(f.key)-1]
		last.frames = append(append(last.frames, bytes.TrimSpace(line)...), '\n')
		return true
	}
	switch {
	case len(line) > 0 && (line[0] == ',' || line[0] == ']'):
		f.rest(line, ", ")
		return true
	case isMapStart(line):
		f.ledger.Add("cut-input", source.Warning, f.at, 1, "the key of a map has no end: a line is missing or damaged; it is left out")
		return f.mapLine(line)
	}
	if !f.lines.Stray() {
		f.lines.Back()
		return false
	}
	f.unknown(f.lines.Pos())
	return true
}

// rest takes keys that are no frames, and the value if the key ends in the line.
func (f *bpfFolder) rest(line []byte, comma string) {
	keys, value := line, []byte(nil)
	end := bytes.LastIndex(line, []byte("]:"))
	if end >= 0 {
		keys, value = line[:end], bytes.TrimSpace(line[end+2:])
	}
	f.keys(string(keys), comma)
	if end >= 0 {
		f.within = false
		f.value(value)
	}
}

// nextKey begins another key, in the memory of one of the entry before.
func (f *bpfFolder) nextKey() {
	if len(f.key) == cap(f.key) {
		f.key = append(f.key, bpfKey{})
		return
	}
	f.key = f.key[:len(f.key)+1]
	last := &f.key[len(f.key)-1]
	last.frames, last.text = last.frames[:0], ""
}

// keys takes texts of a key, behind what was taken of it.
func (f *bpfFolder) keys(text, comma string) {
	for i, part := range strings.Split(text, comma) {
		if i > 0 {
			f.nextKey()
		}
		f.key[len(f.key)-1].text += part
	}
}

// value takes what is printed behind a key.
func (f *bpfFolder) value(value []byte) {
	if n, total, ok := stats(value); ok {
		f.entry(n, total)
		return
	}
	switch {
	case len(value) == 0:
		f.histogram, f.counts = true, 0
	case isNumber(value) && value[0] != '-':
		f.entry(digits(value), digits(value))
	default:
		f.ledger.Add("odd-value", source.Warning, f.at, 1, "the value of a map is no count; its stack is left out")
	}
}

// stats reads the value of stats(): "count 3, average 5, total 15".
func stats(value []byte) (count, total int64, ok bool) {
	fields := bytes.Fields(bytes.ReplaceAll(value, []byte(","), nil))
	if len(fields) != 6 || string(fields[0]) != "count" || string(fields[4]) != "total" || !isNumber(fields[1]) || !isNumber(fields[5]) || fields[1][0] == '-' || fields[5][0] == '-' {
		return 0, 0, false
	}
	return digits(fields[1]), digits(fields[5]), true
}

func (f *bpfFolder) histogramEnd() {
	if f.histogram {
		f.entry(f.counts, f.counts)
	}
	f.histogram = false
}

// entry folds in an entry of a map, if a stack is in its key.
func (f *bpfFolder) entry(count, total int64) {
	var stacks []bpfKey
	l, numbers := labels{}, 0
	for _, k := range f.key {
		k.text = strings.TrimSpace(k.text)
		switch {
		case len(k.frames) > 0 || k.text == "":
			stacks = append(stacks, k)
		case l.comm == "" && !isNumber([]byte(k.text)):
			l.comm = k.text
		default:
			numbers++
		}
	}
	if len(stacks) == 0 {
		f.noStack()
		return
	}
	f.ignore(numbers, f.at)
	f.pushStacks(stacks)
	name := f.name
	if name == "" {
		name = perf.NoEvent
	}
	f.add(f.builder.event(name, "", f.at), l, f.stack, count, total, place{f.at.Line, f.at.Offset})
	f.stack = f.stack[:0]
}

// pushStacks lays the kernel's frames on the thread's.
func (f *bpfFolder) pushStacks(stacks []bpfKey) {
	object := ""
	if len(stacks) > 1 {
		object = kernelObject
	}
	if len(stacks) == 2 && hasAddresses(stacks) && (isHigh(stacks[1].frames) || len(stacks[0].frames) > 0 && !isHigh(stacks[0].frames)) {
		slices.Reverse(stacks)
	}
	for i, s := range stacks {
		for text := range bytes.Lines(s.frames) {
			f.push(f.bpfLocation(bytes.TrimRight(text, "\n"), object))
		}
		if i == 0 {
			object = ""
		}
	}
}

func hasAddresses(stacks []bpfKey) bool {
	for _, s := range stacks {
		if address, _, ok := bytes.Cut(s.frames, []byte(" ")); ok && isHex(address) {
			return true
		}
	}
	return false
}

// isHigh reports whether the frames begin with an address of the kernel's half.
func isHigh(frames []byte) bool {
	address, _, _ := bytes.Cut(frames, []byte(" "))
	return len(address) == 16 && address[0]|0x20 == 'f' && isHex(address)
}

// object returns a name as a string, which is made once.
func (f *bpfFolder) object(name []byte) string {
	if m, known := f.mappings[string(name)]; known {
		return m.File
	}
	return string(name)
}

func (f *bpfFolder) bpfLocation(text []byte, object string) uint32 {
	address, rest, printed := bytes.Cut(text, []byte(" ")) // of kstack(perf) and ustack(perf)
	if printed = printed && isHex(address); printed {
		if isHigh(text) {
			object = kernelObject
		}
		text = rest
		if i := bytes.LastIndex(text, []byte(" (")); i > 0 && text[len(text)-1] == ')' {
			text, object = text[:i], f.object(text[i+2:len(text)-1])
		}
	}
	return f.located(text, object, cutDecimalOffset)
}

// cutDecimalOffset takes an offset off a name: + and decimal digits at its end.
func cutDecimalOffset(name string) string {
	if i := strings.LastIndexByte(name, '+'); i > 0 && isNumber([]byte(name[i+1:])) && name[i+1] != '-' && !strings.HasSuffix(name[:i], "operator") {
		return name[:i]
	}
	return name
}

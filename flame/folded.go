package flame

// Folded stacks, one a line, root first, with a count behind the last blank: the format of stackcollapse-*.pl,
// inferno-collapse-*, bcc's profile -f and many others.
//
//	iperf3;main;tcp_sendmsg_[k];_copy_from_iter_[k] 42
//	iperf3;main 3.5
//	swapper;do_idle_[k] 17 12
//
// Marks behind names tell the kind of code: _[k] kernel, _[i] inlined, _[j] compiled at run time, _[w] waker. A frame
// "-" or "--" separates stacks. Two numbers (difffolded.pl) are before and after; since a name may end in a number, they
// are two only if the lines at the beginning of the text all have two. Lines beginning with # are left out.

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"nettrace/perf"
	"nettrace/source"
)

// foldedHead is how far folded texts are looked at to tell one column from two.
const foldedHead = 16 << 10

// maxDecimals is how many digits behind the point of a count are kept.
const maxDecimals = 6

// SniffFolded reports Weak if head looks like folded stacks: most lines end in a count, and some hold several frames; or
// it is the beginning of a deep stack.
func SniffFolded(head []byte) source.Match {
	const deep = 100 // frames in a head that is a part of the first line
	if bytes.IndexByte(head, '\n') < 0 && bytes.Count(head, []byte(";")) >= deep && !bytes.ContainsAny(head, "\x00\t") {
		return source.Weak
	}
	good, bad, joined := 0, 0, false
	for rest := head; len(rest) > 0; {
		line, behind, whole := bytes.Cut(rest, []byte("\n"))
		rest = behind
		if !whole && good+bad > 0 {
			break // cut at the end of the head
		}
		line = bytes.TrimRight(line, "\r")
		switch stack, _, ok := cutCount(line); {
		case len(line) == 0 || line[0] == '#':
		case ok && !bytes.ContainsAny(stack, "\x00\t"):
			good++
			joined = joined || bytes.IndexByte(stack, ';') > 0
		default:
			bad++
		}
		if bad > 0 && good == 0 {
			return source.No
		}
	}
	if joined && good > 2*bad {
		return source.Weak
	}
	return source.No
}

// ReadFolded reads folded stacks. Their event has no name; if they have two counts, the events are before and after.
func ReadFolded(l *source.Lines, ledger *source.Ledger) (*Profile, error) {
	start := l.Pos()
	f := folder{builder: newBuilder(start.Source, ledger), known: map[string]uint32{}}
	two := twoColumns(l.Head(foldedHead))
	for l.Next() {
		if !f.line(l.Bytes(), two, l.Pos()) {
			if !f.skip(l) {
				break
			}
		} else if !l.Complete() {
			ledger.Add("cut-input", source.Note, l.Pos(), 1, "the last line has no end; its count is taken as it is, but may be cut")
		}
	}
	if f.bad > 0 {
		ledger.Add("unrecognised-line", source.Warning, f.firstBad, f.bad, "not a folded stack: expected frames joined by semicolons, a blank and a count; skipped")
	}
	p := &Profile{Source: start.Source, Line: start.Line, Format: "folded"}
	f.builder.finish(p)
	return p, nil
}

// folder takes the lines of folded stacks.
type folder struct {
	*builder
	known    map[string]uint32 // locations by the text of their frames
	stack    []byte
	bad      int64
	firstBad source.Pos
}

// skip deals with a line that is no folded stack, and reports whether reading goes on behind it.
func (f *folder) skip(l *source.Lines) bool {
	pos, complete := l.Pos(), l.Complete()
	if !l.Stray() {
		l.Back()
		return false
	}
	if !complete {
		f.ledger.Add("cut-input", source.Warning, pos, 1, "the input ends within a stack; it is left out")
		return true
	}
	if f.bad++; f.bad == 1 {
		f.firstBad = pos
	}
	return true
}

// line folds one line in and reports whether it was a folded stack.
func (f *folder) line(line []byte, two bool, pos source.Pos) bool {
	if line = bytes.TrimRight(line, " \t"); len(line) == 0 || line[0] == '#' {
		return true
	}
	rest, last, ok := cutCount(line)
	if !ok {
		return false
	}
	if !two {
		f.count(perf.NoEvent, last, rest, pos)
		return true
	}
	rest, before, ok := cutCount(rest)
	if !ok {
		return false
	}
	f.count("before", before, rest, pos)
	f.count("after", last, rest, pos)
	return true
}

func (f *folder) count(event string, count, stack []byte, pos source.Pos) {
	id := f.event(event, "", pos)
	n := f.value(count)
	if n == 0 {
		return
	}
	f.push(bytes.TrimLeft(stack, " \t"))
	f.add(id, labels{}, f.stack, n, n, place{pos.Line, pos.Offset})
}

// value reads a count in units of the scale, which is made finer for it where needed.
func (f *folder) value(count []byte) int64 {
	whole, fraction, _ := bytes.Cut(count, []byte("."))
	fraction = bytes.TrimRight(fraction, "0")
	for decimals := min(len(fraction), maxDecimals); pow10(decimals) > f.scale; {
		f.rescale(10)
	}
	v := product(digits(whole), f.scale)
	for i, c := range fraction[:min(len(fraction), maxDecimals)] {
		v = sum(v, int64(c-'0')*(f.scale/pow10(i+1)))
	}
	return v
}

// push makes the stack's key, leaf first, of its text, root first.
func (f *folder) push(stack []byte) {
	f.stack = f.stack[:0]
	for end := len(stack); end > 0; {
		start := frameStart(stack, end)
		if start < end {
			f.stack = binary.LittleEndian.AppendUint32(f.stack, f.frames(stack[start:end]))
		}
		end = start - 1
	}
}

// frameStart returns where the frame begins that ends at end, together with those that it is inlined into.
func frameStart(stack []byte, end int) int {
	for {
		start := bytes.LastIndexByte(stack[:end], ';') + 1
		if start == 0 || !bytes.HasSuffix(stack[start:end], []byte("_[i]")) {
			return start
		}
		end = start - 1
	}
}

// frames returns the location of one frame, or of one with those inlined into it.
func (f *folder) frames(text []byte) uint32 {
	id, known := f.known[string(text)]
	if known {
		return id
	}
	parts := strings.Split(string(text), ";")
	lines := make([]line, len(parts))
	object := ""
	for i := len(parts) - 1; i >= 0; i-- {
		lines[len(parts)-1-i].symbol, object = cutMark(parts[i])
	}
	id = f.location(lines, object)
	f.known[string(text)] = id
	return id
}

// cutMark takes the mark off a frame's name and returns the object that stands for it.
func cutMark(name string) (symbol, object string) {
	n := len(name) - len("_[k]")
	if n <= 0 || name[n] != '_' || name[n+1] != '[' || name[n+3] != ']' {
		return name, ""
	}
	switch name[n+2] {
	case 'k':
		return name[:n], kernelObject
	case 'j':
		return name[:n], jitObject
	case 'w':
		return name[:n], wakerObject
	case 'i':
		return name[:n], ""
	}
	return name, ""
}

// twoColumns reports whether all stacks of head have two counts.
func twoColumns(head []byte) bool {
	seen := false
	for line := range bytes.Lines(head) {
		if line[len(line)-1] != '\n' && seen {
			break // cut at the end of the head
		}
		line = bytes.TrimRight(line, "\r\n \t")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		rest, _, ok := cutCount(line)
		if !ok {
			continue
		}
		if rest, _, ok = cutCount(rest); !ok || len(rest) == 0 {
			return false
		}
		seen = true
	}
	return seen
}

// cutCount splits a line before the count behind its last blank.
func cutCount(line []byte) (stack, count []byte, ok bool) {
	line = bytes.TrimRight(line, " \t")
	i := bytes.LastIndexAny(line, " \t")
	if i <= 0 {
		return nil, nil, false
	}
	count = line[i+1:]
	dots := 0
	for k, c := range count {
		switch {
		case c == '.' && k > 0:
			dots++
		case c < '0' || c > '9':
			return nil, nil, false
		}
	}
	return bytes.TrimRight(line[:i], " \t"), count, len(count) > 0 && dots <= 1
}

func digits(b []byte) int64 {
	n := int64(0)
	for _, c := range b {
		if n > (math.MaxInt64-9)/10 {
			return math.MaxInt64
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

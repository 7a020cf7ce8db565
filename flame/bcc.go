package flame

// Stacks as bcc's profile, offcputime, offwaketime, wakeuptime and stackcount print them without -f:
//
//	Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.
//	    tcp_sendmsg
//	    main
//	    -                iperf3 (9036)
//	        4
//
// Source: bcc tools/profile.py, offcputime.py, stackcount.py and their example texts. A block ends with a number on its
// own: a count, or microseconds of time off the CPU. Frames are leaf first; -- stands between kernel and user (-d). The
// thread is told by "- name (pid)", by stackcount -P as "name [pid]". Tables of other bcc tools are not read.

import (
	"bytes"

	"nettrace/perf"
	"nettrace/source"
)

// SniffBCC recognises the first line of a tool with a stack behind it.
func SniffBCC(head []byte) source.Match {
	if len(head) == 0 || head[0] != 'S' && head[0] != 'T' {
		return source.No
	}
	line, rest, whole := bytes.Cut(head, []byte("\n"))
	if !whole || !isBCCStart(line) {
		return source.No
	}
	for len(rest) > 0 {
		if line, rest, whole = bytes.Cut(rest, []byte("\n")); !whole {
			return source.No
		}
		if line = bytes.TrimRight(line, "\r"); indent(line) >= 2 && len(line) > indent(line) {
			if bytes.Contains(line, []byte(" : count ")) { // funclatency and funcinterval: a histogram
				return source.No
			}
			return source.Strong
		}
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("^C")) {
			return source.No
		}
	}
	return source.No
}

func isBCCStart(line []byte) bool {
	if !bytes.HasSuffix(bytes.TrimRight(line, " \r."), []byte("Hit Ctrl-C to end")) {
		return false
	}
	stacks := bytes.Contains(line, []byte(" stack"))
	return stacks && bytes.HasPrefix(line, []byte("Sampling at ")) || bytes.HasPrefix(line, []byte("Tracing ")) && (stacks || bytes.Contains(line, []byte(` for "`)))
}

// ReadBCC reads the blocks of stacks of one run of a tool.
func ReadBCC(l *source.Lines, ledger *source.Ledger) (*Profile, error) {
	start := l.Pos()
	f := bccFolder{textFolder: newTextFolder(l, ledger), name: perf.NoEvent, unit: "count", factor: 1}
	for l.Next() && f.line(l.Bytes()) {
	}
	if len(f.frames) > 0 || f.thread != (labels{}) {
		ledger.Add("cut-input", source.Warning, f.at, 1, "a stack has no number behind it: the input ends within it, or a line is damaged; it is left out")
	}
	p := &Profile{Source: start.Source, Line: start.Line, Format: "bcc"}
	return f.done(p, "not a line of a stack that bcc prints"), nil
}

type bccFolder struct {
	textFolder
	started    bool
	name, unit string
	factor     int64  // from printed numbers to the unit
	frames     []byte // of the block at hand, one a line
	border     int    // bytes of frames that are the kernel's; 0: not told
	thread     labels
	at         source.Pos
}

// line takes one line and reports whether it belongs to the run.
func (f *bccFolder) line(line []byte) bool {
	text := bytes.TrimSpace(line)
	switch n := indent(line); {
	case !f.started:
		f.begin(line)
	case len(text) == 0, bytes.HasPrefix(line, []byte("^C")), bytes.HasPrefix(line, []byte("WARNING: ")):
	case n < 2:
		f.lines.Back()
		return false
	case isNumber(text) && text[0] != '-':
		f.block(digits(text))
	case string(text) == "--":
		f.border = len(f.frames)
	default:
		f.frame(text, n)
	}
	return true
}

func (f *bccFolder) begin(line []byte) {
	f.started = true
	if bytes.Contains(line, []byte(" time (us)")) {
		f.name, f.unit, f.factor = "off-cpu", "nanoseconds", 1000
	}
}

// frame takes a frame, or the thread.
func (f *bccFolder) frame(text []byte, indent int) {
	if len(f.frames) == 0 {
		f.at = f.lines.Pos()
	}
	thread, dashed := bytes.CutPrefix(text, []byte("-  "))
	if comm, pid, ok := cutPID(thread, '(', ')'); ok && dashed {
		f.thread = labels{comm: comm, pid: pid, hasPID: true}
		return
	}
	if comm, pid, ok := cutPID(text, '[', ']'); ok && indent == 4 && f.unit == "count" {
		f.thread = labels{comm: comm, pid: pid, hasPID: true}
		return
	}
	f.frames = append(append(f.frames, text...), '\n')
}

// cutPID splits "name (123)".
func cutPID(text []byte, open, end byte) (comm string, pid int32, ok bool) {
	i := bytes.LastIndexByte(text, open)
	if i < 2 || text[len(text)-1] != end || !isNumber(text[i+1:len(text)-1]) || text[i-1] != ' ' || len(text) > i+12 {
		return "", 0, false
	}
	return string(bytes.TrimSpace(text[:i])), int32(digits(bytes.TrimPrefix(text[i+1:len(text)-1], []byte("-")))), true
}

// block folds in the block whose number this is.
func (f *bccFolder) block(number int64) {
	if len(f.frames) == 0 {
		f.at = f.lines.Pos()
	}
	for at := 0; at < len(f.frames); {
		end := at + bytes.IndexByte(f.frames[at:], '\n')
		object := ""
		if at < f.border {
			object = kernelObject
		}
		f.push(f.located(f.frames[at:end], object, cutHexOffset))
		at = end + 1
	}
	value := product(number, f.factor)
	f.add(f.eventIn(f.name, f.unit, f.at), f.thread, f.stack, number, value, place{f.at.Line, f.at.Offset})
	f.stack, f.frames, f.border, f.thread = f.stack[:0], f.frames[:0], 0, labels{}
}

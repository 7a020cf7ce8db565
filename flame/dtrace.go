package flame

// Aggregations of DTrace over stacks, as illumos, FreeBSD, macOS and Linux ports print them, with and without -q:
//
//	CPU     ID                    FUNCTION:NAME
//	  0  64091                        :tick-60s
//
//
//	              genunix`segvn_fault+0x12
//	              unix`trap+0x2c7
//	                4
//
// Source: lib/libdtrace/common/dt_consume.c (dt_print_stack, dt_print_ustack, dt_print_aggs). A stack is a blank line and
// its frames, leaf first; stack() and ustack() in one key are two blocks. The value follows on a line of its own, behind
// the keys that come after the stacks; keys that come before stand on the line before. Frames are module`function+0xOFF,
// without an offset at the function's first byte, or module`0xADDRESS or 0xADDRESS without a symbol. Of a histogram
// (quantize, lquantize) the counts are added up and its values left out. Names of aggregations are not printed, so
// several of them are one.

import (
	"bytes"
	"slices"
	"strings"

	"nettrace/perf"
	"nettrace/source"
)

// SniffDTrace recognises the header with a stack behind it, or the frames of a stack with a value behind them, or such
// frames below a line of keys.
func SniffDTrace(head []byte) source.Match {
	line, rest, whole := bytes.Cut(head, []byte("\n"))
	if !whole || len(line) < 3 {
		return source.No
	}
	switch c := line[0]; {
	case c == ' ' || c == '\t' || c == '0' && line[1] == 'x':
		if !isDTraceFrame(line) && !startsDTraceFrame(rest) {
			return source.No
		}
	case !isDTraceHeader(line):
		return source.No
	}
	return sniffDTraceStack(line, rest)
}

// startsDTraceFrame reports whether a line of keys may have stood before rest.
func startsDTraceFrame(rest []byte) bool {
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return isDTraceFrame(line)
}

// sniffDTraceStack looks for frames with a value behind them.
func sniffDTraceStack(line, rest []byte) source.Match {
	frames, whole := 0, true
	for n := 0; ; n++ {
		line = bytes.TrimRight(line, "\r")
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case isDTraceFrame(line):
			frames++
		case frames > 0:
			if _, _, ok := cutValue(line); ok && indent(line) > 0 || isDistribution(line) {
				return source.Strong
			}
			return source.No
		case n > 3: // header, probe and keys
			return source.No
		}
		if len(rest) == 0 {
			break
		}
		if line, rest, whole = bytes.Cut(rest, []byte("\n")); !whole {
			break
		}
	}
	if frames > 20 { // a stack deeper than the head
		return source.Strong
	}
	return source.No
}

func isDTraceHeader(line []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(line, " \r"), []byte(" FUNCTION:NAME")) && bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("CPU "))
}

// isProbe reports whether a line is that of the probe which printed the aggregation: CPU, ID and function:name.
func isProbe(line []byte) bool {
	fields := bytes.Fields(line)
	return len(fields) == 3 && isNumber(fields[0]) && isNumber(fields[1]) && bytes.IndexByte(fields[2], ':') >= 0
}

// isDTraceFrame reports whether a line is a frame: indented, with a module that holds no blank before the function.
func isDTraceFrame(line []byte) bool {
	n := indent(line)
	line = bytes.TrimRight(line[n:], " \r")
	if isAddress(line) {
		return true
	}
	tick := bytes.IndexByte(line, '`')
	return n >= 4 && tick > 0 && tick+1 < len(line) && !bytes.ContainsAny(line[:tick], " \t|@")
}

func isDistribution(line []byte) bool {
	return bytes.Contains(line, []byte("- Distribution -")) && bytes.HasSuffix(bytes.TrimRight(line, " \r"), []byte(" count"))
}

// cutValue splits a line into the keys before the value and the value.
func cutValue(line []byte) (keys, value []byte, ok bool) {
	line = bytes.TrimSpace(line)
	i := bytes.LastIndexAny(line, " \t") + 1
	if !isNumber(line[i:]) {
		return nil, nil, false
	}
	return bytes.TrimRight(line[:i], " \t"), line[i:], true
}

// ReadDTrace reads aggregations over stacks. Their event has no name.
func ReadDTrace(l *source.Lines, ledger *source.Ledger) (*Profile, error) {
	start := l.Pos()
	f := dtraceFolder{textFolder: newTextFolder(l, ledger), objects: [2]map[string]string{{}, {}}}
	for l.Next() && f.line(l.Bytes()) {
	}
	f.histogramEnd()
	if len(f.blocks) > 0 {
		ledger.Add("cut-input", source.Warning, f.at, 1, "a stack has no value behind it: the input ends within it, or a line is damaged; it is left out")
	}
	p := &Profile{Source: start.Source, Line: start.Line, Format: "dtrace"}
	p.Lost.Events = f.lost
	return f.done(p, "not a line of a DTrace aggregation: expected a frame, a value or keys"), nil
}

// dtraceStack is one stack of a key.
type dtraceStack struct {
	frames []byte // one a line
	kernel bool   // one of its frames is surely the kernel's
}

type dtraceFolder struct {
	textFolder
	blocks    []dtraceStack // of the entry at hand
	fresh     bool          // a blank line stands before: the next frame begins a stack
	blank     bool          // the same, for values of stacks without frames
	at        source.Pos
	keys      [][]byte // that stand before the stacks
	histogram bool
	counts    int64 // of the histogram
	lost      int64
	objects   [2]map[string]string // by module: in programs, in the kernel
}

// line takes one line and reports whether it belongs to the aggregation.
func (f *dtraceFolder) line(line []byte) bool {
	if f.histogram {
		if i := bytes.IndexByte(line, '|'); i >= 0 {
			if _, n, ok := cutValue(line[i:]); ok && n[0] != '-' {
				f.counts = sum(f.counts, digits(n))
			}
			return true
		}
		f.histogramEnd()
	}
	if isDTraceFrame(line) {
		f.frame(bytes.TrimSpace(line))
		return true
	}
	keys, value, valued := cutValue(line)
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		f.fresh, f.blank = true, true
	case isDTraceHeader(line), len(f.blocks) == 0 && isProbe(line):
	case bytes.HasPrefix(line, []byte("dtrace: ")):
		f.message(line[len("dtrace: "):])
	case isDistribution(line):
		f.histogram, f.counts = true, 0
	case len(f.blocks) > 0 && valued && indent(line) > 0:
		f.value(keys, value)
	case len(f.blocks) == 0 && indent(line) > 0 && (valued || f.lines.Complete()):
		return f.bare(bytes.Clone(line))
	default:
		return f.odd()
	}
	return true
}

// bare takes a line of keys that stand before stacks, or the value of a stack without frames, as stack() has for threads
// that were not in the kernel.
func (f *dtraceFolder) bare(line []byte) bool {
	at := f.lines.Pos()
	keys, value, valued := cutValue(line)
	switch {
	case startsDTraceFrame(f.lines.Head(foldedHead)):
		f.keys = append(f.keys[:0], bytes.TrimSpace(line))
		f.at, f.fresh = at, true
	case valued && f.blank:
		f.at = at
		f.value(keys, value)
	default:
		f.unknown(at)
	}
	return true
}

// odd deals with a line that is none of an aggregation.
func (f *dtraceFolder) odd() bool {
	if len(f.blocks) == 0 || !f.lines.Stray() {
		f.lines.Back()
		return false
	}
	f.unknown(f.lines.Pos())
	return true
}

func (f *dtraceFolder) message(text []byte) {
	n, rest, _ := bytes.Cut(text, []byte(" "))
	if isNumber(n) && bytes.Contains(rest, []byte("drop")) {
		f.lost = sum(f.lost, digits(n))
		f.ledger.Add("recorder-loss", source.Warning, f.lines.Pos(), digits(n), "dtrace: "+string(text))
	}
}

func (f *dtraceFolder) frame(text []byte) {
	if len(f.blocks) == 0 {
		if len(f.keys) == 0 {
			f.at = f.lines.Pos()
		}
		f.fresh = true
	}
	if f.fresh {
		f.nextStack()
		f.fresh = false
	}
	last := &f.blocks[len(f.blocks)-1]
	last.frames = append(append(last.frames, text...), '\n')
	last.kernel = last.kernel || isKernelFrame(text)
}

// nextStack begins another stack, in the memory of one of the entry before.
func (f *dtraceFolder) nextStack() {
	if len(f.blocks) == cap(f.blocks) {
		f.blocks = append(f.blocks, dtraceStack{})
		return
	}
	f.blocks = f.blocks[:len(f.blocks)+1]
	last := &f.blocks[len(f.blocks)-1]
	last.frames, last.kernel = last.frames[:0], false
}

// value folds the entry in whose value this is.
func (f *dtraceFolder) value(keys, value []byte) {
	f.entry(keys, digits(bytes.TrimPrefix(value, []byte("-"))), value[0] == '-')
}

func (f *dtraceFolder) histogramEnd() {
	if f.histogram && len(f.blocks) > 0 {
		f.entry(nil, f.counts, false)
	}
	f.histogram = false
}

func (f *dtraceFolder) entry(keys []byte, value int64, negative bool) {
	// The kernel's frames lie on those of the thread, whichever stack was asked for first.
	slices.SortStableFunc(f.blocks, func(a, b dtraceStack) int { return compareBool(b.kernel, a.kernel) })
	for i := range f.blocks {
		f.pushStack(&f.blocks[i])
	}
	if negative {
		f.ledger.Add("negative-value", source.Warning, f.at, 1, "a negative value cannot be shown as a share; left out")
	} else {
		f.add(f.builder.event(perf.NoEvent, "", f.at), f.label(keys), f.stack, value, value, place{f.at.Line, f.at.Offset})
	}
	f.stack, f.blocks, f.keys, f.blank, f.fresh = f.stack[:0], f.blocks[:0], f.keys[:0], false, false
}

// label makes labels of the keys around the stacks: the first text is the thread's name.
func (f *dtraceFolder) label(behind []byte) labels {
	l := labels{}
	keys := f.keys
	if len(behind) > 0 {
		keys = append(keys, behind)
	}
	for _, group := range keys {
		for _, key := range bytes.Split(group, []byte("  ")) { // keys are padded
			key = bytes.TrimSpace(key)
			switch {
			case len(key) == 0:
			case isNumber(key) || l.comm != "":
				f.ignore(1, f.at)
			default:
				l.comm = string(key)
			}
		}
	}
	return l
}

// pushStack pushes the frames of a stack.
func (f *dtraceFolder) pushStack(s *dtraceStack) {
	for rest := s.frames; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		text := rest[:end]
		rest = rest[end+1:]
		module, _, found := bytes.Cut(text, []byte("`"))
		if !found {
			module = nil
		}
		f.push(f.located(text, f.object(module, s.kernel), cutHexOffset))
	}
}

// object returns the name of the object of a module, which is made once.
func (f *dtraceFolder) object(module []byte, inKernel bool) string {
	names := &f.objects[0]
	if inKernel {
		names = &f.objects[1]
	}
	object, known := (*names)[string(module)]
	if !known {
		if object = string(module); inKernel {
			object = dtraceKernelObject(object)
		}
		(*names)[string(module)] = object
	}
	return object
}

// cutHexOffset takes an offset off a name: +0x and hexadecimal digits at its end. Any other + belongs to the name.
func cutHexOffset(name string) string {
	if i := strings.LastIndex(name, "+0x"); i > 0 && isHex([]byte(name[i+3:])) {
		return name[:i]
	}
	return name
}

// isKernelFrame reports whether a frame is surely the kernel's: in a module that only the kernel has, or at an address of
// its half.
func isKernelFrame(text []byte) bool {
	module, rest, found := bytes.Cut(text, []byte("`"))
	if !found {
		module, rest = nil, text
	}
	return found && isKernelModule(string(module)) || isAddress(rest) && len(rest) == 18 && bytes.HasPrefix(rest, []byte("0xffff"))
}

func isKernelModule(module string) bool {
	switch module {
	case "unix", "genunix", "kernel", "mach_kernel", "vmlinux", // the kernels themselves
		"ip", "mac", "dls", "dld", "sockfs", "zfs", "apix", "pcplusmp", "procfs", "doorfs", "specfs", "lofs", "ufs": // of illumos, in most stacks
		return true
	}
	return strings.HasSuffix(module, ".ko")
}

// dtraceKernelObject names a kernel's module as perf does, in brackets.
func dtraceKernelObject(module string) string {
	switch module {
	case "", "unix", "genunix", "kernel", "mach_kernel", "vmlinux":
		return kernelObject
	}
	return "[" + strings.TrimSuffix(module, ".ko") + "]"
}

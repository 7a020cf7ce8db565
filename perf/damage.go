package perf

import (
	"bytes"

	"nettrace/source"
)

// How the reader deals with lines that perf does not print, and with inputs that end early.

// skipDamage decides what the current line is: damage, if more of perf's lines follow, which is skipped; else the end of
// this output, with the line still to be read.
func (r *ScriptReader) skipDamage() {
	pos, complete := r.lines.Pos(), r.lines.Complete()
	prompt := isPrompt(r.lines.Bytes())
	r.lines.Back()
	head := r.lines.Head(headSize)
	_, behind := lineOf(head)
	switch {
	case prompt || r.lines.Foreign(head):
		r.done = true
		return
	case continues(behind):
		r.ledger.Add("unrecognised-line", source.Warning, pos, 1, "neither a sample line nor a frame of perf script; skipped")
	case !complete:
		r.cutAt(pos, source.Warning, "the input ends within a line; what it began is lost")
	default:
		r.done = true
		return
	}
	r.lines.Next()
}

// continues reports whether one of the next lines is one of perf script again.
func continues(head []byte) bool {
	var s sampleLine
	for n := 0; len(head) > 0 && n < 8; n++ {
		var line []byte
		line, head = lineOf(head)
		if isFrame(line) || s.parse(line) {
			return true
		}
	}
	return false
}

// isPrompt reports whether line begins with a shell's prompt: "$ ", "root@host:~# ", "[root@host ~]# ".
func isPrompt(line []byte) bool {
	start := line[:min(len(line), 80)]
	i := bytes.Index(start, []byte("$ "))
	if i < 0 {
		i = bytes.Index(start, []byte("# "))
	}
	return i >= 0 && (start[0] == '[' || !bytes.ContainsAny(start[:i], " \t"))
}

// cutInSampleLine reports whether the current line, the first one of a sample, is the last one of an input cut within
// it: the event is missing that all others have.
func (r *ScriptReader) cutInSampleLine() bool {
	if r.lines.Complete() || !r.events || r.sample.event != nil {
		return false
	}
	r.cutAt(r.lines.Pos(), source.Warning, "the input ends within a sample line; the sample is lost")
	return true
}

// endOfInput says how sure the last sample is: perf ends each with a blank line.
func (r *ScriptReader) endOfInput(onLine bool) {
	stack := r.event.Stack
	switch complete := r.lines.Complete(); {
	case !complete && r.cutInFrame():
		r.event.Stack = stack[:len(stack)-1]
		r.cutAt(r.lines.Pos(), source.Warning, "the input ends within a frame; the sample is counted without it and without its callers")
	case !complete, r.chains && !onLine:
		r.cutAt(r.lines.Pos(), source.Note, "the last sample does not end in a blank line; it is counted with the frames it has")
	}
}

// cutInFrame reports whether the last frame lacks the object that others have.
func (r *ScriptReader) cutInFrame() bool {
	stack := r.event.Stack
	if len(stack) == 0 || !r.objects {
		return false
	}
	last := stack[len(stack)-1]
	return last.DSO == "" && !last.Inlined
}

func (r *ScriptReader) cutAt(pos source.Pos, severity source.Loss, text string) {
	if !r.cut {
		r.cut = true
		r.ledger.Add("cut-input", severity, pos, 1, text)
	}
}

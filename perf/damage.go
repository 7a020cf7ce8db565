package perf

import (
	"bytes"

	"nettrace/source"
)

// How the reader deals with lines that perf does not print, and with inputs that end early.

// skipDamage decides what the current line is: the first one of another run, which has other columns; damage, if more of
// perf's lines follow, which is skipped; else the end of this output, with the line still to be read.
func (d *decoder) skipDamage() {
	if d.spoil() {
		return
	}
	pos, complete := d.lines.Pos(), d.lines.Complete()
	prompt := isPrompt(d.lines.Bytes())
	d.lines.Back()
	head := d.lines.Head(headSize)
	_, behind := lineOf(head)
	switch {
	case prompt || d.lines.Foreign(head):
		d.done = true
		return
	case d.layout != noLayout && SniffScript(head) == source.Strong:
		d.layout = noLayout
		return
	case continues(behind):
		d.ledger.Add("unrecognised-line", source.Warning, pos, 1, "neither a sample line nor a frame of perf script; skipped")
	case !complete:
		d.cutAt(source.Warning, "the input ends within a line; what it began is lost")
	default:
		d.done = true
		return
	}
	d.lines.Next()
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
// it: the event is missing that others have.
func (d *decoder) cutInSampleLine() bool {
	if d.lines.Complete() || d.sample.event != nil || d.samples && !d.events {
		return false
	}
	d.cutAt(source.Warning, "the input ends within a sample line; the sample is lost")
	return true
}

// cutInSample deals with the last line of the input, which has no end and belongs to a sample.
func (d *decoder) cutInSample() {
	if d.kind == blankLine || d.cutInFrame() {
		d.cutAt(source.Warning, "the input ends within a frame; the sample is counted without it and without its callers")
		if d.kind != blankLine {
			d.event.Stack = d.event.Stack[:len(d.event.Stack)-1]
		}
		return
	}
	d.cutAt(source.Note, "the last line has no end; the sample is counted with the frames it has")
}

// endOfInput says how sure the last sample is: perf ends each one that has a chain with a blank line.
func (d *decoder) endOfInput(onLine bool) {
	empty := len(d.event.Stack) == 0 && len(d.event.Payload) == 0
	if !onLine && (d.chains || empty) {
		d.cutAt(source.Note, "the last sample does not end in a blank line; it is counted with the frames it has")
	}
}

// cutInFrame reports whether the last frame lacks the object that others have, or the end of it.
func (d *decoder) cutInFrame() bool {
	stack := d.event.Stack
	if len(stack) == 0 || !d.objects {
		return false
	}
	last := stack[len(stack)-1]
	return last.damaged || last.DSO == "" && !last.Inlined
}

// cutAt enters, once, that the input ends early.
func (d *decoder) cutAt(severity source.Loss, text string) {
	if !d.cut {
		d.cut = true
		d.ledger.Add("cut-input", severity, d.lines.Pos(), 1, text)
	}
}

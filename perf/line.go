package perf

import "bytes"

// lineKind is what a line of perf script is.
type lineKind uint8

const (
	foreignLine lineKind = iota
	blankLine
	sampleStart
	frameLine
	detailLine // belongs to the frame before: a source line, an instruction
	otherLine  // of perf, but of no sample: comments, side records, messages
)

// classify finds out what line is and keeps its parts.
func (r *ScriptReader) classify(line []byte) {
	if len(line) == 0 {
		r.kind = blankLine
		return
	}
	if line[0] == '\t' {
		r.kind = r.indented(line)
		return
	}
	if line[0] == '#' {
		r.header.read(line)
		r.kind = otherLine
		return
	}
	if r.startsSample(line) {
		r.kind = sampleStart
		if bytes.HasPrefix(r.sample.rest, []byte("PERF_RECORD_")) || bytes.HasPrefix(r.sample.event, []byte("PERF_RECORD_")) {
			r.kind = otherLine
			r.sideRecord(line)
		}
		return
	}
	switch {
	case line[0] == ' ':
		r.kind = r.indented(line)
	case isNotice(line):
		r.loss(line)
		r.kind = otherLine
	default:
		r.kind = foreignLine
	}
}

// sideRecord counts a record that is no sample, printed with perf script --show-*-events.
func (r *ScriptReader) sideRecord(line []byte) {
	if r.side++; r.side == 1 {
		r.sideAt = r.lines.Pos()
	}
	if bytes.Contains(line, []byte("PERF_RECORD_LOST")) {
		r.loss(line)
	}
}

// loss takes what a line says of losses.
func (r *ScriptReader) loss(line []byte) {
	before := r.lost.Any()
	r.lost.read(line)
	if !before {
		r.lostAt = r.lines.Pos()
	}
}

// startsSample takes the first line of a sample apart. The first one decides which layout without a time or without a
// thread is believed.
func (r *ScriptReader) startsSample(line []byte) bool {
	s := &r.sample
	if s.parse(line) {
		if r.layout == noLayout {
			r.layout = tidAndTime
		}
		return true
	}
	if r.layout == tidAndTime || isFrame(line) {
		return false
	}
	switch r.layout {
	case timeOnly:
		return s.parseTimeOnly(line)
	case tidAndEvent:
		return s.parseNoTime(line)
	}
	r.layout = partialLayout(s, line)
	return r.layout != noLayout
}

// partialLayout takes a sample line apart that lacks a thread or a time. What follows the event must be a frame or nothing.
func partialLayout(s *sampleLine, line []byte) layout {
	switch {
	case s.parseTimeOnly(line) && endsWell(s):
		return timeOnly
	case s.parseNoTime(line) && endsWell(s):
		return tidAndEvent
	}
	return noLayout
}

func endsWell(s *sampleLine) bool { return len(s.rest) == 0 || endsInFrame(s) }

// indented classifies a line that begins with a blank and is no sample line.
func (r *ScriptReader) indented(line []byte) lineKind {
	address, text, ok := cutAddress(line)
	switch {
	case ok && bytes.HasPrefix(text, []byte("insn:")):
		return detailLine
	case ok:
		r.address, r.text = address, text
		return frameLine
	case len(trimLeft(line)) == 0:
		return blankLine
	case len(line) > 2 && line[0] == ' ' && line[1] == ' ' && line[2] != ' ':
		return detailLine // -F +srcline: two blanks, then file:line or object[address]
	}
	return foreignLine
}

// isFrame reports whether line is surely a frame.
func isFrame(line []byte) bool {
	if len(line) == 0 || !isBlank(line[0]) {
		return false
	}
	_, text, ok := cutAddress(line)
	return ok && len(text) > 0
}

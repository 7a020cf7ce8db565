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
func (d *decoder) classify(line []byte) {
	if len(line) == 0 {
		d.kind = blankLine
		return
	}
	if line[0] == '\t' {
		d.kind = d.indented(line)
		return
	}
	if line[0] == '#' {
		d.spoil()
		d.header.read(line)
		d.kind = otherLine
		return
	}
	if d.startsSample(line) {
		d.kind = sampleStart
		if bytes.HasPrefix(d.sample.rest, []byte("PERF_RECORD_")) || bytes.HasPrefix(d.sample.event, []byte("PERF_RECORD_")) {
			d.kind = otherLine
			d.sideRecord(line)
		}
		return
	}
	switch {
	case line[0] == ' ':
		d.kind = d.indented(line)
	case isNotice(line):
		d.loss(line)
		d.kind = otherLine
	default:
		d.kind = foreignLine
	}
}

// sideRecord counts a record that is no sample, printed with perf script --show-*-events.
func (d *decoder) sideRecord(line []byte) {
	if d.side++; d.side == 1 {
		d.sideAt = d.lines.Pos()
	}
	if bytes.Contains(line, []byte("PERF_RECORD_LOST")) {
		d.loss(line)
	}
}

// loss takes what a line says of losses.
func (d *decoder) loss(line []byte) {
	d.spoil()
	before := d.lost.Any()
	d.lost.read(line)
	if !before {
		d.lostAt = d.lines.Pos()
	}
}

// startsSample takes the first line of a sample apart. The first one decides which layout without a time or without a
// thread is believed.
func (d *decoder) startsSample(line []byte) bool {
	s := &d.sample
	if s.parse(line) {
		if d.layout == noLayout {
			d.layout = tidAndTime
		}
		return true
	}
	if d.layout == tidAndTime || isFrame(line) {
		return false
	}
	switch d.layout {
	case timeOnly:
		return s.parseTimeOnly(line)
	case tidAndEvent:
		return s.parseNoTime(line)
	}
	d.layout = partialLayout(s, line)
	return d.layout != noLayout
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
func (d *decoder) indented(line []byte) lineKind {
	address, text, ok := cutAddress(line)
	switch {
	case ok && bytes.HasPrefix(text, []byte("insn:")):
		return detailLine
	case ok:
		d.address, d.text = address, text
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

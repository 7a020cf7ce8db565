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
	switch line = d.lines.Bytes(); {
	case line[0] == ' ' || isPlainFrame(line):
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
	switch d.layout {
	case tidAndTime:
		return false
	case noLayout:
		line, b := d.look()
		d.layout = partialLayout(s, line, b)
		return d.layout != noLayout
	case beforeFrames:
		line, b := d.look()
		return s.parseAs(d.layout, line, b)
	}
	return !isFrame(line) && s.parseAs(d.layout, line, behind{})
}

// look returns the current line again, and what stands behind it. The line as it was before is given up.
func (d *decoder) look() (line []byte, b behind) {
	d.lines.Back()
	_, rest := lineOf(d.lines.Head(headSize))
	b = lookBehind(rest)
	d.lines.Next()
	return d.lines.Bytes(), b
}

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
		return isPlainFrame(line)
	}
	_, text, ok := cutAddress(line)
	return ok && len(text) > 0 && (line[0] == '\t' || !hasColumns(text))
}

// hasColumns reports whether text, which blanks and a word of hexadecimal digits stand before, belongs to a sample line
// whose thread has such a name or is all there is of it.
func hasColumns(text []byte) bool {
	if end := trimRight(text); len(end) > 0 && end[len(end)-1] == ':' {
		return true
	}
	first, _ := cutToken(trimLeft(text))
	_, isNumber := number(first)
	_, end := nextTime(text, 0)
	return end > 0 || isNumber || isMisc(first) || len(first) > 2 && first[0] == '[' && isDigit(first[1])
}

// isPlainFrame reports whether line is a frame whose indentation got lost on the way.
func isPlainFrame(line []byte) bool {
	const shortest = len("1000 f (x)")
	if len(line) < shortest || hexValue[line[0]] == 0xff || line[len(line)-1] != ')' {
		return false
	}
	address, text, ok := cutAddress(line)
	return ok && address > 0xfff && bytes.Contains(text, []byte(" ("))
}

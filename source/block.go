package source

import "bytes"

// A long text is decoded in blocks at the same time, where its format lets one be cut: at blank lines. Whoever does that
// takes blocks of the lines to come, and returns them if one turns out to be no such text.

// Block copies the text from the line to come to the last blank line that is within buf, which it takes. It takes nothing
// and returns nil if there is none, and in a quotation.
func (l *Lines) Block(buf []byte) (block []byte, at Pos) {
	l.in.consume(l.size)
	l.size, l.cur = 0, nil
	if len(l.quote) > 0 {
		return nil, Pos{}
	}
	at = l.Pos()
	n := l.in.take(buf)
	end := blankLine(buf[:n])
	l.in.putBack(buf[end:n])
	if end == 0 {
		return nil, Pos{}
	}
	l.line += bytes.Count(buf[:end], []byte{'\n'})
	return buf[:end], at
}

// blankLine returns the place behind the last blank line of b, 0 if there is none.
func blankLine(b []byte) int {
	end := 0
	for _, blank := range []string{"\n\n", "\n\r\n"} {
		if i := bytes.LastIndex(b[end:], []byte(blank)); i >= 0 {
			end += i + len(blank)
		}
	}
	return end
}

// Return makes blocks that were taken, the last ones, the lines to come again. at is the place of the first of them.
func (l *Lines) Return(blocks []byte, at Pos) {
	l.in.consume(l.size)
	l.size, l.cur = 0, nil
	l.in.putBack(blocks)
	l.line = at.Line - 1
}

// BlockLines reads a block as lines, with their places in the text that it was taken from.
func BlockLines(block []byte, at Pos, ledger *Ledger) *Lines {
	in := &Input{name: at.Source, buf: block, end: len(block), offset: at.Offset, done: true}
	return &Lines{in: in, ledger: ledger, line: at.Line - 1, eol: true, Foreign: func([]byte) bool { return false }}
}

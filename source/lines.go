package source

import "bytes"

// maxLine bounds a line: longer ones are cut there and counted. Folded stacks a few thousand frames deep fit.
const maxLine = 4 << 20

// Lines reads an input line by line. It is what text decoders get: they take the lines that are theirs and put the
// first foreign one Back, after which another format may go on from there.
//
//	for lines.Next() {
//		if !mine(lines.Bytes()) {
//			lines.Back()
//			break
//		}
//		...
//	}
type Lines struct {
	// Foreign reports whether an output of another format surely begins at head (the rest of the input from the
	// beginning of a line). Decoders whose own lines may be damaged ask it to tell damage from the next output.
	Foreign func(head []byte) bool

	in      *Input
	ledger  *Ledger
	line    int
	size    int // bytes of the current line in the buffer, consumed by the next call
	cur     []byte
	plain   []byte // the current line, where it had to be freed of what a terminal acts on
	escaped int    // the last line that had escapes of a terminal
	quote   []byte // prefix that all lines of a quoted output carry
	eol     bool
}

// NewLines reads in as lines and enters cut lines into the ledger.
func NewLines(in *Input, ledger *Ledger) *Lines {
	l := &Lines{in: in, ledger: ledger, eol: true, Foreign: func([]byte) bool { return false }}
	in.SkipMark()
	return l
}

// SkipMark passes over the byte order mark of UTF-8, which is no text, if the input to come begins with one.
func (in *Input) SkipMark() {
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(in.Peek(len(mark)), mark) {
		in.consume(len(mark))
	}
}

// Quoted makes the lines those that begin with prefix, without it, until another line comes: there the lines end.
// An empty prefix ends the quotation.
func (l *Lines) Quoted(prefix string) { l.quote = []byte(prefix) }

// Next goes to the next line and reports whether there is one.
func (l *Lines) Next() bool {
	l.in.consume(l.size)
	l.size, l.cur = 0, nil
	n := l.in.line(maxLine)
	if n == 0 {
		return false
	}
	raw := l.in.buf[l.in.start : l.in.start+n]
	cur := raw
	if l.eol = raw[n-1] == '\n'; l.eol {
		cur = cur[:n-1]
	}
	if k := len(cur); k > 0 && cur[k-1] == '\r' {
		cur = cur[:k-1]
	}
	if len(l.quote) > 0 {
		rest, quoted := unquote(cur, l.quote)
		if !quoted {
			return false
		}
		cur = rest
	}
	escapes := bytes.IndexByte(cur, escape) >= 0
	if escapes {
		l.plain = unterminal(cur, l.plain)
		cur = l.plain
	}
	l.line++
	l.size, l.cur = n, cur
	if escapes && l.line > l.escaped {
		l.escaped = l.line
		l.ledger.Add("terminal-escapes", Note, l.Pos(), 1, "what only a terminal acts on (colours, titles) is taken off the line")
	}
	if !l.eol && n == maxLine {
		l.ledger.Add("long-line", Warning, l.Pos(), 1, "the line is longer than 4 MiB; it is read as several lines")
	}
	return true
}

// unquote takes the prefix off a line; a blank line of the quotation may lack the prefix's trailing blanks.
func unquote(line, prefix []byte) (rest []byte, quoted bool) {
	if bytes.HasPrefix(line, prefix) {
		return line[len(prefix):], true
	}
	if bytes.Equal(line, bytes.TrimRight(prefix, " \t")) {
		return nil, true
	}
	return line, false
}

// Bytes returns the current line without its end (LF or CR LF) and what only a terminal acts on. It is valid until the next call of a method.
func (l *Lines) Bytes() []byte { return l.cur }

// Pos returns the place of the current line; after Back, or before the first Next, that of the line to come.
func (l *Lines) Pos() Pos {
	line := l.line
	if l.size == 0 {
		line++
	}
	return Pos{Source: l.in.name, Offset: l.in.offset, Line: line}
}

// Back puts the current line back: the next call of Next returns it again. It can be called once for each Next.
func (l *Lines) Back() {
	if l.size > 0 {
		l.size, l.cur = 0, nil
		l.line--
	}
}

// foreignHead is how much of the input Stray shows to Foreign.
const foreignHead = 16 << 10

// Stray reports whether the current line, which the decoder does not understand, stands within its output: no output of
// another format surely begins with it. The line stays the current one, but what Bytes returned before is gone.
func (l *Lines) Stray() bool {
	l.Back()
	foreign := l.Foreign(l.Head(foreignHead))
	l.Next()
	return !foreign
}

// Head returns up to n bytes that follow the current line (after Back, or before the first Next, that begin with the
// line to come), without consuming them and, in a quotation, without its prefix. They are valid until the next call.
func (l *Lines) Head(n int) []byte {
	// Peek may move the buffer, so the current line is given up here.
	l.in.consume(l.size)
	l.size, l.cur = 0, nil
	if len(l.quote) == 0 {
		return unterminal(l.in.Peek(n), nil)
	}
	head := Unquote(unterminal(l.in.Peek(max(n, foreignHead)), nil), string(l.quote))
	return head[:min(n, len(head))]
}

// Unquote returns the lines at the beginning of head that carry the prefix, without it.
func Unquote(head []byte, prefix string) []byte {
	var plain []byte
	for line := range bytes.Lines(head) {
		text := bytes.TrimRight(line, "\r\n")
		rest, quoted := unquote(text, []byte(prefix))
		if !quoted {
			break
		}
		plain = append(plain, rest...)
		if len(text) < len(line) {
			plain = append(plain, '\n')
		}
	}
	return plain
}

// Complete reports whether the last line read had an end; without one, the input may have been cut in it.
func (l *Lines) Complete() bool { return l.eol }

// Input returns the input below.
func (l *Lines) Input() *Input { return l.in }

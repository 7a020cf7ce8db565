package analyze

import (
	"bytes"

	"nettrace/source"
)

// headBytes is how much of an input, or of what follows in a text, formats are recognised by.
const headBytes = 4096

// longHeadBytes is what it takes where the first line fills most of headBytes: /proc/interrupts of a thousand CPUs.
const longHeadBytes = 64 << 10

// headOf returns what formats are recognised by. It holds a good part of the second line, too.
func headOf(peek func(n int) []byte) []byte {
	head := peek(headBytes)
	if end := bytes.IndexByte(head, '\n'); len(head) == headBytes && (end < 0 || end > headBytes/2) {
		return peek(longHeadBytes)
	}
	return head
}

// recognise returns the format whose own head surely is, or nil. Weak answers count only for a whole input, and only if
// exactly one format gives one: two would be a guess.
func recognise(formats []Format, head []byte, whole bool) *Format {
	var weak *Format
	ambiguous := false
	for i := range formats {
		switch f := &formats[i]; f.Sniff(head) {
		case source.Strong:
			return f
		case source.Weak:
			ambiguous = weak != nil
			weak = f
		}
	}
	if !whole || ambiguous {
		return nil
	}
	return weak
}

// binary reports whether head is no text: it has a NUL byte or many other control characters.
func binary(head []byte) bool {
	odd := 0
	for _, c := range head {
		if c == 0 {
			return true
		}
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b && c != '\b' {
			odd++
		}
	}
	return odd > len(head)/10
}

// quotation returns the prefix that makes the line at the beginning of head a quoted one ("> ", ">> ", "> > "), or an
// indented one, as code of an issue is; else "". It is sure where the next line is quoted too, or all lines indented.
func quotation(head []byte) (prefix string, sure bool) {
	line, _, _ := bytes.Cut(head[:min(len(head), 40)], []byte("\n"))
	n := 0
	for i, c := range line {
		if c == '>' {
			n = i + 1
		} else if c != ' ' {
			break
		}
	}
	if n == 0 {
		prefix = string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
		return prefix, prefix != "" && bytes.Count(source.Unquote(head, prefix), []byte("\n")) == bytes.Count(head, []byte("\n"))
	}
	if n < len(line) && line[n] == ' ' {
		n++
	}
	prefix = string(line[:n])
	return prefix, bytes.Count(source.Unquote(head, prefix), []byte("\n")) > 1
}

// tried tells what an input would have had to be.
func tried(formats []Format, text bool) []string {
	var names []string
	for _, f := range formats {
		if f.Text() == text {
			names = append(names, f.Name)
		}
	}
	return names
}

// foreign returns the question that text decoders ask: does an output of another format begin here?
func foreign(formats []Format, own *Format) func(head []byte) bool {
	others := make([]Format, 0, len(formats))
	for _, f := range formats {
		if f.Text() && f.Name != own.Name {
			others = append(others, f)
		}
	}
	return func(head []byte) bool { return recognise(others, head, false) != nil }
}

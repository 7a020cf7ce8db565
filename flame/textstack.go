package flame

import (
	"bytes"
	"encoding/binary"

	"nettrace/source"
)

// textFolder folds stacks that a text prints frame by frame, leaf first.
type textFolder struct {
	*builder
	lines   *source.Lines
	known   map[string]uint32 // locations by the text of their frames, and what else tells them apart
	stack   []byte            // of the entry at hand
	scratch []byte            // a key of known
	ignored int64             // keys beside stack and thread name, which the profile has no place for
	keyAt   source.Pos        // of the first one
	bad     int64             // lines that are not understood
	badAt   source.Pos
}

func newTextFolder(l *source.Lines, ledger *source.Ledger) textFolder {
	return textFolder{builder: newBuilder(l.Pos().Source, ledger), lines: l, known: map[string]uint32{}}
}

// located returns the location of a frame's text in an object; symbol makes its name, and is asked once for each text.
func (f *textFolder) located(text []byte, object string, symbol func(string) string) uint32 {
	f.scratch = append(append(append(f.scratch[:0], text...), 0), object...)
	id, known := f.known[string(f.scratch)]
	if !known {
		id = f.location([]line{{symbol: symbol(string(text))}}, object)
		f.known[string(f.scratch)] = id
	}
	return id
}

func asPrinted(text string) string { return text }

func (f *textFolder) push(location uint32) { f.stack = appendLocation(f.stack, location) }

// appendLocation appends a location to a stack as builder.add takes it.
func appendLocation(stack []byte, location uint32) []byte {
	return binary.LittleEndian.AppendUint32(stack, location)
}

// unknown counts a line that is not understood.
func (f *textFolder) unknown(at source.Pos) {
	if f.bad++; f.bad == 1 {
		f.badAt = at
	}
}

// ignore counts keys that are not kept.
func (f *textFolder) ignore(n int, at source.Pos) {
	if f.ignored == 0 && n > 0 {
		f.keyAt = at
	}
	f.ignored += int64(n)
}

// done enters what was left out and makes the profile.
func (f *textFolder) done(p *Profile, expected string) *Profile {
	if f.bad > 0 {
		f.ledger.Add("unrecognised-line", source.Warning, f.badAt, f.bad, expected+"; skipped")
	}
	if f.ignored > 0 {
		f.ledger.Add("key-not-kept", source.Note, f.keyAt, f.ignored, "keys beside the stacks and the first text, which is taken for the thread's name, are left out; the samples count")
	}
	f.finish(p)
	return p
}

// isNumber reports whether all of b is a decimal integer.
func isNumber(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// isHex reports whether b is made of hexadecimal digits.
func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return len(b) > 0
}

// isAddress reports whether a name is an address that no symbol was found for: 0x and hexadecimal digits.
func isAddress(name []byte) bool {
	return len(name) > 2 && name[0] == '0' && name[1]|0x20 == 'x' && isHex(name[2:])
}

// indent returns how many blanks and tabs a line begins with.
func indent(line []byte) int {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return n
}

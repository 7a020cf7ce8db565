package source

import "bytes"

const escape = 0x1b

// unterminal returns line without what only a terminal acts on, as it stands in recordings of sessions (script) and in
// coloured output (sar with S_COLORS, ip -c, grep --color): control sequences ESC [ ... and commands ESC ] ... BEL
// (ECMA-48, 5.4 and 5.6; xterm's ctlseqs). A line without escapes is returned as it is, else the text is put into buf.
func unterminal(line, buf []byte) []byte {
	at := bytes.IndexByte(line, escape)
	if at < 0 {
		return line
	}
	plain := buf[:0]
	for at >= 0 {
		plain = append(plain, line[:at]...)
		line = line[at+sequence(line[at:]):]
		at = bytes.IndexByte(line, escape)
	}
	return append(plain, line...)
}

// sequence returns the length of the sequence that text begins with; it ends with the line at the latest.
func sequence(text []byte) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '[':
		for i, c := range text[2:] {
			if c < ' ' || c > '~' {
				return 2 + i // no sequence goes on so: it is damaged
			}
			if c >= '@' {
				return 2 + i + 1
			}
		}
		return len(text)
	case ']':
		end := bytes.IndexAny(text[2:], "\a\n\x1b")
		switch {
		case end < 0:
			return len(text)
		case text[2+end] == '\a':
			return 2 + end + 1
		}
		return 2 + end // of ESC \, the other end, the rest is a sequence of its own
	}
	return 2
}

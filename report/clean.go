// Package report prints results: as text for the terminal, as Markdown and as tables for scripts. Every text that comes
// from an input passes through Clean on its way out.
package report

import (
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean makes text that comes from an input harmless and visible: control characters, bidirectional marks, other
// invisible format characters and broken UTF-8 become escapes such as \x1b or \u202e. Printable text is returned as is.
func Clean(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return clean(s)
		}
	}
	return s
}

func clean(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(hex(`\x`, 2, rune(s[i])))
		case r < ' ' || r == 0x7f:
			b.WriteString(hex(`\x`, 2, r))
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			if r > 0xffff {
				b.WriteString(hex(`\U`, 8, r))
			} else {
				b.WriteString(hex(`\u`, 4, r))
			}
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func hex(prefix string, digits int, r rune) string {
	const set = "0123456789abcdef"
	out := make([]byte, digits)
	for i := digits - 1; i >= 0; i-- {
		out[i] = set[r&15]
		r >>= 4
	}
	return prefix + string(out)
}

// Plain returns a writer of JSON whose strings hold no character that acts on a terminal: what Clean escapes, JSON
// escapes too, so that readers get the text as it was.
func Plain(w io.Writer) io.Writer { return plain{w} }

type plain struct{ w io.Writer }

func (p plain) Write(text []byte) (int, error) {
	if !slices.ContainsFunc(text, func(c byte) bool { return c >= 0x7f }) {
		return p.w.Write(text)
	}
	out := make([]byte, 0, len(text)+64)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r >= 0x7f && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = append(out, hex(`\u`, 4, rune(unit))...)
			}
		} else {
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

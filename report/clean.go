// Package report prints results: as text for the terminal, as Markdown and as tables for scripts. Every text that comes
// from an input passes through Clean on its way out.
package report

import (
	"strings"
	"unicode"
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

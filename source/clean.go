package source

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text that comes from an input harmless and visible: control characters, bidirectional marks, other
// invisible format characters and broken UTF-8 become escapes such as \x1b or \u202e. Printable text is returned as is.
// Every view passes such text through it.
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
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case Acts(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case Acts(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Acts reports whether a character acts on a terminal or on the text around it instead of being shown.
func Acts(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// Excerpt quotes the beginning of a line for a message: `"eth0: 12 …"`. It holds valid UTF-8 without control characters.
func Excerpt(line []byte) string {
	const most = 60
	s := []rune(string(bytes.ToValidUTF8(bytes.TrimSpace(line), []byte("?"))))
	if len(s) > most {
		s = append(s[:most], '…')
	}
	for i, r := range s {
		if r < ' ' {
			s[i] = ' '
		}
	}
	return `"` + string(s) + `"`
}

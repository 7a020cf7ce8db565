package flame

import (
	"strings"
	"unicode/utf8"
)

// Clean makes a name fit to be shown in any view: control characters become their pictures (U+2400 to U+2421), and what
// is no character, may not stand in XML, or changes the direction of the text around it becomes U+FFFD.
func Clean(name string) string {
	if !strings.ContainsFunc(name, isOdd) {
		return name
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return '\u2400' + r
		case r == 0x7f:
			return '\u2421'
		case isOdd(r):
			return utf8.RuneError
		}
		return r
	}, name)
}

func isOdd(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0: // control characters
		return true
	case r == 0x200e, r == 0x200f, r == 0x061c, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // direction
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff: // line ends in scripts, and a mark that no view shows
		return true
	}
	return r == utf8.RuneError || r&0xfffe == 0xfffe
}

// escapeXML writes a cleaned name into element text or a quoted attribute.
var escapeXML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace

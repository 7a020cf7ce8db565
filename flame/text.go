package flame

import (
	"strings"
	"unicode/utf8"

	"nettrace/source"
)

// Clean makes a name fit to be shown in any view: control characters become their pictures (U+2400 to U+2421), and what
// is no character, may not stand in XML, or acts on the text around it becomes U+FFFD.
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

func isOdd(r rune) bool { return source.Acts(r) || r == utf8.RuneError || r&0xfffe == 0xfffe }

// escapeXML writes a cleaned name into element text or a quoted attribute.
var escapeXML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace

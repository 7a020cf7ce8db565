// Package report prints results: as text for the terminal, as Markdown and as tables for scripts. Every text that comes
// from an input passes through Clean on its way out.
package report

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"nettrace/source"
)

// Clean makes text that comes from an input harmless and visible, see source.Clean.
func Clean(s string) string { return source.Clean(s) }

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
		if r >= 0x7f && source.Acts(r) {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
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

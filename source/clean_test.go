package source

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"eth2 näh":                 "eth2 näh",
		"\x1b[31mred\x07":          `\x1b[31mred\x07`,
		"a\u202eb\u2066c":          `a\u202eb\u2066c`,
		"\xff\xfe":                 `\xff\xfe`,
		"tab\tnew\nline\u2028":     `tab\x09new\x0aline\u2028`,
		"\u009b31m C1 \U000e0041x": `\u009b31m C1 \U000e0041x`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, Acts) {
			t.Errorf("Clean(%q) = %q", s, got)
		}
		if Clean(got) != got {
			t.Errorf("not stable: %q", got)
		}
	})
}

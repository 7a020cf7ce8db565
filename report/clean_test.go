package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
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
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%q keeps %U", got, r)
			}
		}
		if Clean(got) != got {
			t.Errorf("not stable: %q", got)
		}
	})
}

func TestPlainJSONReadsBackAsItWas(t *testing.T) {
	const name = "eth\u202e\u009b31m\u2028\x7f näh \U000e0041"
	var b bytes.Buffer
	if err := JSONLines(&b)(map[string]string{"name": name}); err != nil {
		t.Fatal(err)
	}
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%q keeps %U", b.String(), r)
		}
	}
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back["name"] != name {
		t.Errorf("read back %q, %v", back["name"], err)
	}
}

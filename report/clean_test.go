package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

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

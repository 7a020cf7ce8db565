package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/finding"
)

// variantLogs parts the bundle's log by the value of the setting.
func variantLogs(t *testing.T) (copied, zero string) {
	t.Helper()
	data, err := os.ReadFile("../fixtures/bundles/zero-copy/netperf.txt")
	if err != nil {
		t.Fatal(err)
	}
	to := &copied
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, "# echo 0") {
			to = &copied
		} else if strings.Contains(line, "# echo 1") {
			to = &zero
		}
		*to += line
	}
	return copied, zero
}

// TestZeroCopyTies: results of two variants are compared only if nothing says that they are of other hosts or another time.
func TestZeroCopyTies(t *testing.T) {
	copied, zero := variantLogs(t)
	settings, err := os.ReadFile("../fixtures/bundles/rr-4345/before.ethtool-c.txt")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := strings.ReplaceAll(zero, "192.0.2.143", "198.51.100.8")
	for _, test := range []struct {
		name       string
		files      map[string]string
		told       bool
		confidence finding.Level
		says       string
	}{
		{"two logs", map[string]string{"copy.txt": copied, "zcopy.txt": zero}, true, finding.High, ""},
		{"a folder for each variant", map[string]string{"off/netperf.txt": copied, "on/netperf.txt": zero}, true, finding.High, ""},
		{"to another host", map[string]string{"copy.txt": copied, "zcopy.txt": elsewhere}, false, 0, ""},
		{"a folder for each host", map[string]string{"a/netperf.txt": copied, "a/ethtool-c.txt": string(settings), "b/netperf.txt": zero, "b/ethtool-c.txt": string(settings)}, false, 0, ""},
		{"two hours apart", map[string]string{"before.netperf.20261130T100000.000Z.txt": copied, "after.netperf.20261130T120000.000Z.txt": zero}, true, finding.Medium, "apart from the first"},
		{"three days apart", map[string]string{"before.netperf.20261127T100000.000Z.txt": copied, "after.netperf.20261130T100000.000Z.txt": zero}, false, 0, ""},
	} {
		dir := t.TempDir()
		for name, text := range test.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r := diagnosed(t, dir)
		f := toldOf(r, "cross/zero-copy-threshold")
		switch {
		case test.told != (f != nil):
			t.Errorf("%s: told %v: %v", test.name, f != nil, rulesOf(r.Findings))
		case f != nil && (f.Confidence != test.confidence || !slices.ContainsFunc(f.Reasons, func(s string) bool { return strings.Contains(s, test.says) })):
			t.Errorf("%s: confidence %s: %q", test.name, f.Confidence, f.Reasons)
		}
	}
}

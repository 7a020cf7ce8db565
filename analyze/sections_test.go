package analyze

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Sections of one file describe their interfaces anew, which are the same: a capture that was cut anywhere and joined
// with cat is analysed as if it were whole, without a retransmission across the seam taken for a copy of another interface.
func TestJoinedSectionsAreOneCapture(t *testing.T) {
	all := slices.DeleteFunc(recordings(t), func(r recording) bool {
		return strings.Contains(r.path, "custom-block") // which takes a record number in each section
	})
	whole := map[string]string{}
	rapid.Check(t, func(rt *rapid.T) {
		r := all[rapid.IntRange(0, len(all)-1).Draw(rt, "recording")]
		n := rapid.IntRange(0, len(r.offsets)).Draw(rt, "cut")
		if whole[r.path] == "" {
			whole[r.path] = connectionsAndFindings(t, run(t, r.path))
		}
		var joined []byte
		for _, path := range r.cut(t, n, [2]string{"a", "b"}) {
			part, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			joined = append(joined, part...)
		}
		path := filepath.Join(t.TempDir(), "joined"+filepath.Ext(r.path))
		if err := os.WriteFile(path, joined, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := connectionsAndFindings(t, run(t, path)); got != whole[r.path] {
			rt.Fatalf("%s with a second section before packet %d:\n%s", r.path, n+1, firstDifference(got, whole[r.path]))
		}
	})
}

// connectionsAndFindings is learnt without what differs from container to container: how its interfaces are described.
func connectionsAndFindings(t testing.TB, r *Result) string {
	for _, c := range r.Models.Captures {
		c.Interfaces = nil
	}
	return learnt(t, r)
}

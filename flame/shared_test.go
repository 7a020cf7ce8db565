package flame

import (
	"os"
	"path/filepath"
	"testing"
)

// shared returns a path in the folder of shared test data, and skips the test if that is not there.
func shared(t testing.TB, path string) string {
	t.Helper()
	root := os.Getenv("NETTRACE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	p := filepath.Join(root, path)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("no shared test data at %s; set NETTRACE_SHARED", p)
	}
	return p
}

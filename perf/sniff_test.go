package perf

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

func TestSniffFixtures(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "fixtures", "stacks", "*.perf.txt*"))
	if len(files) < 10 {
		t.Fatalf("%d fixtures", len(files))
	}
	for _, path := range files {
		text := shared.Read(t, path)
		got := SniffScript(text[:min(len(text), 4096)])
		if want := source.Strong; got != want && !strings.Contains(path, "ip-sym") {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// TestSniffFramesOnly: the output of -F ip,sym begins with a blank line, which is nobody's; its second line is perf's.
func TestSniffFramesOnly(t *testing.T) {
	_, behind := lineOf(shared.Read(t, filepath.Join("..", "fixtures", "stacks", "ip-sym.perf.txt")))
	if got := SniffScript(behind[:min(len(behind), 4096)]); got != source.Strong {
		t.Errorf("%v, want %v", got, source.Strong)
	}
}

// TestSniffOthers asks at every line of many other outputs: none of them is perf's.
func TestSniffOthers(t *testing.T) {
	root := shared.Path(t, "data")
	asked := 0
	for _, pattern := range []string{"threads/*.txt", "counters/*/*", "locks/*.txt", "locks/constructed/*", "published/*", "public-counters/*", "public-locks/*", "stacks/bpftrace/*", "stacks/go-pprof/*.txt", "stacks/*.folded",
		"public-stacks/bcc/*", "public-stacks/lockstat/*", "public-stacks/flamegraph/example*", "public-stacks/inferno/collapse-dtrace/*.txt", "public-stacks/inferno/collapse-pmc/*.txt", "public-stacks/speedscope/folded*", "public-stacks/speedscope/pmcstat*"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range files {
			if strings.Contains(path, "script") || strings.HasSuffix(path, ".gz") { // perf's own
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				continue // a folder
			}
			line := 0
			for rest := text; len(rest) > 0; {
				line++
				asked++
				if got := SniffScript(rest[:min(len(rest), 4096)]); got == source.Strong {
					t.Errorf("%s:%d: %v", path, line, got)
					break
				}
				i := bytes.IndexByte(rest, '\n')
				if i < 0 {
					break
				}
				rest = rest[i+1:]
			}
		}
	}
	if asked < 10000 {
		t.Errorf("only %d lines were there to ask", asked)
	}
}

// FuzzSniff: whatever is Strong, the reader takes at least a line of, so that reading comes to an end.
func FuzzSniff(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("..", "fixtures", "stacks", "*.perf.txt"))
	for _, path := range files {
		text := shared.Read(f, path)
		f.Add(text[:min(len(text), 2000)])
	}
	f.Add([]byte("a 1 cycles: \n 12 f (x)\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if SniffScript(text) != source.Strong {
			return
		}
		r, _ := readAll(t, text)
		for n := 0; ; n++ {
			e, err := r.Next()
			if err != nil {
				break
			}
			if len(e.Stack) > maxDepth || n > len(text) {
				t.Fatalf("sample %d with %d frames from %d bytes", n, len(e.Stack), len(text))
			}
			for _, frame := range e.Stack {
				if frame.Function == nil || frame.Symbol == "" {
					t.Fatal("a frame without a name")
				}
			}
		}
		if r.text.lines.Pos().Offset == 0 {
			t.Error("recognised, but no line of it was taken")
		}
	})
}

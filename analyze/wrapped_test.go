package analyze

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// People send outputs as their programs show them: from Windows, quoted in a mail, as code of an issue, behind a prompt.
// What is read is the same.
func TestWrappedTextsAreEqual(t *testing.T) {
	lines := func(text, prefix string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(prefix + line)
		}
		return b.String()
	}
	wraps := []struct {
		name   string
		inside bool // of other text, where only what surely is an output is taken for one
		wrap   func(string) string
	}{
		{"CR LF", false, func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
		{"byte order mark", false, func(s string) string { return "\xef\xbb\xbf" + s }},
		{"quoted", true, func(s string) string { return lines(s, "> ") }},
		{"quoted twice", true, func(s string) string { return lines(s, "> > ") }},
		{"quoted inside", true, func(s string) string { return "You wrote:\n" + lines(s, ">> ") + "I see.\n" }},
		{"in a fence", true, func(s string) string { return "Hello,\n\n```\n" + s + "```\n\nBye\n" }},
		{"indented as code", true, func(s string) string { return lines(s, "    ") }},
	}
	tried := 0
	for _, path := range textFixtures(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		want := readings(t, text)
		if !strings.HasSuffix(text, "\n") || len(want) == 0 {
			continue
		}
		tried++
		f := recognise(Formats(), data, false)
		sure := f != nil && f.Text()
		for _, w := range wraps {
			if w.inside && !sure {
				continue
			}
			if got := readings(t, w.wrap(text)); !slices.Equal(got, want) {
				t.Errorf("%s, %s: read as %v, plain as %v", path, w.name, got, want)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d fixtures", tried)
	}
}

// textFixtures lists the fixtures whose content is text.
func textFixtures(t *testing.T) (paths []string) {
	t.Helper()
	for _, area := range []string{"counters", "bench", "locks", "stacks"} {
		err := filepath.WalkDir(filepath.Join("..", "fixtures", area), func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && d.Type().IsRegular() && (ext == ".txt" || ext == ".json") {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// readings is what was recognised in a text, with how much of it was read.
func readings(t *testing.T, text string) (list []string) {
	t.Helper()
	r, _ := Inspect(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(text)})
	for _, s := range r.Sources {
		if s.Format != "" {
			list = append(list, fmt.Sprintf("%s %d", s.Format, s.Records))
		}
	}
	return list
}

package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/fixtures/hostile"
)

// TestHostileNames lets all views show inputs of all formats whose names are hostile.
func TestHostileNames(t *testing.T) { hostile.Each(t, filepath.Join(root, "fixtures"), shownHarmless) }

// shownHarmless lets all views show an input.
func shownHarmless(t *testing.T, kind analyze.Kind, path string) {
	t.Helper()
	for _, args := range commandsOf(kind) {
		_, out, errs := command(t, nil, append(args, path)...)
		name := strings.Join(args, " ")
		hostile.Harmless(t, name, out)
		hostile.Harmless(t, name+", its messages", errs)
		switch form := args[len(args)-1]; {
		case out == "":
		case form == "markdown":
			harmlessMarkup(t, name, strings.ReplaceAll(out, `"onload="`, "")) // text, where no tag can begin
		case form == "html":
			harmlessMarkup(t, name, out)
		case form == "svg":
			harmlessMarkup(t, name, out)
			if err := eachToken(out, func(xml.Token) {}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case form == "json":
			if !json.Valid([]byte(out)) {
				t.Errorf("%s: no JSON", name)
			}
		}
	}
	result := filepath.Join(t.TempDir(), "result.json")
	if _, out, _ := command(t, nil, "analyze", "-o", "json", path); out != "" {
		if err := os.WriteFile(result, []byte(out), 0o666); err != nil {
			t.Fatal(err)
		}
		_, again, errs := command(t, nil, "analyze", "-v", result)
		hostile.Harmless(t, "the result, read again", again+errs)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	if code, _, errs := command(t, nil, "report", "-o", page, path); code != exitDone {
		t.Fatalf("report: exit %d, %s", code, errs)
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	hostile.Harmless(t, "the page", string(html))
	harmlessMarkup(t, "the page", string(html))
}

func commandsOf(kind analyze.Kind) [][]string {
	list := [][]string{{"inspect"}, {"analyze"}, {"analyze", "-v"}, {"analyze", "-o", "json"}, {"analyze", "-o", "markdown"}, {"records"}}
	switch kind {
	case analyze.Capture:
		list = append(list, []string{"flows"}, []string{"flows", "--detail", "1"}, []string{"packets"}, []string{"flows", "-o", "json"})
	case analyze.Stacks:
		for _, form := range []string{"svg", "html", "folded", "json", "markdown", "speedscope"} {
			list = append(list, []string{"flame", "--format", form})
		}
		list = append(list, []string{"flame", "--top", "9"})
	case analyze.Locks:
		list = append(list, []string{"locks"}, []string{"locks", "-o", "json"})
	case analyze.Counters, analyze.Settings:
		list = append(list, []string{"counters"}, []string{"counters", "-o", "json"})
	case analyze.Benchmark:
		list = append(list, []string{"compare"}, []string{"compare", "-o", "json"})
	}
	return list
}

// harmlessMarkup fails if markup of a name is markup.
func harmlessMarkup(t *testing.T, name, text string) {
	t.Helper()
	for _, part := range []string{"<svg/onload", `"onload="`, "</title><svg", `<i>"`} {
		if at := strings.Index(text, part); at >= 0 {
			t.Errorf("%s holds %q", name, text[max(0, at-60):min(len(text), at+30)])
		}
	}
}

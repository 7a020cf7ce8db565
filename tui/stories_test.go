package tui

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStories draws the first finding of the bundle of each story, for the pages of docs/stories.
func TestStories(t *testing.T) {
	root(t)
	pages, err := filepath.Glob("docs/stories/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		bundle := regexp.MustCompile(`nettrace explore (fixtures/bundles/\S+)`).FindSubmatch(text)
		if bundle == nil {
			t.Errorf("%s opens no bundle in the explorer", page)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		d := start(t, 100, 30, strings.TrimRight(string(bundle[1]), "`)")).press("enter")
		golden(t, "story-"+name+".golden", "100 x 30\n"+d.screen())
	}
}

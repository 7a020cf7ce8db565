package report

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/diagnose"
	"nettrace/fixtures/browser"
)

// pictureBytes bounds each picture of the documentation.
const pictureBytes = 100 << 10

// TestPicturesOfStories takes the first finding of the page of each story's bundle; -update takes the pictures of
// docs/stories anew.
func TestPicturesOfStories(t *testing.T) {
	t.Chdir("..")
	b := browser.Start(t)
	docs, err := filepath.Glob("docs/stories/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, doc := range docs {
		name := strings.TrimSuffix(filepath.Base(doc), ".md")
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(text), "nettrace report ")
		bundle, _, _ := strings.Cut(rest, " ")
		if !found {
			t.Errorf("%s makes no page", doc)
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, errs := analyze.Run(context.Background(), []string{bundle}, analyze.Options{})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			diagnose.Apply(r, nil)
			diagnose.Predict(context.Background(), r)
			x := browser.Open(t, b)
			x.Size(800, 440)
			x.Visit(browser.Address(saved(t, pageOf(t, r, HTMLOptions{}))))
			if first := browser.Value[string](x, `(() => { const a = document.querySelector("article.finding"); a.scrollIntoView(); return a.textContent })()`); !strings.Contains(first, "cross/"+name) {
				t.Errorf("the first finding is not the story's: %.200s", first)
			}
			takePicture(x, filepath.Join("docs/pictures/stories", name+".png"), 800, 440, pictureBytes)
		})
	}
}

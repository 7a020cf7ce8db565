package report

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

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
			shot, err := chromedp.Run(x.Context, chromedp.CaptureScreenshot())
			x.Must(err)
			file := filepath.Join("docs/pictures/stories", name+".png")
			if *update {
				x.Must(os.MkdirAll(filepath.Dir(file), 0o755))
				x.Must(os.WriteFile(file, shot, 0o644))
			}
			kept, err := os.ReadFile(file)
			x.Must(err)
			for _, picture := range [][]byte{shot, kept} {
				if c, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || c.Width != 800 || len(picture) > pictureBytes {
					t.Errorf("a picture %d wide of %d bytes, %v; expected 800 and at most %d bytes", c.Width, len(picture), err, pictureBytes)
				}
			}
		})
	}
}

package main

import (
	"encoding/xml"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
)

// TestCaseNames holds what the expected.md of case 26, names with XML characters, asks of the command; its sentences are
// quoted.
func TestCaseNames(t *testing.T) {
	input := filepath.Join(shared.Path(t, "cases"), "26-svg-escaping", "names.folded")
	draw := func(form string) string {
		code, out, stderr := command(t, nil, "flame", input, "--format", form, "-o", "-")
		if code != exitDone {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		return out
	}
	picture := draw("svg")

	// "The SVG is well-formed XML (any XML parser reads it), with an encoding that fits its bytes (UTF-8)."
	titles := titlesOf(t, picture)
	if !utf8.ValidString(picture) || !strings.HasPrefix(picture, `<?xml version="1.0" encoding="UTF-8"?>`) {
		t.Error("not UTF-8, or not said to be")
	}

	// "After parsing, the names are exactly those of the input", with their counts, "All below app with 18." "Shares: 5 of
	// 18 is 27.78%, 4 of 18 is 22.22%." Must not: "AT&T_<; names cut at a quote; % treated as a format."
	want := map[string]string{"all": "18 samples, 100.00%", "app": "18 samples, 100.00%",
		"std::vector<int, std::allocator<int> >::push_back(int&&)": "5 samples, 27.78%", "operator&&(A const&, B const&)": "3 samples, 16.67%",
		`Time::Moment::(""`: "2 samples, 11.11%", `it's "quoted"`: "1 samples, 5.56%", "AT&T_&lt": "1 samples, 5.56%", "100%% of %s": "1 samples, 5.56%",
		"µs_timer→irq": "1 samples, 5.56%", "[unknown]": "4 samples, 22.22%"}
	got := map[string]string{}
	for _, title := range titles {
		first, _, _ := strings.Cut(title, "\n")
		at := strings.LastIndex(first, " (")
		got[first[:at]] = strings.TrimSuffix(first[at+2:], ")")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names and values (-want +got):\n%s", diff)
	}

	// "Escaping holds in every place where a name occurs: title, text, attributes, data for scripts, description." The
	// parser above saw no foreign element; what is left are the data for scripts.
	elements := map[string]bool{}
	eachToken(t, picture, func(x xml.Token) {
		if e, ok := x.(xml.StartElement); ok {
			elements[e.Name.Local] = true
		}
	})
	if diff := cmp.Diff(map[string]bool{"svg": true, "title": true, "style": true, "rect": true, "g": true, "text": true, "metadata": true, "script": true}, elements); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}

	// "No entities beyond the five of XML and numeric ones in the SVG."
	markup, _, _ := strings.Cut(picture, "<script>")
	for _, entity := range regexp.MustCompile(`&[^;\s]*;?`).FindAllString(markup, -1) {
		if !regexp.MustCompile(`^&(amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);$`).MatchString(entity) {
			t.Errorf("entity %s", entity)
		}
	}

	// "The HTML report shows the same names" (that searching finds them is tested in a browser, in flame and report)
	page := draw("html")
	for name := range want {
		if escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(name); name != "all" && !strings.Contains(page, "<td>"+escaped+"</td>") {
			t.Errorf("the page has no row of %s", name)
		}
	}

	// The same bytes in every run.
	if draw("svg") != picture || draw("html") != page {
		t.Error("another run wrote something else")
	}
}

// titlesOf returns the titles of the boxes.
func titlesOf(t *testing.T, picture string) []string {
	t.Helper()
	var drawn struct {
		Frames struct {
			Boxes []struct {
				Title string `xml:"title"`
			} `xml:"svg"`
		} `xml:"svg"`
	}
	if err := xml.Unmarshal([]byte(picture), &drawn); err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, b := range drawn.Frames.Boxes {
		titles = append(titles, b.Title)
	}
	return titles
}

func eachToken(t *testing.T, text string, see func(xml.Token)) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		see(token)
	}
}

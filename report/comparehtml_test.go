package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/diagnose"
	"nettrace/fixtures/browser"
)

// comparedOf compares fixtures of benchmark results, and with two of them whatever else they hold.
func comparedOf(t testing.TB, by string, names ...string) *Compared {
	t.Helper()
	var sets []bench.Set
	var results []*analyze.Result
	var all []bench.Run
	for _, name := range names {
		r, errs := analyze.Run(t.Context(), []string{filepath.Join("..", "fixtures", "bench", name)}, analyze.Options{})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		results = append(results, r)
		sets = append(sets, bench.Set{Label: name, Runs: r.Models.Runs})
		all = append(all, r.Models.Runs...)
	}
	if by != "" {
		sets = bench.SplitBy(all, by)
	}
	c := &Compared{Comparisons: bench.Compare(sets, bench.CompareOptions{})}
	if len(results) == 2 && by == "" {
		c.Changes = diagnose.Compare(results[0], results[1])
	}
	return c
}

// wellFormed reads a document as XML.
func wellFormed(t testing.TB, name string, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func hostileSets() *Compared {
	const evil = `</svg><script>alert(1)</script>"'&` + "\x1b[2J\u202e"
	set := func(label string, add float64) bench.Set {
		s := bench.Set{Label: label}
		for i := range 8 {
			s.Runs = append(s.Runs, bench.Run{Tool: "iperf3", Test: evil, Unit: evil, Rate: 100 + add + float64(i%5), Streams: 1 + i%4})
		}
		return s
	}
	return &Compared{Comparisons: bench.Compare([]bench.Set{set(evil, 0), set("b"+evil, 50)}, bench.CompareOptions{})}
}

func TestComparePictures(t *testing.T) {
	for name, c := range map[string]struct {
		compared *Compared
		want     []string
	}{
		"samples": {comparedOf(t, "", "tso-on.mbps.txt", "tso-off.mbps.txt"), []string{`class="median"`, `class="interval"`}},
		"scaling": {comparedOf(t, "variant", "table-ring-scaling.csv"), []string{`class="fitted curve0"`, `class="crossing"`}},
		"sizes":   {comparedOf(t, "sdp_zcopy_thresh", "netperf-zcopy-log.txt"), []string{"message bytes", "sdp_zcopy_thresh=1"}},
		"one":     {comparedOf(t, "", "tso-on.mbps.txt"), []string{`class="median"`}},
		"hostile": {hostileSets(), []string{"&lt;script&gt;", `\u202e`}},
	} {
		var svg, again, page bytes.Buffer
		if err := CompareSVG(&svg, c.compared); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wellFormed(t, name, svg.Bytes())
		if err := CompareSVG(&again, c.compared); err != nil || again.String() != svg.String() {
			t.Errorf("%s: drawn twice, the picture differs (%v)", name, err)
		}
		if err := CompareHTML(&page, c.compared); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, text := range []string{svg.String(), page.String()} {
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %q is missing", name, want)
				}
			}
			if strings.Contains(text, "<script>alert") || strings.Contains(text, "\x1b") || strings.Contains(text, "http://") && !strings.Contains(text, "http://www.w3.org/2000/svg") {
				t.Errorf("%s: something was not escaped, or asks for another file", name)
			}
		}
	}
	if err := CompareSVG(io.Discard, &Compared{}); err == nil {
		t.Error("nothing to draw is no error")
	}
}

// TestComparePage has the page of two profiles: the differential flame graph with its table.
func TestComparePage(t *testing.T) {
	var page bytes.Buffer
	if err := CompareHTML(&page, comparedOf(t, "", "clean-bypass-disabled.folded", "clean-bypass-enabled.folded")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Differential flame graph", "iflib_if_transmit_bypass (+37.02%)", "-12.00 points"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// TestComparePageInBrowser opens pages: nothing is asked for, no error is raised, and nothing is wider than the window.
func TestComparePageInBrowser(t *testing.T) {
	t.Chdir("..")
	b := browser.Start(t)
	t.Chdir("report")
	for name, c := range map[string]*Compared{
		"tests":    comparedOf(t, "", "tso-on.mbps.txt", "tso-off.mbps.txt"),
		"curves":   comparedOf(t, "sdp_zcopy_thresh", "netperf-zcopy-log.txt"),
		"profiles": comparedOf(t, "", "clean-bypass-disabled.folded", "clean-bypass-enabled.folded"),
		"hostile":  hostileSets(),
	} {
		var page bytes.Buffer
		if err := CompareHTML(&page, c); err != nil {
			t.Fatal(err)
		}
		x := browser.Open(t, b)
		x.Visit(browser.Address(saved(t, page.Bytes())))
		x.Is(name+": fits the window", `document.documentElement.scrollWidth <= window.innerWidth`)
		if name == "profiles" {
			x.Is("boxes of the flame graph answer", `document.querySelectorAll("svg.flame .b").length > 5`)
		}
		x.Quiet()
	}
}

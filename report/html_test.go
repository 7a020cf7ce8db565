package report

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/analyze"
	"nettrace/diagnose"
	"nettrace/finding"
	"nettrace/fixtures/shared"
	"nettrace/source"
)

var update = flag.Bool("update", false, "write the golden files anew")

const demo = "fixtures/bundles/rr-4345"

// analysed reads, judges and diagnoses paths of the checkout, with the series for plots.
func analysed(t testing.TB, paths ...string) *analyze.Result {
	t.Helper()
	r, errs := analyze.Run(context.Background(), paths, analyze.Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	diagnose.Apply(r, nil)
	if err := analyze.CollectSeries(context.Background(), paths, r, analyze.SeriesOptions{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// pageOf makes the page of a result.
func pageOf(t testing.TB, r *analyze.Result, o HTMLOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// saved writes a page into a file.
func saved(t testing.TB, page []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPageOfTheDemo(t *testing.T) {
	t.Chdir("..")
	r := analysed(t, demo)
	page := pageOf(t, r, HTMLOptions{})
	if len(page) > 1_500_000 {
		t.Errorf("the page takes %d bytes; allowed are 1.5 MB", len(page))
	}
	if again := pageOf(t, analysed(t, demo), HTMLOptions{}); !bytes.Equal(page, again) {
		t.Error("the same recordings give another page")
	}
	p := parsePage(t, page)
	for _, need := range []string{"path.segment", "path.ack", "path.mark.tail-visible", "path.curve.curve1", "svg.flame", "table"} {
		if p.classes[need] == 0 {
			t.Errorf("the page has no %s", need)
		}
	}
}

// TestFindingsInTheOrderOfTheText compares the headings of the page with what analyze -v prints.
func TestFindingsInTheOrderOfTheText(t *testing.T) {
	t.Chdir("..")
	r := analysed(t, demo)
	var text bytes.Buffer
	if err := Text(&text, r, Style{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^(INFO|NOTICE|WARNING|CRITICAL) +(.*)$`)
	var want []string
	for _, m := range line.FindAllStringSubmatch(text.String(), -1) {
		want = append(want, strings.ToLower(m[1])+" "+m[2])
	}
	p := parsePage(t, pageOf(t, r, HTMLOptions{}))
	if diff := cmp.Diff(want, p.findings); diff != "" {
		t.Error(diff)
	}
	for _, f := range r.Findings {
		for _, said := range append(append([]string{f.Summary, f.Subject.Name}, f.Reasons...), f.Caveats...) {
			if !strings.Contains(p.text, said) {
				t.Errorf("%s: the page does not say %q", f.Rule, said)
			}
		}
		for _, e := range f.Evidence {
			if !strings.Contains(p.text, e.Text) {
				t.Errorf("%s: the page does not cite %q", f.Rule, e.Text)
			}
		}
	}
}

// TestPageHoldsItsResult reads a page as recordings are read: the same findings, and a page of the same bytes.
func TestPageHoldsItsResult(t *testing.T) {
	t.Chdir("..")
	r := analysed(t, demo)
	whole := len(pageOf(t, r, HTMLOptions{}))
	for _, limit := range []int{0, whole * 9 / 10, whole * 7 / 10} {
		page := pageOf(t, r, HTMLOptions{MaxBytes: limit})
		back := analysed(t, saved(t, page))
		if again := pageOf(t, back, HTMLOptions{MaxBytes: limit}); !bytes.Equal(page, again) {
			t.Errorf("limit %d: the page of the page's result differs:\n%s", limit, firstDifference(page, again))
		}
		if diff := cmp.Diff(r.Findings, back.Findings); diff != "" {
			t.Errorf("limit %d: findings changed:\n%s", limit, diff)
		}
	}
}

// firstDifference shows where two pages part.
func firstDifference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	at := func(s []byte) []byte { return s[max(min(i, len(s))-60, 0):min(i+100, len(s))] }
	return fmt.Sprintf("at byte %d:\n%q\n%q", i, at(a), at(b))
}

func TestPageIsKeptSmall(t *testing.T) {
	t.Chdir("..")
	r := analysed(t, demo)
	whole := len(pageOf(t, r, HTMLOptions{}))
	for _, limit := range []int{whole - 1, whole * 9 / 10, whole * 7 / 10} {
		page := pageOf(t, r, HTMLOptions{MaxBytes: limit})
		if len(page) > limit {
			t.Errorf("the page takes %d bytes; allowed are %d", len(page), limit)
		}
		if !strings.Contains(parsePage(t, page).text, "the page is kept small: it lacks") {
			t.Errorf("limit %d: the page does not say what it lacks", limit)
		}
	}
	if err := HTML(&bytes.Buffer{}, r, HTMLOptions{MaxBytes: 1000}); err == nil || !strings.Contains(err.Error(), "allowed are 1,000 B") {
		t.Errorf("a page of 1000 bytes: %v", err)
	}
}

func TestThinningSaysWhatItLeavesOut(t *testing.T) {
	t.Chdir("..")
	data, err := encoded(analysed(t, demo))
	if err != nil {
		t.Fatal(err)
	}
	for i, thin := range thinnings() {
		r, err := analyze.ReadResult(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		any := thin.apply(r)
		smaller, err := encoded(r)
		if err != nil {
			t.Fatal(err)
		}
		said := len(r.Ledger) > 0 && r.Ledger[len(r.Ledger)-1].Name == leftOut
		if any != said || !any && len(smaller) < len(data) {
			t.Errorf("step %d leaves out %d bytes: %v, and says so: %v", i, len(data)-len(smaller), any, said)
		}
		if bytes.Contains(smaller, []byte(":null,\"locks\"")) {
			t.Errorf("step %d leaves null lists", i)
		}
	}
}

// hostile is what no view may let through: markup, ends of raw text, quotes, control and bidirectional characters.
const hostile = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>]]>-->'\"`&lt;{{.}}\x1b[31m\x00\u202e\u2066\u2028\xff"

// mutate appends a suffix to every text of a result.
func mutate(v reflect.Value, suffix string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && (v.String() != "" || v.Type() == reflect.TypeFor[string]()) {
			v.SetString(v.String() + suffix)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			mutate(v.Elem(), suffix)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			mutate(v.Field(i), suffix)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			mutate(v.Index(i), suffix)
		}
	}
}

// mutated returns the demo's result with a suffix behind every text, and with a profile whose functions have it.
func mutated(t testing.TB, suffix string) *analyze.Result {
	t.Helper()
	r := analysed(t, demo)
	mutate(reflect.ValueOf(r), suffix)
	r.Schema = analyze.Schema
	folded := filepath.Join(t.TempDir(), "x.folded")
	name := strings.NewReplacer(";", "", "\x00", "").Replace(suffix) // neither can be in a name of this format
	if err := os.WriteFile(folded, []byte("app;a"+name+" 5\napp;b"+name+";c 3\napp;d 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	x := analysed(t, folded)
	for _, p := range x.Models.Profiles {
		p.Source = "x.folded"
	}
	r.Models.Profiles = append(r.Models.Profiles, x.Models.Profiles...)
	return r
}

func TestHostileTexts(t *testing.T) {
	t.Chdir("..")
	page := pageOf(t, mutated(t, hostile), HTMLOptions{})
	plain := pageOf(t, mutated(t, "harmless"), HTMLOptions{})
	checkHarmless(t, page)
	if diff := cmp.Diff(parsePage(t, plain).outline, parsePage(t, page).outline); diff != "" {
		t.Errorf("texts changed the structure of the page:\n%s", diff)
	}
	if text := parsePage(t, page).text; !strings.Contains(text, `</script><script>window.pwned=1</script>`) || !strings.Contains(text, `\x1b[31m\x00\u202e\u2066\u2028`) {
		t.Error("the page does not show the texts as they are, escaped")
	}
	once := pageOf(t, analysed(t, saved(t, page)), HTMLOptions{}) // with the identifiers that belong to these texts
	if twice := pageOf(t, analysed(t, saved(t, once)), HTMLOptions{}); !bytes.Equal(once, twice) {
		t.Errorf("the page of the page's result differs:\n%s", firstDifference(once, twice))
	}
}

// checkHarmless finds what acts: raw control and format characters, event attributes, addresses outside of the page.
func checkHarmless(t testing.TB, page []byte) {
	t.Helper()
	if !utf8.Valid(page) {
		t.Error("the page is not UTF-8")
	}
	for i, r := range string(page) {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Fatalf("%U at byte %d: %q", r, i, page[max(i-40, 0):min(i+20, len(page))])
		}
	}
	for _, e := range parsePage(t, page).elements {
		for _, a := range e.attributes {
			if strings.HasPrefix(a.name, "on") || a.name == "src" || a.name == "style" || strings.HasSuffix(a.name, "href") && !strings.HasPrefix(a.value, "#") && a.value != "data:," {
				t.Errorf("<%s %s=%q>", e.name, a.name, a.value)
			}
		}
	}
}

// TestNamesOfCase26 shows names with the characters of XML exactly.
func TestNamesOfCase26(t *testing.T) {
	t.Chdir("..")
	page := pageOf(t, analysed(t, filepath.Join(shared.Path(t, "cases"), "26-svg-escaping", "names.folded")), HTMLOptions{})
	checkHarmless(t, page)
	p := parsePage(t, page)
	for _, name := range []string{"std::vector<int, std::allocator<int> >::push_back(int&&)", "operator&&(A const&, B const&)", `Time::Moment::(""`, `it's "quoted"`, "AT&T_&lt", "100%% of %s", "µs_timer→irq", "[unknown]"} {
		if !slices.ContainsFunc(p.titles, func(s string) bool { return strings.HasPrefix(s, name+" (") }) {
			t.Errorf("no box is called %q", name)
		}
		if !slices.Contains(p.cells, name) {
			t.Errorf("no row of the table is called %q", name)
		}
	}
	for _, share := range []string{"27.78%", "22.22%"} {
		if !strings.Contains(strings.Join(p.titles, " "), share) {
			t.Errorf("no box has %s", share)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add(hostile)
	f.Add("<!--<script>")
	f.Add("\u0000\ufeff\U000e0041 %s {{.}} `")
	harmless := parsePage(f, pageOf(f, small("harmless"), HTMLOptions{})).outline
	f.Fuzz(func(t *testing.T, text string) {
		page := pageOf(t, small(text), HTMLOptions{})
		checkHarmless(t, page)
		if diff := cmp.Diff(harmless, parsePage(t, page).outline); diff != "" && text != "" {
			t.Error(diff)
		}
	})
}

// TestAnyText makes texts of pieces that mean something to HTML, scripts, terminals or templates.
func TestAnyText(t *testing.T) {
	harmless := parsePage(t, pageOf(t, small("harmless"), HTMLOptions{})).outline
	piece := rapid.SampledFrom([]string{"<", ">", "&", "\"", "'", "`", "=", "/", "\\", " ", "\n", "\x00", "\x1b", "\u009b", "\u202e", "\ufeff", "\u2028", "\xff", "\U000e0041", "]]>", "<!--", "-->", "{{", "}}", "%s",
		"&lt;", "&#0;", "script", "style", "</script>", "</style>", "<svg onload=x>", "javascript:", "</textarea>", "ä", "字", ";", "#"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(rt, "pieces"), "")
		page := pageOf(t, small(text), HTMLOptions{})
		checkHarmless(t, page)
		if diff := cmp.Diff(harmless, parsePage(t, page).outline); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// BenchmarkHTML is the making of the demo's page.
func BenchmarkHTML(b *testing.B) {
	b.Chdir("..")
	r := analysed(b, demo)
	b.SetBytes(int64(len(pageOf(b, r, HTMLOptions{}))))
	b.ReportAllocs()
	for b.Loop() {
		pageOf(b, r, HTMLOptions{})
	}
}

// small is a result of one finding with a text in all of its fields.
func small(text string) *analyze.Result {
	f := finding.Finding{Rule: "tcp/x" + text, Severity: finding.Warning, Subject: finding.Subject{Kind: "k", Key: "k" + text, Name: "n" + text}, Source: "s" + text,
		Summary: "s" + text, Reasons: []string{"r" + text}, Caveats: []string{"c" + text}, Measures: []finding.Measure{{Name: "m" + text, Value: 1, Unit: "u" + text}},
		Evidence: []finding.Evidence{finding.At(source.Pos{Source: "s" + text, Line: 1}, "%s", "e"+text)}, Advice: []finding.Advice{{Text: "a" + text, Reference: "r" + text}}}
	r := &analyze.Result{Schema: analyze.Schema, Findings: finding.Rank([]finding.Finding{f}), Sources: []analyze.Source{{Path: "s" + text, Format: "f" + text, Note: "n" + text}},
		Ledger: []source.Entry{{Source: "s" + text, Name: "n" + text, Severity: source.Warning, Count: 1, Text: "t" + text}}}
	return r
}

func TestGoldenPage(t *testing.T) {
	page := pageOf(t, small(" <&>"), HTMLOptions{})
	body := page[bytes.Index(page, []byte("<body>")):bytes.Index(page, []byte("<script type"))]
	path := filepath.Join("testdata", "page.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(body), "\n")); diff != "" {
		t.Errorf("%s (-golden +got); go test ./report -update writes it anew:\n%s", path, diff)
	}
}

func TestEmptyPages(t *testing.T) {
	for name, r := range map[string]*analyze.Result{
		"nothing":        {Schema: analyze.Schema},
		"not recognised": {Schema: analyze.Schema, Sources: []analyze.Source{{Path: "x", Note: "text, of no format that is read", Tried: []string{"pcap"}}}},
		"interrupted":    {Schema: analyze.Schema, Partial: true, Sources: []analyze.Source{{Path: "x.pcap", Format: "pcap", Kind: analyze.Capture}}},
	} {
		p := parsePage(t, pageOf(t, r, HTMLOptions{}))
		if said := nothing(r); !strings.Contains(p.text, said) {
			t.Errorf("%s: the page does not say %q", name, said)
		}
		if strings.Contains(p.text, "interrupted") != r.Partial {
			t.Errorf("%s: partial is %v", name, r.Partial)
		}
	}
}

// TestCommandsSurviveTheShell hands paths to a shell and takes them back.
func TestCommandsSurviveTheShell(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh to try the quoting with")
	}
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[ -~äµ]{1,20}`).Draw(t, "path")
		out, err := exec.Command("sh", "-c", "printf %s "+quoted(path)).Output()
		if err != nil || string(out) != path {
			t.Fatalf("%s: %q, %v", quoted(path), out, err)
		}
	})
}

func TestTicksAreRoundAndWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e12, 1e12).Draw(t, "low")
		a := axis{low: low, high: low + rapid.Float64Range(1e-3, 1e12).Draw(t, "length")}
		n := rapid.IntRange(2, 10).Draw(t, "n")
		ticks := a.ticks(n)
		if len(ticks) < n/3 || len(ticks) > 2*n+2 {
			t.Fatalf("%d ticks for %d: %v", len(ticks), n, ticks)
		}
		for i, v := range ticks {
			if v < a.low-1e-6*(a.high-a.low) || v > a.high || i > 0 && v <= ticks[i-1] {
				t.Fatalf("%v within %v to %v", ticks, a.low, a.high)
			}
		}
	})
}

package flame

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

var update = flag.Bool("update", false, "write the golden files anew")

// profileOf reads folded stacks.
func profileOf(text string) (*Profile, error) {
	ledger := &source.Ledger{}
	return ReadFolded(source.NewLines(source.NewInput("x.folded", strings.NewReader(text)), ledger), ledger)
}

func svgOf(t testing.TB, p *Profile, o SVGOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSVG(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestGoldenSVG holds the pictures of some fixtures; look at them in a browser before updating.
func TestGoldenSVG(t *testing.T) {
	multi, _ := readPerf(t, shared.Read(t, fixture("multi-event.perf.txt")))
	odd, _ := readFolded(t, shared.Read(t, fixture("odd-names.folded")))
	for name, c := range map[string]struct {
		p *Profile
		o SVGOptions
	}{
		"multi-event.svg": {multi, SVGOptions{LayoutOptions: LayoutOptions{Column: Column{Event: "context-switches", Value: Samples}}}},
		"odd-names.svg":   {odd, SVGOptions{Icicle: true, Title: "odd & <names>"}},
	} {
		got := svgOf(t, c.p, c.o)
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(shared.Read(t, path)), string(got)); diff != "" {
			t.Errorf("%s (-golden +got); go test ./flame -update writes it anew:\n%s", name, diff)
		}
	}
}

// box is a frame of a picture as a reader of XML finds it.
type svgBox struct {
	Class string  `xml:"class,attr"`
	X     string  `xml:"x,attr"`
	Y     int     `xml:"y,attr"`
	Width string  `xml:"width,attr"`
	Start int64   `xml:"data-s,attr"`
	Value int64   `xml:"data-v,attr"`
	Title string  `xml:"title"`
	Text  *string `xml:"text"`
}

// parsed is the picture.
type parsed struct {
	Height int      `xml:"height,attr"`
	Notes  []string `xml:"g>text"`
	Frames struct {
		Total int64    `xml:"data-total,attr"`
		Boxes []svgBox `xml:"svg"`
	} `xml:"svg"`
	Hidden string `xml:"metadata"`
	Script string `xml:"script"`
}

func parse(t testing.TB, svg []byte) parsed {
	t.Helper()
	if !utf8.Valid(svg) {
		t.Fatal("not UTF-8")
	}
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") {
					t.Fatalf("an event attribute: %s=%q", a.Name.Local, a.Value)
				}
			}
		}
	}
	var p parsed
	if err := xml.Unmarshal(svg, &p); err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(p.Script) != strings.TrimSpace(svgScript()) {
		t.Fatal("the script is not the one that was written")
	}
	return p
}

// name is the title's name, the way the script finds it.
func (b svgBox) name() string {
	first, _, _ := strings.Cut(b.Title, "\n")
	return first[:strings.LastIndex(first, " (")]
}

func TestCaseEscaping(t *testing.T) {
	p, _ := readFolded(t, shared.Read(t, filepath.Join(shared.Path(t, "cases"), "26-svg-escaping", "names.folded")))
	got := map[string]string{}
	for _, b := range parse(t, svgOf(t, p, SVGOptions{})).Frames.Boxes {
		first, _, _ := strings.Cut(b.Title, "\n")
		got[b.name()] = first[len(b.name()):]
		if b.Text != nil && *b.Text != b.name() {
			t.Errorf("title %q, text %q", b.name(), *b.Text)
		}
	}
	want := map[string]string{"all": " (18 samples, 100.00%)", "app": " (18 samples, 100.00%)",
		"std::vector<int, std::allocator<int> >::push_back(int&&)": " (5 samples, 27.78%)", "operator&&(A const&, B const&)": " (3 samples, 16.67%)",
		`Time::Moment::(""`: " (2 samples, 11.11%)", `it's "quoted"`: " (1 samples, 5.56%)", "AT&T_&lt": " (1 samples, 5.56%)", "100%% of %s": " (1 samples, 5.56%)",
		"µs_timer→irq": " (1 samples, 5.56%)", "[unknown]": " (4 samples, 22.22%)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names and values (-want +got):\n%s", diff)
	}
}

func TestCaseSelfWidth(t *testing.T) {
	root := filepath.Join(shared.Path(t, "cases"), "04-flamegraph-self-width-deep")
	p, _ := readFolded(t, shared.Read(t, filepath.Join(root, "self.folded")))
	for _, b := range parse(t, svgOf(t, p, SVGOptions{})).Frames.Boxes {
		if b.name() == "child" && (b.Width != "25.0000%" || b.X != "75.0000%" || !strings.HasPrefix(b.Title, "child (25 samples, 25.00%)")) {
			t.Errorf("child at %s, %s wide: %q", b.X, b.Width, b.Title)
		}
	}
	p, _ = readFolded(t, shared.Read(t, filepath.Join(root, "deep.folded")))
	picture := parse(t, svgOf(t, p, SVGOptions{}))
	if picture.Height > 32767 {
		t.Errorf("%d pixels high", picture.Height)
	}
	if notes := strings.Join(picture.Notes, "\n"); !strings.Contains(notes, "1,478 frames below level 1,024 are not drawn") {
		t.Errorf("the picture does not say what it leaves out: %s", notes)
	}
	p, _ = readFolded(t, shared.Read(t, filepath.Join(root, "tiny.folded")))
	picture = parse(t, svgOf(t, p, SVGOptions{}))
	if notes := strings.Join(picture.Notes, "\n"); !strings.Contains(notes, "500 frames below 0.01 % of the total are summed up (500 samples, 0.05%)") {
		t.Errorf("the picture does not say what it leaves out: %s", notes)
	}
	if !strings.Contains(picture.Hidden, `"handler_123"`) {
		t.Error("the search cannot find handler_123")
	}
}

func TestOddNames(t *testing.T) {
	p, _ := readFolded(t, shared.Read(t, fixture("odd-names.folded")))
	picture := parse(t, svgOf(t, p, SVGOptions{}))
	names := map[string]bool{}
	for _, b := range picture.Frames.Boxes {
		names[b.name()] = true
	}
	for _, want := range []string{"</script><script>alert(1)</script>", "a]]>b", `it's "quoted" & &amp`, "bell\u2407escape", "\ufffdgnp.exe", "bad \ufffd utf-8", "100%% of %s", "µs→irq"} {
		if !names[want] {
			t.Errorf("no %q in %v", want, names)
		}
	}
}

func TestSameBytes(t *testing.T) {
	text := shared.Read(t, fixture("inlined-odd-comm.perf.txt"))
	var first []byte
	for range 5 {
		p, _ := readPerf(t, text)
		got := svgOf(t, p, SVGOptions{})
		if first == nil {
			first = got
		}
		if !bytes.Equal(first, got) {
			t.Fatal("the same input gave another picture")
		}
	}
}

func TestFlameAndIcicle(t *testing.T) {
	p, _ := readFolded(t, []byte("a;b 1\n"))
	for icicle, rootBelow := range map[bool]bool{false: true, true: false} {
		ys := map[string]int{}
		for _, b := range parse(t, svgOf(t, p, SVGOptions{Icicle: icicle})).Frames.Boxes {
			ys[b.name()] = b.Y
		}
		if (ys["all"] > ys["b"]) != rootBelow {
			t.Errorf("icicle %v: %v", icicle, ys)
		}
	}
}

// TestContrast: names can be read on all colours (WCAG 2.2, 1.4.3: a ratio of 4.5).
func TestContrast(t *testing.T) {
	palette, err := ReadPalette("x", strings.NewReader("a=#000\nb=#fff\nc=#767676\nd=#d6006c\ne=#ffd166\nf=#0b57a4\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := Colours{Palette: palette}
	for of := range firstRule + class(len(palette.rules)) {
		for _, dark := range []bool{false, true} {
			fill, text := c.fill(of, dark), c.text(of, dark)
			if r := contrast(fill, sixfold(text)); r < 4.5 {
				t.Errorf("class %d dark %v: %s on %s has a contrast of %.1f", of, dark, text, fill, r)
			}
		}
	}
}

func sixfold(colour string) string {
	six, _ := sixDigits(colour)
	return six
}

func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "µs→irq": "µs→irq", "a\tb\r\n": "a␉b␍␊", "a\x00\x7f": "a␀␡", "a\u202eb": "a\ufffdb", "a\xffb": "a\ufffdb", "\ufffe": "\ufffd", "a\u2028b": "a\ufffdb", "😀": "😀",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzSVG: whatever names hold, the picture is well-formed, and the names in it are those of the input, cleaned.
func FuzzSVG(f *testing.F) {
	for _, s := range []string{"</script>", "]]>", `"'&<>`, "\u202eabc", "a\x00\x1b", "&#0;", "<![CDATA[", "a (1 samples, 2%)", "\xff\xfe", "--", "_[k]", "ቿ\ufffe\U0001ffff"} {
		f.Add(s, "comm")
		f.Add("f", s)
	}
	newline := regexp.MustCompile(`[\r\n]`)
	f.Fuzz(func(t *testing.T, name, comm string) {
		name, comm = newline.ReplaceAllString(name, ""), newline.ReplaceAllString(comm, "")
		b := newBuilder("x", &source.Ledger{})
		b.location([]line{{symbol: name}}, comm)
		b.add(b.event("cycles", "", source.Pos{}), labels{comm: comm}, []byte{1, 0, 0, 0}, 1, 5, place{})
		p := &Profile{Host: name, Source: comm}
		b.finish(p)
		picture := parse(t, svgOf(t, p, SVGOptions{Title: name}))
		last := picture.Frames.Boxes[len(picture.Frames.Boxes)-1]
		if want := Clean(p.pprof.Location[0].Line[0].Function.Name); name != "[unknown]" && last.name() != want {
			t.Errorf("name %q, want %q", last.name(), want)
		}
		var out strings.Builder
		if err := WriteFolded(&out, p, Column{}); err != nil {
			t.Fatal(err)
		}
		if strings.Count(out.String(), "\n") != 1 {
			t.Errorf("folded: %q", out.String())
		}
	})
}

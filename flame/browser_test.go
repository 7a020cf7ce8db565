package flame

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"nettrace/fixtures/browser"
)

const netserver = "../fixtures/bundles/rr-4345/netserver.perf.txt"

// saved writes a page or picture to a file and returns its address.
func saved(t testing.TB, name string, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return browser.Address(path)
}

func savedSVG(t testing.TB, p *Profile, o SVGOptions) string {
	return saved(t, "x.svg", func(w io.Writer) error { return WriteSVG(w, p, o) })
}

func savedHTML(t testing.TB, p *Profile, o HTMLOptions) string {
	return saved(t, "x.html", func(w io.Writer) error { return WriteHTML(w, p, o) })
}

// ready waits until the page has drawn and has its table.
func ready(x *browser.Tab) {
	x.Helper()
	for range 200 {
		if browser.Value[bool](x, `performance.getEntriesByName("first picture").length > 0 && document.querySelector("#table td button") !== null`) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	_, errors := x.Heard()
	x.Fatalf("the page does not draw: %q", errors)
}

func text1(x *browser.Tab, selector string) string {
	x.Helper()
	return browser.Value[string](x, `document.querySelector(`+fmt.Sprintf("%q", selector)+`).textContent`)
}

func expect(x *browser.Tab, what, got, want string) {
	x.Helper()
	if got != want {
		x.Errorf("%s: %q, want %q", what, got, want)
	}
}

// matched returns the share that a layout has in boxes whose names pass, counted once, and how many they are.
func matched(l *Layout, passes func(string) bool) (share float64, boxes int) {
	total, right := int64(0), int64(-1)
	type span struct{ from, to int64 }
	var spans []span
	for _, row := range l.Rows {
		for _, b := range row {
			if b.Frame >= 0 && passes(l.Name(b)) {
				boxes++
				spans = append(spans, span{b.Start, b.Start + b.Value})
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	for _, s := range spans {
		if s.to > right {
			total += s.to - max(s.from, right)
			right = s.to
		}
	}
	return l.Share(total), boxes
}

const hostileName = "</script><script>window.pwned = 1</script><img src=x onerror=\"window.pwned = 1\">]]>'\"&lt\u202e\a[31m"

func hostileProfile(t testing.TB) *Profile {
	t.Helper()
	p, _ := readFolded(t, []byte(hostileName+";"+hostileName+" 3\n"+hostileName+";b 2\n"))
	return p
}

// share returns what the box of a thread or function has of all, the first one of that name.
func share(l *Layout, name string) float64 {
	for _, row := range l.Rows {
		for _, b := range row {
			if l.Name(b) == name {
				return l.Share(b.Value)
			}
		}
	}
	return 0
}

// threads lays out the stacks of one thread alone, as a part of all.
func threads(t testing.TB, p *Profile, name string) *Layout {
	t.Helper()
	l := layout(t, p, LayoutOptions{})
	var from, to int64
	for _, b := range l.Rows[1] {
		if l.Name(b) == name {
			from, to = b.Start, b.Start+b.Value
		}
	}
	for i := range l.Rows {
		l.Rows[i] = slices.DeleteFunc(l.Rows[i], func(b Box) bool { return b.Start < from || b.Start+b.Value > to })
	}
	return l
}

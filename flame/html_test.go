package flame

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

func htmlOf(t testing.TB, p *Profile, o HTMLOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpacked is what a page's script makes of the packed profile.
type unpacked struct {
	head  packed
	frame []int32
	level []int32
	own   [][]float64 // of each column
}

// failing is what tests and properties have in common.
type failing interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

var packedPart = regexp.MustCompile(`(?s)<script type="application/octet-stream" id="profile"( data-packed="deflate")?>\n([A-Za-z0-9+/=]*)\n</script>`)

func unpack(t failing, page []byte) unpacked {
	t.Helper()
	m := packedPart.FindSubmatch(page)
	if m == nil {
		t.Fatal("no packed profile")
	}
	data, err := base64.StdEncoding.DecodeString(string(m[2]))
	if err == nil && len(m[1]) > 0 {
		data, err = io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	}
	if err != nil {
		t.Fatal(err)
	}
	size := binary.LittleEndian.Uint32(data)
	var u unpacked
	if err := json.Unmarshal(data[4:4+size], &u.head); err != nil {
		t.Fatal(err)
	}
	data = data[4+size:]
	var parts [][]uint64
	for _, n := range u.head.Bytes {
		parts = append(parts, numbers(t, data[:n]))
		data = data[n:]
	}
	if len(data) > 0 {
		t.Fatalf("%d bytes are left", len(data))
	}
	u.frame, u.level = []int32{Root}, []int32{0}
	for i, up := range parts[0] {
		u.level = append(u.level, u.level[i]+1-int32(up))
		u.frame = append(u.frame, int32(parts[1][i]))
	}
	for i, c := range u.head.Columns {
		own, node := make([]float64, len(u.frame)), uint64(0)
		for k, gap := range parts[2+2*i] {
			node += gap
			own[node] = float64(parts[3+2*i][k]) * float64(c.Factor)
		}
		u.own = append(u.own, own)
	}
	return u
}

func numbers(t failing, data []byte) (list []uint64) {
	t.Helper()
	for len(data) > 0 {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			t.Fatal("a number is cut")
		}
		list, data = append(list, v), data[n:]
	}
	return list
}

// TestPackedTree: a page holds each box that a layout without bounds has, with its own value.
func TestPackedTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e_[k]"})
		var text strings.Builder
		for range rapid.IntRange(1, 60).Draw(t, "lines") {
			fmt.Fprintf(&text, "%s %d\n", strings.Join(rapid.SliceOfN(name, 1, 9).Draw(t, "stack"), ";"), rapid.Int64Range(1, 1<<50).Draw(t, "count"))
		}
		p, err := profileOf(text.String())
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLayout(p, LayoutOptions{MinShare: -1, MaxBoxes: -1, MaxDepth: -1})
		if err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := WriteHTML(&page, p, HTMLOptions{}); err != nil {
			t.Fatal(err)
		}
		u := unpack(t, page.Bytes())
		var got strings.Builder
		at := make([]int, len(l.Rows))
		for i, level := range u.level { // preorder visits each row from the left
			box := l.Rows[level][at[level]]
			at[level]++
			if box.Frame != u.frame[i] || float64(box.Self) != u.own[0][i] {
				t.Fatalf("node %d is frame %d with %v, the layout's box %+v\n%s", i, u.frame[i], u.own[0][i], box, got.String())
			}
		}
		if len(u.frame) != l.boxes() {
			t.Fatalf("%d nodes, %d boxes", len(u.frame), l.boxes())
		}
	})
}

func TestPackedEvents(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("multi-event.perf.txt")))
	u := unpack(t, htmlOf(t, p, HTMLOptions{Column: Column{Event: "context-switches", Value: Samples}}))
	var names []string
	for i, c := range u.head.Columns {
		names = append(names, fmt.Sprintf("%s %s %s", c.Event, c.Value, c.Unit))
		sum := 0.0
		for _, v := range u.own[i] {
			sum += v
		}
		e, err := p.Event(c.Event)
		if err != nil {
			t.Fatal(err)
		}
		want := e.PeriodSum
		if c.Value == Samples {
			want = e.Samples
		}
		if int64(sum) != want {
			t.Errorf("%s %s: %v, want %d", c.Event, c.Value, sum, want)
		}
	}
	want := []string{"page-faults period page-faults", "page-faults samples samples", "context-switches period context-switches", "context-switches samples samples",
		"cpu-clock period ns", "cpu-clock samples samples"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if c := u.head.Columns[u.head.First]; c.Event != "context-switches" {
		t.Errorf("%s is shown first", c.Event)
	}
}

// TestPagesOfAnySize: a million boxes fit into 5 MB.
func TestPagesOfAnySize(t *testing.T) {
	p := million(t)
	page := htmlOf(t, p, HTMLOptions{})
	u := unpack(t, page)
	if len(u.frame) < 1_000_000 || len(page) > 5_000_000 {
		t.Errorf("%d boxes in %d bytes", len(u.frame), len(page))
	}
	if !bytes.Equal(page, htmlOf(t, p, HTMLOptions{})) {
		t.Error("the same profile gave another page")
	}
}

// TestPageOfNothing: a page of samples that add up to nothing has its one column.
func TestPageOfNothing(t *testing.T) {
	b := newBuilder("x", &source.Ledger{})
	b.location([]line{{symbol: "f"}}, "")
	b.add(b.event("cycles", "", source.Pos{}), labels{}, []byte{1, 0, 0, 0}, 0, 0, place{})
	p := &Profile{}
	b.finish(p)
	if u := unpack(t, htmlOf(t, p, HTMLOptions{})); len(u.head.Columns) != 1 || len(u.frame) != 1 {
		t.Errorf("%d columns, %d nodes", len(u.head.Columns), len(u.frame))
	}
}

// outline counts the tags of a page outside of its style and script.
func outline(page string) int {
	head, rest, _ := strings.Cut(page, "<style>")
	_, rest, _ = strings.Cut(rest, "</style>")
	body, _, _ := strings.Cut(rest, "<script>")
	tags := 0
	for _, text := range []string{head, body} {
		for i := 0; i+1 < len(text); i++ {
			if c := text[i+1] | ' '; text[i] == '<' && (c >= 'a' && c <= 'z' || c == '/' || text[i+1] == '!') {
				tags++
			}
		}
	}
	return tags
}

// FuzzHTML: whatever names hold, the page has the elements that it has with any other name.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{hostileName, "]]>", `"'&<>`, "\u202eabc", "a\x00\x1b", "<!--", "{{.}}", "<noscript>", "</noscript><b>", "</title>", "\xff\xfe", "--", "_[k]"} {
		f.Add(s, "comm")
		f.Add("f", s)
	}
	page := func(t *testing.T, name, comm string) string {
		b := newBuilder("x", &source.Ledger{})
		b.location([]line{{symbol: name}}, comm)
		b.add(b.event("cycles", "", source.Pos{}), labels{comm: comm}, []byte{1, 0, 0, 0}, 1, 5, place{})
		p := &Profile{Host: name, Source: comm}
		b.finish(p)
		return string(htmlOf(t, p, HTMLOptions{Title: name}))
	}
	f.Fuzz(func(t *testing.T, name, comm string) {
		text := page(t, name, comm)
		u := unpack(t, []byte(text))
		if name != "" && !strings.Contains(html.UnescapeString(text[:strings.Index(text, "<script>")]), Clean(name)) && name != "[unknown]" {
			t.Errorf("no %q in the page", Clean(name))
		}
		plain := "x"
		if comm == "" {
			plain = ""
		}
		if got, want := outline(text), outline(page(t, "f", plain)); got != want && kindOf(comm) == User && name != "-" && name != "--" && name != "[unknown]" {
			t.Errorf("%d tags, %d with plain names", got, want)
		}
		for _, n := range u.head.Frames.Names {
			if n != Clean(n) {
				t.Errorf("the name %q is not clean", n)
			}
		}
	})
}

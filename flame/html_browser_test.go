package flame

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/browser"
	"nettrace/fixtures/shared"
	"nettrace/perf"
)

// functionRow is a row of the page's table.
type functionRow struct{ Function, Self, SelfShare, Total, TotalShare, Object string }

func rowsOf(x *browser.Tab) []functionRow {
	x.Helper()
	var rows []functionRow
	for _, r := range browser.Value[[][]string](x, `Array.from(document.querySelectorAll("#table tbody tr"), (r) => Array.from(r.cells, (c) => c.textContent))`) {
		rows = append(rows, functionRow{r[0], r[1], r[2], r[3], r[4], r[5]})
	}
	return rows
}

func wantRows(t testing.TB, p *Profile, c Column, n int) []functionRow {
	t.Helper()
	top, err := Top(p, c, 0)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(top.Rows, func(a, b Row) int { // the page does not look at the total
		if a.Self != b.Self {
			return int(b.Self - a.Self)
		}
		return compareFrames(a.Frame, b.Frame)
	})
	var rows []functionRow
	for _, r := range top.Rows[:min(n, len(top.Rows))] {
		rows = append(rows, functionRow{r.Name, Quantity(r.Self, top.Scale, top.Unit), percent(r.SelfShare), Quantity(r.Total, top.Scale, top.Unit), percent(r.TotalShare), r.Object})
	}
	return rows
}

func TestHTMLInBrowser(t *testing.T) {
	b := browser.Start(t)
	p, _ := readPerf(t, shared.Read(t, netserver))
	l := layout(t, p, LayoutOptions{})
	address := savedHTML(t, p, HTMLOptions{})
	focus := func(x *browser.Tab) { browser.Value[bool](x, `document.getElementById("graph").focus(), true`) }

	t.Run("table", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(address)
		ready(x)
		if diff := cmp.Diff(wantRows(t, p, Column{}, 50), rowsOf(x)); diff != "" {
			t.Error(diff)
		}
		x.Must(chromedp.Do(x.Context, chromedp.Click(chromedp.CSS("th[data-key=total] button"))))
		x.Is("sorted by total", `document.querySelector("th[data-key=total]").getAttribute("aria-sort") === "descending"`)
		expect(x, "first by total", rowsOf(x)[0].TotalShare, percent(share(l, "swapper")))
		x.Must(chromedp.Do(x.Context, chromedp.Click(chromedp.CSS("#more"))))
		if n := len(rowsOf(x)); n <= 50 {
			t.Errorf("%d rows after more", n)
		}
		x.Quiet()
	})

	t.Run("keys", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(address)
		ready(x)
		focus(x)
		details := func() string { name, _, _ := strings.Cut(text1(x, "#details"), ";"); return name }
		x.Keys(kb.ArrowUp)
		expect(x, "up is the widest thread", details(), "swapper")
		expect(x, "the tree's item", browser.Value[string](x, `(() => { const i = document.getElementById(document.activeElement.getAttribute("aria-activedescendant")); return [i.getAttribute("role"), i.getAttribute("aria-level"), i.getAttribute("aria-posinset"), i.getAttribute("aria-setsize"), i.textContent.split("\n")[0]].join() })()`), "treeitem,2,3,3,swapper")
		x.Keys(kb.ArrowLeft)
		expect(x, "left", details(), "rrserver")
		x.Keys(kb.Enter)
		v := int64(math.Round(share(l, "rrserver") * float64(l.Total)))
		expect(x, "breadcrumb", text1(x, "#crumbs"), "allrrserver "+Quantity(v, l.Scale, l.Unit)+", "+percent(share(l, "rrserver"))+" of all")
		x.Is("the address tells", `location.hash === "#zoom=rrserver"`)
		x.Slash()
		x.Keys("^sock_")
		part, boxes := matched(threads(t, p, "rrserver"), func(s string) bool { return strings.HasPrefix(s, "sock_") })
		want := fmt.Sprintf("matched %s of what is shown in %d boxes", percent(part/share(l, "rrserver")), boxes)
		expect(x, "matched", text1(x, "#matches"), want)
		link := browser.Value[string](x, `location.href`)
		x.Keys(kb.Enter)
		if got := details(); !strings.HasPrefix(got, "sock_") {
			t.Errorf("the next match is %q", got)
		}
		x.Visit(link)
		ready(x)
		expect(x, "the link keeps the view", text1(x, "#matches"), want)
		focus(x)
		x.Keys(kb.Escape)
		part, boxes = matched(l, func(s string) bool { return strings.HasPrefix(s, "sock_") })
		expect(x, "Esc zooms out", text1(x, "#matches"), fmt.Sprintf("matched %s in %d boxes", percent(part), boxes))
		x.Quiet()
	})

	t.Run("a function as it is written", func(t *testing.T) {
		x := browser.Open(t, b)
		names, _ := readFolded(t, shared.Read(t, filepath.Join(shared.Path(t, "cases"), "26-svg-escaping", "names.folded")))
		x.Visit(savedHTML(t, names, HTMLOptions{}))
		ready(x)
		x.Slash()
		x.Keys("push_back(int&&)")
		expect(x, "matched", text1(x, "#matches"), "matched 27.78% in 1 box")
		x.Quiet()
	})

	t.Run("callers and callees", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(address + "#of=__tcp_transmit_skb")
		ready(x)
		top, err := Top(p, Column{}, 0)
		x.Must(err)
		row := top.Rows[slices.IndexFunc(top.Rows, func(r Row) bool { return r.Name == "__tcp_transmit_skb" })]
		total := fmt.Sprintf("__tcp_transmit_skb; %s, %s of all", Quantity(row.Total, top.Scale, top.Unit), percent(row.TotalShare))
		for _, pane := range []string{"graph", "callers"} {
			if got := browser.Value[string](x, `document.getElementById("`+pane+`-at").textContent.replaceAll("\n", "; ")`); !strings.HasPrefix(got, total) {
				t.Errorf("%s: %q, want %q", pane, got, total)
			}
		}
		browser.Value[bool](x, `document.getElementById("callers").focus(), true`)
		x.Keys(kb.ArrowUp)
		expect(x, "its caller", text1(x, "#details"), fmt.Sprintf("tcp_write_xmit; %s, %s of all; self 0 ns, 0.00%%; in [kernel.kallsyms]", Quantity(row.Total, top.Scale, top.Unit), percent(row.TotalShare)))
		x.Keys("s")
		x.Is("s goes on to it", `location.hash === "#of=tcp_write_xmit"`)
		x.Keys(kb.Escape)
		x.Is("Esc goes back to all", `location.hash === "" && document.getElementById("callers").hidden`)
		x.Quiet()
	})

	t.Run("widest first, icicle, colours, events", func(t *testing.T) {
		x := browser.Open(t, b)
		multi, _ := readPerf(t, shared.Read(t, fixture("multi-event.perf.txt")))
		x.Visit(savedHTML(t, multi, HTMLOptions{}))
		ready(x)
		options := browser.Value[[]string](x, `Array.from(document.getElementById("column").options, (o) => o.textContent)`)
		for i, name := range options {
			event, samples := strings.CutSuffix(name, ", samples")
			c := Column{Event: event, Value: Period}
			if samples {
				c.Value = Samples
			}
			browser.Value[bool](x, fmt.Sprintf(`(() => { const c = document.getElementById("column"); c.value = "%d"; c.dispatchEvent(new Event("change")); return true })()`, i))
			time.Sleep(300 * time.Millisecond)
			if diff := cmp.Diff(wantRows(t, multi, c, 50), rowsOf(x)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if len(options) < 3 {
			t.Errorf("events %q", options)
		}
		x.Keys("o", "i")
		x.Is("keys set them", `document.getElementById("order").value === "heavy" && document.getElementById("turn").getAttribute("aria-pressed") === "true" && location.hash.includes("order=heavy") && location.hash.includes("icicle=true")`)
		focus(x)
		x.Keys(kb.ArrowDown)
		x.Is("the widest is the first", `document.getElementById("graph-at").getAttribute("aria-posinset") === "1"`)
		x.Quiet()
	})

	t.Run("window of time", func(t *testing.T) {
		x := browser.Open(t, b)
		recorded := shared.Read(t, netserver)
		timed := readTimed(t, recorded, PerfOptions{})
		x.Visit(savedHTML(t, timed, HTMLOptions{}))
		ready(x)
		browser.Value[bool](x, `["from", "to"].forEach((id, i) => { const e = document.getElementById(id); e.value = [20, 120][i]; e.dispatchEvent(new Event("input")) }), true`)
		time.Sleep(300 * time.Millisecond)
		times := timed.timed()
		begin, end := times.begin+20*times.size, times.begin+120*times.size
		part := readTimed(t, recorded, PerfOptions{Window: perf.Window{From: begin, To: end}})
		if diff := cmp.Diff(wantRows(t, part, Column{}, 50), rowsOf(x)); diff != "" {
			t.Error(diff)
		}
		expect(x, "what is shown", text1(x, "#span"), "0.16 s to 0.96 s of 1.592 s: "+Quantity(part.Events[0].PeriodSum, 1, "ns"))
		x.Is("the address keeps it", `location.hash === "#from=0.16&to=0.96"`)
		x.Quiet()
	})

	t.Run("pointer", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(address)
		ready(x)
		before := browser.Value[int](x, `document.querySelectorAll("*").length`)
		browser.Value[bool](x, `(() => { const c = document.querySelector("#graph canvas"), r = c.getBoundingClientRect(); for (let i = 1; i < 200; i++) c.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: r.left + i * r.width / 200, clientY: r.bottom - 25 })); return true })()`)
		expect(x, "under the pointer", strings.SplitN(text1(x, "#tip"), "\n", 2)[0], "swapper")
		if after := browser.Value[int](x, `document.querySelectorAll("*").length`); after != before {
			t.Errorf("%d elements after moving the pointer, %d before", after, before)
		}
		browser.Value[bool](x, `(() => { const c = document.querySelector("#graph canvas"), r = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: r.left + 5, clientY: r.bottom - 25 })); return true })()`)
		x.Is("a click zooms", `location.hash === "#zoom=rrclient"`)
		x.Quiet()
	})

	t.Run("without script", func(t *testing.T) {
		x := browser.Open(t, b)
		_, err := chromedp.Call(x.Context, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		x.Must(err)
		x.Visit(address)
		x.Is("boxes are drawn", `document.querySelector("noscript svg .b").getBoundingClientRect().width > 900`)
		x.Is("functions are listed", `document.querySelectorAll("#table tbody tr").length === 50`)
		x.Is("no controls", `!document.getElementById("controls").checkVisibility()`)
		x.Quiet()
	})

	t.Run("print", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Scheme("dark", "")
		x.Size(1000, 300)
		x.Visit(address)
		ready(x)
		browser.Value[bool](x, `window.dispatchEvent(new Event("beforeprint")), true`)
		x.Scheme("dark", "print")
		x.Is("black on white", `getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)" && getComputedStyle(document.body).color === "rgb(17, 17, 17)"`)
		x.Is("all levels", fmt.Sprintf(`document.querySelector("#graph canvas").height === %d`, len(l.Rows)*rowHeight))
		x.Is("no controls", `!document.getElementById("controls").checkVisibility()`)
		x.Scheme("dark", "")
		browser.Value[bool](x, `window.dispatchEvent(new Event("afterprint")), true`)
		x.Is("as before", fmt.Sprintf(`document.querySelector("#graph canvas").height < %d`, len(l.Rows)*rowHeight))
		x.Quiet()
	})

	t.Run("without DecompressionStream", func(t *testing.T) {
		x := browser.Open(t, b)
		_, err := chromedp.Call(x.Context, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `delete window.DecompressionStream`})
		x.Must(err)
		x.Visit(address)
		ready(x)
		x.Is("it is away, and needed", `typeof DecompressionStream === "undefined" && document.getElementById("profile").dataset.packed === "deflate"`)
		if diff := cmp.Diff(wantRows(t, p, Column{}, 50), rowsOf(x)); diff != "" {
			t.Error(diff)
		}
		x.Quiet()
	})

	t.Run("deep", func(t *testing.T) {
		x := browser.Open(t, b)
		deep := strings.Repeat("f;", 1400) + strings.Repeat("g;", 1400)
		stacks, _ := readFolded(t, []byte(deep+"leaf 3\nmain 997\n"))
		x.Visit(savedHTML(t, stacks, HTMLOptions{Icicle: true}))
		ready(x)
		x.Slash()
		x.Keys("leaf", kb.Enter)
		expect(x, "the deepest box", text1(x, "#details"), "leaf; 3 samples, 0.30% of all; self 3 samples, 0.30%")
		x.Is("it is in view", `document.getElementById("graph-at").getAttribute("aria-level") === "2802" && document.getElementById("graph").scrollTop > 40000`)
		x.Is("the canvas is no larger than the window", `document.querySelector("#graph canvas").height < 1000`)
		x.Is("something is drawn there", `(() => { const c = document.querySelector("#graph canvas"), d = c.getContext("2d").getImageData(1, c.height - 5, 1, 1).data; return d[0] !== 255 || d[1] !== 255 })()`)
		x.Quiet()
	})

	t.Run("nothing", func(t *testing.T) {
		x := browser.Open(t, b)
		none, _ := readFolded(t, []byte("a;b 1\n"))
		none.pprof.Sample[0].Value = []int64{0, 0}
		x.Visit(savedHTML(t, none, HTMLOptions{}))
		time.Sleep(500 * time.Millisecond)
		x.Slash()
		x.Keys("b", kb.Enter)
		expect(x, "matched", text1(x, "#matches"), "matched 0.00% in 0 boxes")
		x.Quiet()
	})

	t.Run("hostile names", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(savedHTML(t, hostileProfile(t), HTMLOptions{Title: hostileName}))
		ready(x)
		focus(x)
		x.Keys(kb.ArrowUp, kb.ArrowUp, "s")
		x.Is("nothing ran", `window.pwned === undefined && document.scripts.length === 2 && document.querySelectorAll("img").length === 0`)
		expect(x, "names are whole", strings.SplitN(text1(x, "#details"), "; ", 2)[0], Clean(hostileName))
		x.Quiet()
	})

	t.Run("difference", func(t *testing.T) { differenceInBrowser(t, b) })

	t.Run("axe", func(t *testing.T) {
		axe := browser.Axe(t)
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1000, 400} {
				x := browser.Open(t, b)
				x.Scheme(scheme, "")
				x.Size(width, 800)
				x.Visit(address + "#of=tcp_v4_rcv&q=tcp")
				ready(x)
				x.Keys("?")
				x.Is("within the page", `document.documentElement.scrollWidth <= innerWidth`)
				x.Accessible(axe, "nav")
			}
		}
	})
}

func differenceInBrowser(t *testing.T, b context.Context) {
	base, _ := readFolded(t, []byte("a;b 400\na;old 200\na;c 400\n"))
	other, _ := readFolded(t, []byte("a;b 800\na;new 100\na;c 1100\n"))
	d, err := Diff(base, other, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	x := browser.Open(t, b)
	x.Visit(saved(t, "d.html", func(w io.Writer) error { return WriteDiffHTML(w, d, HTMLOptions{}) }))
	ready(x)
	rows := browser.Value[[][]string](x, `Array.from(document.querySelectorAll("#table tbody tr"), (r) => Array.from(r.cells, (c) => c.textContent))`)
	want := [][]string{
		{"old", "-400 samples", "200 samples", "0 samples", "-400 samples", "200 samples", "0 samples", "vanished"},
		{"c", "+300 samples", "400 samples", "1,100 samples", "+300 samples", "400 samples", "1,100 samples", ""},
		{"new", "+100 samples", "0 samples", "100 samples", "+100 samples", "0 samples", "100 samples", "new"},
		{"a", "0 samples", "0 samples", "0 samples", "0 samples", "1,000 samples", "2,000 samples", "may be chance"},
		{"b", "0 samples", "400 samples", "800 samples", "0 samples", "400 samples", "800 samples", "may be chance"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	browser.Value[bool](x, `document.getElementById("graph").focus(), true`)
	x.Keys(kb.ArrowUp, kb.ArrowUp, kb.ArrowRight, kb.ArrowRight)
	expect(x, "a vanished function", text1(x, "#details"), "old; base 200 samples (20.00%, 200 samples); other 0 samples (0.00%, 0 samples); change -400 samples (-20.00% of all), vanished; self 200 samples, 0 samples")
	browser.Value[bool](x, `(() => { const w = document.getElementById("width"); w.value = "other"; w.dispatchEvent(new Event("change")); return true })()`)
	x.Keys(kb.Home, kb.ArrowUp, kb.ArrowUp)
	x.Is("what other does not have is not drawn in its widths", `document.getElementById("graph-at").getAttribute("aria-setsize") === "3" && location.hash.includes("width=other")`)
	x.Quiet()
}

// million makes a profile with about a million distinct nodes.
func million(t testing.TB) *Profile {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for line := range 80_000 {
		prefix := rand.New(rand.NewPCG(3, uint64(line/8)))
		for range 3 + prefix.IntN(37) {
			fmt.Fprintf(&text, "fn_%d;", prefix.IntN(9000))
		}
		for range 4 + random.IntN(15) {
			fmt.Fprintf(&text, "fn_%d;", random.IntN(9000))
		}
		fmt.Fprintf(&text, "leaf %d\n", 1+random.IntN(500))
	}
	p, _ := readFolded(t, text.Bytes())
	return p
}

// BenchmarkHTMLInBrowser tells how long a page of a million boxes takes in Chromium, in milliseconds: from the request to
// the first picture, and from a key to the end of its frame.
func BenchmarkHTMLInBrowser(b *testing.B) {
	address := savedHTML(b, million(b), HTMLOptions{})
	x := browser.Open(b, browser.Start(b))
	// frame returns how long an action and the drawing after it take.
	const frame = `async (action) => { const from = performance.now(); action(); const done = performance.now() - from; await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0))); return [done, performance.now() - from] }`
	press := func(key string) string {
		return `() => document.getElementById("graph").dispatchEvent(new KeyboardEvent("keydown", { key: "` + key + `", bubbles: true }))`
	}
	actions := map[string]string{
		"zoom":     press("Enter"),
		"unzoom":   press("Escape"),
		"search":   `() => { const s = document.getElementById("search"); s.value = "fn_1" + Math.floor(performance.now()) % 10; s.dispatchEvent(new Event("input")) }`,
		"next":     press("n"),
		"sandwich": press("s"),
	}
	times := map[string][]float64{}
	for b.Loop() {
		x.Visit(address)
		ready(x)
		times["first-picture"] = append(times["first-picture"], browser.Value[float64](x, `performance.getEntriesByName("first picture")[0].startTime`))
		x.Keys()
		for _, name := range []string{"search", "next", "zoom", "search", "unzoom", "sandwich"} {
			t := browser.Value[[]float64](x, "("+frame+")("+actions[name]+")")
			times[name] = append(times[name], t[0])
			times[name+"-frame"] = append(times[name+"-frame"], t[1])
		}
	}
	b.ReportMetric(0, "ns/op")
	for name, list := range times {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], name+"-ms")
	}
}

package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	pages "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// browser starts Chromium without a network, or skips the test. NETTRACE_CHROMIUM names another one.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("NETTRACE_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("no browser: install chromium, or name one in NETTRACE_CHROMIUM")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), chromedp.Flag("proxy-server", "127.0.0.1:9"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Log(err)
		}
		cancel()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// tab is a tab of the browser, with what its page asked for and complained of.
type tab struct {
	*testing.T
	ctx    context.Context
	mu     sync.Mutex
	asked  []string // addresses
	errors []string // console, exceptions, violations of the policy
}

func newTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	x := &tab{T: t, ctx: ctx}
	x.must(chromedp.Do(ctx))
	x.must(chromedp.Listen(ctx, x.hear))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	x.must(err)
	_, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	x.must(err)
	x.size(1000, 900)
	return x
}

func (x *tab) hear(event any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		x.asked = append(x.asked, e.Request.URL)
	case *runtime.EventExceptionThrown:
		x.errors = append(x.errors, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		x.errors = append(x.errors, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		x.errors = append(x.errors, e.Entry.Text)
	}
}

func (x *tab) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *tab) size(width, height int64) {
	x.Helper()
	_, err := chromedp.Call(x.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
	x.must(err)
}

// scheme sets what the system is said to prefer, and the medium.
func (x *tab) scheme(scheme, medium string) {
	x.Helper()
	_, err := chromedp.Call(x.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	x.must(err)
}

func (x *tab) open(address string) {
	x.Helper()
	x.must(chromedp.Do(x.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address)))
}

func (x *tab) keys(keys ...string) {
	x.Helper()
	for _, k := range keys {
		x.must(chromedp.Do(x.ctx, chromedp.KeyEvent(k)))
	}
}

// slash presses the key as a keyboard does: what it types is up to what the page does with the key.
func (x *tab) slash() {
	x.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		_, err := chromedp.Call(x.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: "/", Code: "Slash", Text: "/"})
		x.must(err)
	}
}

// value evaluates a JavaScript expression.
func value[T any](x *tab, expression string) T {
	x.Helper()
	v, err := chromedp.Run(x.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		x.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

func (x *tab) is(what, expression string) {
	x.Helper()
	if !value[bool](x, expression) {
		x.Errorf("%s: %s is not so", what, expression)
	}
}

// quiet checks that the page asked for nothing but itself and complained of nothing.
func (x *tab) quiet() {
	x.Helper()
	time.Sleep(100 * time.Millisecond)
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, address := range x.asked {
		if !strings.HasPrefix(address, "file:") && !strings.HasPrefix(address, "data:") && address != "about:blank" {
			x.Errorf("the page asks for %s", address)
		}
	}
	if n := len(slices.Compact(slices.Clone(x.asked))); n == 0 {
		x.Error("no request was seen, not even that for the page")
	}
	for _, e := range x.errors {
		x.Errorf("the browser complains: %s", e)
	}
}

func address(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func TestPageInBrowser(t *testing.T) {
	t.Chdir("..")
	b := browser(t)
	r := analysed(t, demo)
	demoPage := address(saved(t, pageOf(t, r, HTMLOptions{})))

	t.Run("requests are seen", func(t *testing.T) {
		x := newTab(t, b)
		x.open(address(saved(t, []byte(`<!doctype html><title>x</title><img src="http://example.invalid/x.png">`))))
		time.Sleep(100 * time.Millisecond)
		x.mu.Lock()
		defer x.mu.Unlock()
		if !slices.Contains(x.asked, "http://example.invalid/x.png") || len(x.errors) == 0 {
			t.Errorf("a page with a request: asked %q, errors %q", x.asked, x.errors)
		}
	})

	t.Run("findings", func(t *testing.T) {
		x := newTab(t, b)
		x.open(demoPage)
		want := []string{}
		for _, f := range r.Findings {
			want = append(want, f.Severity.String()+" "+f.Summary)
		}
		got := value[[]string](x, `Array.from(document.querySelectorAll("article.finding > h2"), (h) => h.textContent)`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		x.is("the first cause leads", `document.querySelector("#overview li").textContent.includes(`+quote(r.Findings[0].Summary)+`)`)
		x.quiet()
	})

	t.Run("search", func(t *testing.T) { searchByKeyboard(newTab(t, b), demoPage) })
	t.Run("flame graph", func(t *testing.T) { flameByKeyboard(newTab(t, b), demoPage) })
	t.Run("links", func(t *testing.T) {
		linksKeepTheView(newTab(t, b), demoPage, "f-"+r.Findings[slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "bench/noisy" })].ID)
	})
	t.Run("tables", func(t *testing.T) { tablesSort(newTab(t, b), demoPage) })
	t.Run("themes", func(t *testing.T) { themes(newTab(t, b), demoPage) })

	t.Run("Markdown", func(t *testing.T) {
		x := newTab(t, b)
		x.open(demoPage)
		got := value[string](x, `(async () => { let text = ""; navigator.clipboard.writeText = async (t) => { text = t };
			document.querySelector("article button.copy").click(); await new Promise((r) => setTimeout(r, 50)); return text })()`)
		if !strings.HasPrefix(got, "## CRITICAL: "+mark(r.Findings[0].Summary)) {
			t.Errorf("copied %.100q", got)
		}
		x.quiet()
	})

	t.Run("picture", func(t *testing.T) { // that of the documentation; -update takes it anew
		x := newTab(t, b)
		x.size(1000, 800)
		x.open(demoPage)
		shot, err := chromedp.Run(x.ctx, chromedp.CaptureScreenshot())
		x.must(err)
		const file = "docs/pictures/report.png"
		if *update {
			x.must(os.MkdirAll(filepath.Dir(file), 0o755))
			x.must(os.WriteFile(file, shot, 0o644))
		}
		kept, err := os.ReadFile(file)
		x.must(err)
		for _, picture := range [][]byte{shot, kept} {
			if c, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || c.Width != 1000 || c.Height != 800 {
				t.Errorf("a picture of %d x %d, %v; expected 1000 x 800", c.Width, c.Height, err)
			}
		}
	})

	t.Run("narrow", func(t *testing.T) {
		x := newTab(t, b)
		x.size(400, 800)
		x.open(demoPage)
		if width := value[int](x, `document.documentElement.scrollWidth`); width > 400 {
			t.Errorf("at 400 pixels the page is %d wide", width)
		}
	})

	t.Run("without script", func(t *testing.T) {
		x := newTab(t, b)
		_, err := chromedp.Call(x.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		x.must(err)
		x.open(demoPage)
		x.is("what needs script is away", `!document.getElementById("controls").checkVisibility()`)
		x.is("the first finding is open", `document.querySelector("article table").checkVisibility()`)
		x.is("the flame graph is drawn", `document.querySelector("svg.flame .b").getBoundingClientRect().width > 300`)
		x.is("the plots are drawn", `document.querySelectorAll("svg.chart").length > 3`)
		x.is("folded before printing", `!document.querySelector("details:not([open]) > :not(summary)").checkVisibility()`)
		x.scheme("dark", "print")
		x.is("all is printed", `Array.from(document.querySelectorAll("article details:not([open]) > :not(summary)")).filter((e) => !e.closest(".markdown")).every((e) => e.checkVisibility())`)
		x.is("black on white", `getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)" && getComputedStyle(document.body).color === "rgb(0, 0, 0)"`)
		x.quiet()
	})

	t.Run("print", func(t *testing.T) {
		x := newTab(t, b)
		x.scheme("dark", "")
		x.open(demoPage)
		pdf, err := chromedp.Call(x.ctx, pages.PrintToPDF, pages.PrintToPDFParams{})
		x.must(err)
		if len(pdf.Data) < 100_000 {
			t.Errorf("the printed page takes %d bytes", len(pdf.Data))
		}
		x.is("folded as before", `document.querySelectorAll("details:not([open])").length > 5`)
	})

	t.Run("hostile texts", func(t *testing.T) {
		x := newTab(t, b)
		x.open(address(saved(t, pageOf(t, mutated(t, hostile), HTMLOptions{}))))
		x.is("nothing ran", `window.pwned === undefined && document.querySelectorAll("img").length === 0 && document.scripts.length === 2`)
		x.is("the script works", `document.getElementById("controls").checkVisibility()`)
		x.quiet()
	})

	t.Run("names of case 26", func(t *testing.T) {
		x := newTab(t, b)
		x.open(address(saved(t, pageOf(t, analysed(t, filepath.Join(shared.Path(t, "cases"), "26-svg-escaping", "names.folded")), HTMLOptions{}))))
		x.slash()
		x.keys("push_back(int&&)")
		x.is("found as plain text", `document.getElementById("matches").textContent.includes("1 frame, 27.8 %")`)
		x.quiet()
	})
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

func searchByKeyboard(x *tab, demoPage string) {
	x.open(demoPage)
	count := func() string { return value[string](x, `document.getElementById("matches").textContent`) }
	shown := func() []string {
		return value[[]string](x, `Array.from(document.querySelectorAll("article.finding:not([hidden])"), (a) => a.dataset.rule)`)
	}
	all := len(shown())
	x.slash()
	x.is("/ focuses the box", `document.activeElement.id === "search"`)
	x.keys("rule:tso severity<=notice")
	got := shown()
	if len(got) < 3 || len(got) == all || !slices.Equal(slices.Compact(got), []string{"tcp/tso-split"}) {
		x.Errorf("%q shows %q", value[string](x, `document.getElementById("search").value`), got)
	}
	if want := fmt.Sprintf("%d of %d findings", len(got), all); !strings.HasPrefix(count(), want) {
		x.Errorf("counted %q, expected %s", count(), want)
	}
	x.keys(kb.Enter)
	x.is("Enter goes to the first match", `document.querySelector("article.current").dataset.rule === "tcp/tso-split"`)
	first := value[string](x, `document.querySelector("article.current").id`)
	x.keys(kb.Enter)
	x.is("Enter goes to the next match", `document.querySelector("article.current").id !== `+quote(first))
	x.keys(kb.Escape)
	x.is("Esc clears", `document.getElementById("search").value === "" && document.activeElement.id !== "search"`)
	if n := len(shown()); n != all {
		x.Errorf("%d findings after Esc; expected %d", n, all)
	}
	x.slash()
	x.keys("tcp_sendmsg")
	if !strings.Contains(count(), "frames") || !strings.Contains(count(), "%") {
		x.Errorf("a function: counted %q", count())
	}
	x.is("frames are marked", `document.querySelectorAll(".b.hit").length > 1`)
	x.must(chromedp.Do(x.ctx, chromedp.Blur(chromedp.ID("search"))))
	x.keys("N")
	x.is("N goes to the last match, a frame", `document.activeElement.closest(".b").classList.contains("hit")`)
	last := value[string](x, `document.getElementById("matches").textContent`)
	x.keys("N")
	x.is("N goes on", `document.getElementById("matches").textContent !== `+quote(last))
	x.keys("n")
	x.is("n goes back", `document.getElementById("matches").textContent === `+quote(last))
	x.slash()
	x.keys(kb.Escape)
	x.slash()
	x.keys("severity:awful")
	if count() != "no severity is called awful" {
		x.Errorf("a word that is no severity: %q", count())
	}
	x.keys(kb.Escape)
	x.must(chromedp.Do(x.ctx, chromedp.Click(chromedp.CSS(".counts button.critical"))))
	if got := value[[]string](x, `Array.from(document.querySelectorAll("article.finding:not([hidden])"), (a) => a.dataset.severity)`); len(got) == 0 || !slices.Equal(slices.Compact(got), []string{"critical"}) {
		x.Errorf("the count of critical ones shows %q", got)
	}
	x.quiet()
}

func flameByKeyboard(x *tab, demoPage string) {
	x.open(demoPage)
	name := func() string {
		return value[string](x, `document.activeElement.getAttribute("aria-label").split("\n")[0]`)
	}
	x.is("one stop for Tab", `document.querySelectorAll(".frames [tabindex='0']").length === 1`)
	value[bool](x, `document.querySelector(".frames [tabindex='0']").focus(), true`)
	if !strings.HasPrefix(name(), "all (") {
		x.Fatalf("the walk begins at %q", name())
	}
	x.keys(kb.ArrowUp)
	thread := name()
	x.keys(kb.ArrowLeft)
	sibling := name()
	if thread == sibling || strings.HasPrefix(sibling, "all (") {
		x.Errorf("left of %q is %q", thread, sibling)
	}
	x.keys(kb.ArrowRight)
	if name() != thread {
		x.Errorf("right again is %q, not %q", name(), thread)
	}
	x.keys(kb.ArrowUp, kb.Enter)
	zoomed := name()
	x.is("Enter zooms", `document.activeElement.getAttribute("width") === "100%" && document.querySelector(".crumbs").checkVisibility()`)
	x.is("the address tells", `location.hash.includes("zoom.flame-1=")`)
	link := value[string](x, `location.href`)
	x.keys(kb.Escape)
	x.is("Esc zooms out by a level", `document.querySelector(".crumbs").textContent.split("›").length === 2`)
	x.keys(kb.Escape)
	x.is("Esc zooms out whole", `!document.querySelector(".crumbs").checkVisibility()`)
	x.open(link)
	crumbs := value[string](x, `document.querySelector(".crumbs").textContent`)
	if function, _, _ := strings.Cut(zoomed, " ("); !strings.Contains(crumbs, function) {
		x.Errorf("the link leads to %q, not to %q", crumbs, zoomed)
	}
	x.quiet()
}

func linksKeepTheView(x *tab, demoPage, id string) {
	x.open(demoPage + "#" + id + "&q=bench&theme=dark")
	x.is("search", `document.getElementById("search").value === "bench"`)
	x.is("theme", `getComputedStyle(document.body).backgroundColor === "rgb(20, 23, 26)"`)
	x.is("the finding is open", `document.getElementById(`+quote(id)+`).querySelector("details").open`)
	x.is("the finding is in view", `(({ top }) => top >= 0 && top < 200)(document.getElementById(`+quote(id)+`).getBoundingClientRect())`)
	dead := value[[]string](x, `Array.from(document.querySelectorAll("a[href^='#']")).map((a) => a.getAttribute("href")).filter((h) => !document.getElementById(h.slice(1)))`)
	if len(dead) > 0 {
		x.Errorf("links that lead nowhere: %q", dead)
	}
	twice := value[[]string](x, `Array.from(document.querySelectorAll("[id]")).map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`)
	if len(twice) > 0 {
		x.Errorf("identifiers that occur twice: %q", twice)
	}
	x.quiet()
}

func tablesSort(x *tab, demoPage string) {
	x.open(demoPage)
	column := func() []float64 {
		return value[[]float64](x, `Array.from(document.querySelectorAll("#connection-table tbody tr"), (r) => Number(r.cells[6].dataset.value))`)
	}
	x.must(chromedp.Do(x.ctx, chromedp.Click(chromedp.CSS("#connection-table th:nth-child(7) button"))))
	if got := column(); !slices.IsSortedFunc(got, func(a, b float64) int { return int(b - a) }) {
		x.Errorf("falling: %v", got)
	}
	x.must(chromedp.Do(x.ctx, chromedp.Click(chromedp.CSS("#connection-table th:nth-child(7) button"))))
	if got := column(); !slices.IsSorted(got) {
		x.Errorf("rising: %v", got)
	}
	x.is("the head says so", `document.querySelector("#connection-table th:nth-child(7)").getAttribute("aria-sort") === "ascending"`)
	x.quiet()
}

func themes(x *tab, demoPage string) {
	background := func() string { return value[string](x, `getComputedStyle(document.body).backgroundColor`) }
	const light, dark = "rgb(255, 255, 255)", "rgb(20, 23, 26)"
	x.scheme("dark", "")
	x.open(demoPage)
	if got := background(); got != dark {
		x.Errorf("a dark system shows %s", got)
	}
	x.scheme("light", "")
	if got := background(); got != light {
		x.Errorf("a light system shows %s", got)
	}
	for _, want := range []string{light, dark, light} { // light, dark, as the system
		value[bool](x, `document.getElementById("theme").click(), true`)
		if got := background(); got != want {
			x.Errorf("the switch shows %s, expected %s", got, want)
		}
	}
	x.quiet()
}

// TestPageIsAccessible runs axe-core, whose script NETTRACE_AXE names, on the demo's page in both themes, all unfolded.
func TestPageIsAccessible(t *testing.T) {
	script := os.Getenv("NETTRACE_AXE")
	if script == "" {
		t.Skip("NETTRACE_AXE does not name axe.min.js of axe-core")
	}
	axe, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("..")
	b := browser(t)
	demoPage := address(saved(t, pageOf(t, analysed(t, demo), HTMLOptions{})))
	const run = `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ") + " " + n.failureSummary).slice(0, 3).join("; ")))`
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			x := newTab(t, b)
			x.scheme(scheme, "")
			x.open(demoPage)
			value[bool](x, `document.querySelectorAll("details").forEach((d) => { d.open = true }), true`)
			value[bool](x, string(axe)+"; true")
			for _, v := range value[[]string](x, run) {
				t.Error(v)
			}
			value[bool](x, `document.querySelector("main").removeAttribute("aria-hidden"), document.querySelector("nav").setAttribute("role", "nonsense"), true`)
			if len(value[[]string](x, run)) == 0 {
				t.Error("a role that does not exist is not seen")
			}
		})
	}
}

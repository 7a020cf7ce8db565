package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	pages "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"nettrace/finding"
	"nettrace/fixtures/browser"
	"nettrace/fixtures/shared"
)

func TestPageInBrowser(t *testing.T) {
	t.Chdir("..")
	b := browser.Start(t)
	r := analysed(t, demo)
	demoPage := browser.Address(saved(t, pageOf(t, r, HTMLOptions{})))

	t.Run("requests are seen", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(browser.Address(saved(t, []byte(`<!doctype html><title>x</title><img src="http://example.invalid/x.png">`))))
		time.Sleep(100 * time.Millisecond)
		if asked, errors := x.Heard(); !slices.Contains(asked, "http://example.invalid/x.png") || len(errors) == 0 {
			t.Errorf("a page with a request: asked %q, errors %q", asked, errors)
		}
	})

	t.Run("findings", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(demoPage)
		want := []string{}
		for _, f := range r.Findings {
			want = append(want, f.Severity.String()+" "+f.Summary)
		}
		got := browser.Value[[]string](x, `Array.from(document.querySelectorAll("article.finding > h2"), (h) => h.textContent)`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		x.Is("the first cause leads", `document.querySelector("#overview li").textContent.includes(`+quote(r.Findings[0].Summary)+`)`)
		x.Quiet()
	})

	t.Run("search", func(t *testing.T) { searchByKeyboard(browser.Open(t, b), demoPage) })
	t.Run("flame graph", func(t *testing.T) { flameByKeyboard(browser.Open(t, b), demoPage) })
	t.Run("links", func(t *testing.T) {
		linksKeepTheView(browser.Open(t, b), demoPage, "f-"+r.Findings[slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == "bench/noisy" })].ID)
	})
	t.Run("tables", func(t *testing.T) { tablesSort(browser.Open(t, b), demoPage) })
	t.Run("themes", func(t *testing.T) { themes(browser.Open(t, b), demoPage) })

	t.Run("Markdown", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(demoPage)
		copied := func(label string) string {
			return browser.Value[string](x, `(async () => { let text = ""; navigator.clipboard.writeText = async (t) => { text = t };
				[...document.querySelectorAll("article button.copy")].find((b) => b.textContent === `+quote(label)+`).click();
				await new Promise((r) => setTimeout(r, 50)); return text })()`)
		}
		if got := copied("copy as Markdown"); !strings.HasPrefix(got, "## CRITICAL: "+mark(r.Findings[0].Summary)) {
			t.Errorf("copied %.100q", got)
		}
		x.Slash()
		x.Keys("rule:cross")
		if got, want := copied("copy link"), "#f-"+r.Findings[0].ID+"&q=rule%3Across"; !strings.HasSuffix(got, want) {
			t.Errorf("copied %q, expected it to end in %s", got, want)
		}
		x.Quiet()
	})

	t.Run("picture", func(t *testing.T) { // that of the documentation; -update takes it anew
		x := browser.Open(t, b)
		x.Size(1000, 800)
		x.Visit(demoPage)
		takePicture(x, "docs/pictures/report.png", 1000, 800, 150<<10)
	})

	t.Run("narrow", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Size(400, 800)
		x.Visit(demoPage)
		if width := browser.Value[int](x, `document.documentElement.scrollWidth`); width > 400 {
			t.Errorf("at 400 pixels the page is %d wide", width)
		}
	})

	t.Run("without script", func(t *testing.T) {
		x := browser.Open(t, b)
		_, err := chromedp.Call(x.Context, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		x.Must(err)
		x.Visit(demoPage)
		x.Is("what needs script is away", `!document.getElementById("controls").checkVisibility()`)
		x.Is("the first finding is open", `document.querySelector("article table").checkVisibility()`)
		x.Is("the flame graph is drawn", `document.querySelector("svg.flame .b").getBoundingClientRect().width > 300`)
		x.Is("the plots are drawn", `document.querySelectorAll("svg.chart").length > 3`)
		x.Is("folded before printing", `!document.querySelector("details:not([open]) > :not(summary)").checkVisibility()`)
		x.Scheme("dark", "print")
		x.Is("all is printed", `Array.from(document.querySelectorAll("article details:not([open]) > :not(summary)")).filter((e) => !e.closest(".markdown")).every((e) => e.checkVisibility())`)
		x.Is("black on white", `getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)" && getComputedStyle(document.body).color === "rgb(0, 0, 0)"`)
		x.Quiet()
	})

	t.Run("print", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Scheme("dark", "")
		x.Visit(demoPage)
		pdf, err := chromedp.Call(x.Context, pages.PrintToPDF, pages.PrintToPDFParams{})
		x.Must(err)
		printed := printedText(t, pdf.Data)
		texts := browser.Value[[]string](x, `Array.from(document.querySelectorAll("article.finding :is(h2, p, li, td, pre.commands)")).filter((e) => !e.closest(".markdown") && !e.querySelector("p, li, td, button")).map((e) => e.textContent)`)
		if len(texts) < 20*len(r.Findings) {
			t.Errorf("only %d texts in %d findings", len(texts), len(r.Findings))
		}
		for _, text := range texts {
			if !strings.Contains(printed, squeezed(text)) {
				t.Errorf("not printed: %q", text)
			}
		}
		x.Size(717, 1000) // what is printable of A4
		x.Scheme("light", "print")
		if wide := browser.Value[[]string](x, `Array.from(document.querySelectorAll("body *")).filter((e) => !e.closest(".skip, svg *") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + " " + e.textContent.slice(0, 60))`); len(wide) > 0 {
			t.Errorf("beyond the edge of the paper: %q", wide)
		}
		x.Is("folded as before", `document.querySelectorAll("details:not([open])").length > 5`)
	})

	t.Run("hostile texts", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(browser.Address(saved(t, pageOf(t, mutated(t, hostile), HTMLOptions{}))))
		x.Is("nothing ran", `window.pwned === undefined && document.querySelectorAll("img").length === 0 && document.scripts.length === 2`)
		x.Is("the script works", `document.getElementById("controls").checkVisibility()`)
		x.Quiet()
	})

	t.Run("names of case 26", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(browser.Address(saved(t, pageOf(t, analysed(t, filepath.Join(shared.Path(t, "cases"), "26-svg-escaping", "names.folded")), HTMLOptions{}))))
		x.Slash()
		x.Keys("push_back(int&&)")
		x.Is("found as plain text", `document.getElementById("matches").textContent.includes("1 frame, 27.8 %")`)
		x.Quiet()
	})
}

// printedText returns the text of a PDF without blanks, or skips the test.
func printedText(t *testing.T, pdf []byte) string {
	t.Helper()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("no pdftotext (poppler-utils)")
	}
	cmd := exec.Command("pdftotext", "-raw", "-", "-")
	cmd.Stdin = bytes.NewReader(pdf)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return squeezed(string(out))
}

// squeezed leaves out what may differ where lines are broken.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// takePicture takes what is seen, with -update as a picture of the documentation, and holds both to their size.
func takePicture(x *browser.Tab, file string, width, height, most int) {
	shot, err := chromedp.Run(x.Context, chromedp.CaptureScreenshot())
	x.Must(err)
	if *update {
		x.Must(os.MkdirAll(filepath.Dir(file), 0o755))
		x.Must(os.WriteFile(file, shot, 0o644))
	}
	kept, err := os.ReadFile(file)
	x.Must(err)
	for _, picture := range [][]byte{shot, kept} {
		if c, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || c.Width != width || c.Height != height || len(picture) > most {
			x.Errorf("a picture of %d x %d and %d bytes, %v; expected %d x %d and at most %d bytes", c.Width, c.Height, len(picture), err, width, height, most)
		}
	}
}

func searchByKeyboard(x *browser.Tab, demoPage string) {
	x.Visit(demoPage)
	count := func() string { return browser.Value[string](x, `document.getElementById("matches").textContent`) }
	shown := func() []string {
		return browser.Value[[]string](x, `Array.from(document.querySelectorAll("article.finding:not([hidden])"), (a) => a.dataset.rule)`)
	}
	all := len(shown())
	x.Slash()
	x.Is("/ focuses the box", `document.activeElement.id === "search"`)
	x.Keys("rule:tso severity<=notice")
	got := shown()
	if len(got) < 3 || len(got) == all || !slices.Equal(slices.Compact(got), []string{"tcp/tso-split"}) {
		x.Errorf("%q shows %q", browser.Value[string](x, `document.getElementById("search").value`), got)
	}
	if want := fmt.Sprintf("%d of %d findings", len(got), all); !strings.HasPrefix(count(), want) {
		x.Errorf("counted %q, expected %s", count(), want)
	}
	x.Keys(kb.Enter)
	x.Is("Enter goes to the first match", `document.querySelector("article.current").dataset.rule === "tcp/tso-split"`)
	first := browser.Value[string](x, `document.querySelector("article.current").id`)
	x.Keys(kb.Enter)
	x.Is("Enter goes to the next match", `document.querySelector("article.current").id !== `+quote(first))
	x.Keys(kb.ArrowUp)
	x.Is("arrow up goes back", `document.querySelector("article.current").id === `+quote(first))
	x.Keys(kb.ArrowDown)
	x.Is("arrow down goes on", `document.querySelector("article.current").id !== `+quote(first))
	x.Keys(kb.Escape)
	x.Is("Esc clears", `document.getElementById("search").value === "" && document.activeElement.id !== "search"`)
	if n := len(shown()); n != all {
		x.Errorf("%d findings after Esc; expected %d", n, all)
	}
	for query, want := range map[string]string{
		"!rule:tso sure=high":      `a.dataset.rule !== "tcp/tso-split" && a.dataset.sure === "high"`,
		"severity!=info sure<high": `a.dataset.severity !== "info" && a.dataset.sure !== "high"`,
		"subject:tcp_rr !rule:cl":  `a.dataset.subject.includes("TCP_RR") && a.dataset.rule !== "bench/cliff"`,
	} {
		x.Slash()
		x.Keys(query)
		x.Is(query, `(() => { const all = [...document.querySelectorAll("article.finding")], holds = (a) => `+want+`; return all.every((a) => holds(a) === !a.hidden) && all.some(holds) })()`)
		x.Keys(kb.Escape)
	}
	x.Slash()
	x.Keys("tcp_sendmsg")
	if !strings.Contains(count(), "frames") || !strings.Contains(count(), "%") {
		x.Errorf("a function: counted %q", count())
	}
	x.Is("frames are marked", `document.querySelectorAll(".b.hit").length > 1`)
	x.Must(chromedp.Do(x.Context, chromedp.Blur(chromedp.ID("search"))))
	x.Keys("N")
	x.Is("N goes to the last match, a frame", `document.activeElement.closest(".b").classList.contains("hit")`)
	last := browser.Value[string](x, `document.getElementById("matches").textContent`)
	x.Keys("N")
	x.Is("N goes on", `document.getElementById("matches").textContent !== `+quote(last))
	x.Keys("n")
	x.Is("n goes back", `document.getElementById("matches").textContent === `+quote(last))
	x.Slash()
	x.Keys(kb.Escape)
	x.Slash()
	x.Keys("severity:awful")
	if count() != "no severity is called awful: info, notice, warning, critical" {
		x.Errorf("a word that is no severity: %q", count())
	}
	x.Keys(kb.Escape)
	x.Must(chromedp.Do(x.Context, chromedp.Click(chromedp.CSS(".counts button.critical"))))
	if got := browser.Value[[]string](x, `Array.from(document.querySelectorAll("article.finding:not([hidden])"), (a) => a.dataset.severity)`); len(got) == 0 || !slices.Equal(slices.Compact(got), []string{"critical"}) {
		x.Errorf("the count of critical ones shows %q", got)
	}
	x.Quiet()
}

func flameByKeyboard(x *browser.Tab, demoPage string) {
	x.Visit(demoPage)
	name := func() string {
		return browser.Value[string](x, `document.activeElement.getAttribute("aria-label").split("\n")[0]`)
	}
	x.Is("one stop for Tab", `document.querySelectorAll(".frames [tabindex='0']").length === 1`)
	browser.Value[bool](x, `document.querySelector(".frames [tabindex='0']").focus(), true`)
	if !strings.HasPrefix(name(), "all (") {
		x.Fatalf("the walk begins at %q", name())
	}
	x.Keys(kb.ArrowUp)
	thread := name()
	x.Keys(kb.ArrowLeft)
	sibling := name()
	if thread == sibling || strings.HasPrefix(sibling, "all (") {
		x.Errorf("left of %q is %q", thread, sibling)
	}
	x.Keys(kb.ArrowRight)
	if name() != thread {
		x.Errorf("right again is %q, not %q", name(), thread)
	}
	x.Keys(kb.ArrowUp, kb.Enter)
	zoomed := name()
	x.Is("Enter zooms", `document.activeElement.getAttribute("width") === "100%" && document.querySelector(".crumbs").checkVisibility()`)
	x.Is("the address tells", `location.hash.includes("zoom.flame-1=")`)
	link := browser.Value[string](x, `location.href`)
	x.Keys(kb.Escape)
	x.Is("Esc zooms out by a level", `document.querySelector(".crumbs").textContent.split("›").length === 2`)
	x.Keys(kb.Escape)
	x.Is("Esc zooms out whole", `!document.querySelector(".crumbs").checkVisibility()`)
	x.Visit(link)
	crumbs := browser.Value[string](x, `document.querySelector(".crumbs").textContent`)
	if function, _, _ := strings.Cut(zoomed, " ("); !strings.Contains(crumbs, function) {
		x.Errorf("the link leads to %q, not to %q", crumbs, zoomed)
	}
	x.Quiet()
}

func linksKeepTheView(x *browser.Tab, demoPage, id string) {
	x.Visit(demoPage + "#" + id + "&q=bench&theme=dark")
	x.Is("search", `document.getElementById("search").value === "bench"`)
	x.Is("theme", `getComputedStyle(document.body).backgroundColor === "rgb(20, 23, 26)"`)
	x.Is("the finding is open", `document.getElementById(`+quote(id)+`).querySelector("details").open`)
	x.Is("the finding is in view", `(({ top }) => top >= 0 && top < 200)(document.getElementById(`+quote(id)+`).getBoundingClientRect())`)
	dead := browser.Value[[]string](x, `Array.from(document.querySelectorAll("a[href^='#']")).map((a) => a.getAttribute("href")).filter((h) => !document.getElementById(h.slice(1)))`)
	if len(dead) > 0 {
		x.Errorf("links that lead nowhere: %q", dead)
	}
	twice := browser.Value[[]string](x, `Array.from(document.querySelectorAll("[id]")).map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`)
	if len(twice) > 0 {
		x.Errorf("identifiers that occur twice: %q", twice)
	}
	x.Quiet()
}

func tablesSort(x *browser.Tab, demoPage string) {
	x.Visit(demoPage)
	column := func() []float64 {
		return browser.Value[[]float64](x, `Array.from(document.querySelectorAll("#connection-table tbody tr"), (r) => Number(r.cells[6].dataset.value))`)
	}
	x.Must(chromedp.Do(x.Context, chromedp.Click(chromedp.CSS("#connection-table th:nth-child(7) button"))))
	if got := column(); !slices.IsSortedFunc(got, func(a, b float64) int { return int(b - a) }) {
		x.Errorf("falling: %v", got)
	}
	x.Must(chromedp.Do(x.Context, chromedp.Click(chromedp.CSS("#connection-table th:nth-child(7) button"))))
	if got := column(); !slices.IsSorted(got) {
		x.Errorf("rising: %v", got)
	}
	x.Is("the head says so", `document.querySelector("#connection-table th:nth-child(7)").getAttribute("aria-sort") === "ascending"`)
	x.Quiet()
}

func themes(x *browser.Tab, demoPage string) {
	background := func() string { return browser.Value[string](x, `getComputedStyle(document.body).backgroundColor`) }
	const light, dark = "rgb(255, 255, 255)", "rgb(20, 23, 26)"
	x.Scheme("dark", "")
	x.Visit(demoPage)
	if got := background(); got != dark {
		x.Errorf("a dark system shows %s", got)
	}
	x.Scheme("light", "")
	if got := background(); got != light {
		x.Errorf("a light system shows %s", got)
	}
	for _, want := range []string{light, dark, light} { // light, dark, as the system
		browser.Value[bool](x, `document.getElementById("theme").click(), true`)
		if got := background(); got != want {
			x.Errorf("the switch shows %s, expected %s", got, want)
		}
	}
	x.Quiet()
}

// TestPageIsAccessible runs axe-core, whose script NETTRACE_AXE names, on the demo's page in both themes, all unfolded.
func TestPageIsAccessible(t *testing.T) {
	axe := browser.Axe(t)
	t.Chdir("..")
	b := browser.Start(t)
	demoPage := browser.Address(saved(t, pageOf(t, analysed(t, demo), HTMLOptions{})))
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			x := browser.Open(t, b)
			x.Scheme(scheme, "")
			x.Visit(demoPage)
			browser.Value[bool](x, `document.querySelectorAll("details").forEach((d) => { d.open = true }), true`)
			x.Accessible(axe, "nav")
		})
	}
}

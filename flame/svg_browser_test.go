package flame

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/browser"
	"nettrace/fixtures/shared"
)

func TestSVGInBrowser(t *testing.T) {
	b := browser.Start(t)
	p, _ := readPerf(t, shared.Read(t, netserver))
	l := layout(t, p, LayoutOptions{})
	address := savedSVG(t, p, SVGOptions{})

	t.Run("numbers", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(address)
		var want []string
		for _, row := range l.Rows {
			for _, box := range row {
				want = append(want, fmt.Sprintf("%s (%s, %s)", l.Label(box), Quantity(box.Value, l.Scale, l.Unit), percent(l.Share(box.Value))))
			}
		}
		got := browser.Value[[]string](x, `Array.from(document.querySelectorAll(".b > title"), (t) => t.textContent.split("\n")[0])`)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		x.Quiet()
	})

	t.Run("keys", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(address)
		name := func() string {
			return browser.Value[string](x, `document.activeElement.getAttribute("aria-label").split(" (")[0]`)
		}
		x.Is("the tree is one stop", `document.querySelectorAll(".frames [tabindex='0']").length === 1`)
		browser.Value[bool](x, `document.querySelector(".frames [tabindex='0']").focus(), true`)
		x.Keys(kb.ArrowUp)
		expect(x, "up is the widest thread", name(), "swapper")
		x.Is("its place among its siblings is told", `document.activeElement.getAttribute("aria-posinset") === "3" && document.activeElement.getAttribute("aria-setsize") === "3"`)
		x.Keys(kb.ArrowLeft)
		expect(x, "left", name(), "rrserver")
		x.Keys(kb.Enter)
		expect(x, "breadcrumb", text1(x, ".crumbs"), "allrrserver "+percent(share(l, "rrserver"))+" of all")
		x.Is("the address tells", `location.hash === "#zoom=rrserver"`)
		x.Keys("i")
		x.Is("i turns", `Number(document.querySelector(".b").getAttribute("y")) === 0`)
		x.Keys("i", kb.Escape)
		expect(x, "Esc zooms out", text1(x, ".crumbs"), "all 100.00% of all")
		x.Slash()
		x.Keys("tcp_v4_rcv")
		part, boxes := matched(l, func(s string) bool { return strings.Contains(s, "tcp_v4_rcv") })
		expect(x, "matched", text1(x, ".ui [role=status]"), fmt.Sprintf("matched %s, %d frames", percent(part), boxes))
		x.Keys(kb.Enter)
		expect(x, "next match", name(), "tcp_v4_rcv")
		first := browser.Value[string](x, `document.activeElement.dataset.s`)
		x.Keys("n")
		x.Is("n goes on", `document.activeElement.dataset.s !== "`+first+`"`)
		x.Keys("N")
		x.Is("N goes back", `document.activeElement.dataset.s === "`+first+`"`)
		link := browser.Value[string](x, `location.href`)
		x.Visit(link)
		expect(x, "the link keeps the search", text1(x, ".ui [role=status]"), fmt.Sprintf("matched %s, %d frames", percent(part), boxes))
		x.Quiet()
	})

	t.Run("search within what is shown", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(address + "#zoom=rrserver&q=%5Esock_")
		under := threads(t, p, "rrserver")
		part, boxes := matched(under, func(s string) bool { return strings.HasPrefix(s, "sock_") })
		part /= share(under, "rrserver")
		expect(x, "matched", text1(x, ".ui [role=status]"), fmt.Sprintf("matched %s of what is shown, %d frames", percent(part), boxes))
	})

	t.Run("pointer and themes", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Scheme("dark", "")
		x.Visit(address)
		x.Is("dark", `getComputedStyle(document.querySelector(".page")).fill === "rgb(22, 24, 28)"`)
		browser.Value[bool](x, `(() => { const b = Array.from(document.querySelectorAll("button")).find((b) => b.textContent.startsWith("theme")); b.click(); return true })()`)
		x.Is("light by the switch", `getComputedStyle(document.querySelector(".page")).fill === "rgb(255, 255, 255)"`)
		x.Scheme("dark", "print")
		x.Is("paper is light", `getComputedStyle(document.querySelector(".page")).fill === "rgb(255, 255, 255)"`)
		x.Scheme("light", "")
		x.Must(chromedp.Do(x.Context, chromedp.Click(chromedp.CSS(".b:nth-of-type(3)"))))
		x.Is("a click zooms", `document.querySelectorAll(".crumbs li").length > 1`)
	})

	t.Run("without script", func(t *testing.T) {
		x := browser.Open(t, b)
		_, err := chromedp.Call(x.Context, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		x.Must(err)
		x.Visit(address)
		x.Is("boxes are drawn", `document.querySelector(".b").getBoundingClientRect().width > 900 && document.querySelector(".title").getBoundingClientRect().height > 5`)
	})

	t.Run("hostile names", func(t *testing.T) {
		x := browser.Open(t, b)
		x.Visit(savedSVG(t, hostileProfile(t), SVGOptions{Title: hostileName}))
		x.Is("nothing ran", `window.pwned === undefined && document.querySelectorAll("script").length === 1 && document.querySelectorAll("img, a").length === 0`)
		x.Is("names are whole", `Array.from(document.querySelectorAll(".b > title"), (t) => t.textContent).some((t) => t.startsWith(`+fmt.Sprintf("%q", Clean(hostileName))+`))`)
		x.Quiet()
	})

	t.Run("axe", func(t *testing.T) {
		axe := browser.Axe(t)
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1000, 400} {
				x := browser.Open(t, b)
				x.Scheme(scheme, "")
				x.Size(width, 800)
				x.Visit(saved(t, "x.html", func(w io.Writer) error {
					var picture bytes.Buffer
					err := WriteSVG(&picture, p, SVGOptions{})
					_, svg, _ := strings.Cut(picture.String(), "?>")
					fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>x</title></head><body><main><h1>x</h1>%s</main></body></html>`, svg)
					return err
				}))
				x.Is("within the page", `document.documentElement.scrollWidth <= innerWidth`)
				browser.Value[bool](x, `(() => { const i = document.querySelector("input"); i.value = "tcp"; i.dispatchEvent(new Event("input")); document.querySelectorAll(".b")[5].dispatchEvent(new MouseEvent("click", { bubbles: true })); return true })()`)
				x.Accessible(axe, "main ol")
			}
		}
	})
}

package report

import (
	"fmt"
	"html"
	"io"
	"reflect"
	"strings"
)

// svgStyle has the page's colours for a picture that stands alone, dark where the reader's system is.
const svgStyle = `svg{font:11px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.page{fill:#fff}.title{font:bold 14px system-ui,"DejaVu Sans",sans-serif;fill:#1a1c1e}
text{fill:#55595e}.label{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#1a1c1e}.middle{text-anchor:middle}.end{text-anchor:end}
.grid{fill:none;stroke:#d4d7da;stroke-width:.7}
.curve,.fitted,.range,.median{fill:none;stroke-width:1.8}.fitted{stroke-width:1;opacity:.6}.range{stroke-width:1}.median{stroke-width:3}.dot{stroke:none;opacity:.75}.interval{fill-opacity:.25;stroke:none}
.crossing{fill:none;stroke:#55595e;stroke-dasharray:2 3}
.curve0,.set0 *{stroke:#0b57a4}.curve1,.set1 *{stroke:#8a4b00}.curve2,.set2 *{stroke:#1f7a4d}.curve3,.set3 *{stroke:#6b4fa0}
.dot.curve0,.set0 .dot,.set0 .interval{fill:#0b57a4;stroke:none}.dot.curve1,.set1 .dot,.set1 .interval{fill:#8a4b00;stroke:none}
.dot.curve2,.set2 .dot,.set2 .interval{fill:#1f7a4d;stroke:none}.dot.curve3,.set3 .dot,.set3 .interval{fill:#6b4fa0;stroke:none}
.curve1:not(.solid){stroke-dasharray:7 3}.curve2:not(.solid){stroke-dasharray:2 3}.curve3:not(.solid){stroke-dasharray:9 3 2 3}
@media (prefers-color-scheme:dark){.page{fill:#14171a}.title,.label{fill:#e2e4e6}text{fill:#a2a8ae}.grid{stroke:#3a4046}.crossing{stroke:#a2a8ae}
.curve0,.set0 *{stroke:#7ab8ff}.curve1,.set1 *{stroke:#ffb454}.curve2,.set2 *{stroke:#6fd3a0}.curve3,.set3 *{stroke:#c4a8ff}
.dot.curve0,.set0 .dot,.set0 .interval{fill:#7ab8ff}.dot.curve1,.set1 .dot,.set1 .interval{fill:#ffb454}.dot.curve2,.set2 .dot,.set2 .interval{fill:#6fd3a0}.dot.curve3,.set3 .dot,.set3 .interval{fill:#c4a8ff}}
`

// Sizes of what stands around the charts of a picture.
const (
	svgTitle  = 28
	svgLegend = 18
	svgGap    = 16
)

// CompareSVG draws a comparison as one picture that needs nothing else: its plots below each other, each with its title and
// the names of its sets. An error says that there is nothing to draw.
func CompareSVG(w io.Writer, c *Compared) error {
	rewriteStrings(reflect.ValueOf(c), Clean)
	plots := comparePlots(c)
	if len(plots) == 0 {
		return fmt.Errorf("nothing to draw: no test has repeated values, and nothing varies along a curve")
	}
	var b strings.Builder
	at := svgGap
	for _, p := range plots {
		fmt.Fprintf(&b, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", chartLeft/4, at+14, html.EscapeString(p.title))
		at += svgTitle
		fmt.Fprintf(&b, "<g transform=\"translate(0 %d)\">\n%s</g>\n", at, sized(string(p.view.SVG)))
		at += plotHeightOf(string(p.view.SVG))
		for _, item := range p.view.Legend {
			fmt.Fprintf(&b, "<g class=\"%s\" transform=\"translate(%d %d)\">%s</g><text class=\"label\" x=\"%d\" y=\"%d\">%s</text>\n",
				item.Class, chartLeft, at, item.Shape, chartLeft+22, at+11, html.EscapeString(item.Label))
			at += svgLegend
		}
		at += svgGap
	}
	_, err := fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n<style>%s</style>\n<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n%s</svg>\n",
		chartWidth, at, chartWidth, at, svgStyle, b.String())
	return err
}

// plotHeightOf returns the height of a chart, which its frame tells.
func plotHeightOf(svg string) int {
	var width, height int
	if i := strings.Index(svg, `viewBox="0 0 `); i >= 0 {
		if n, err := fmt.Sscanf(svg[i:], `viewBox="0 0 %d %d"`, &width, &height); n == 2 && err == nil {
			return height
		}
	}
	return chartHeight
}

// sized gives a chart that stands in a picture its size.
func sized(svg string) string {
	if strings.HasPrefix(svg, `<svg class="chart" viewBox`) {
		return strings.Replace(svg, `<svg class="chart"`, fmt.Sprintf(`<svg class="chart" width="%d" height="%d"`, chartWidth, plotHeightOf(svg)), 1)
	}
	return svg
}

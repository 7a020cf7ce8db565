package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"nettrace/unit"
)

// Sizes of a chart in units of its viewBox, which are pixels where the page is wide enough.
const (
	chartWidth   = 760
	chartLeft    = 84
	chartRight   = 14
	chartTop     = 12
	chartBottom  = 46
	ticksAcross  = 7
	ticksUp      = 5
	chartHeight  = 300
	marginShare  = 0.03 // of an axis, left free at its ends
	pixelsInText = 6.6  // of a digit in the labels
)

// axis maps values to pixels.
type axis struct {
	low, high float64 // values
	from, to  float64 // pixels
	label     string
	text      func(float64) string // of a tick
}

// widened returns the range from low to high with a margin at both ends.
func widened(low, high float64) (float64, float64) {
	if high <= low {
		return low - 1, high + 1
	}
	margin := (high - low) * marginShare
	return low - margin, high + margin
}

func (a *axis) at(v float64) float64 {
	return a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from)
}

// ticks returns round values within the axis, about n of them: steps of 1, 2 or 5 times a power of ten.
func (a *axis) ticks(n int) []float64 {
	rough := (a.high - a.low) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= rough {
			step *= m
			break
		}
	}
	var list []float64
	first := math.Ceil(a.low / step)
	for i := 0; i <= 4*n; i++ {
		if v := (first + float64(i)) * step; v <= a.high {
			list = append(list, v)
		}
	}
	return list
}

// chart is a picture with two linear axes, drawn as one svg element. Colours and line styles are the page's, by class.
type chart struct {
	b    strings.Builder
	x, y axis
}

// newChart draws the frame. said describes the picture to those who hear the page.
func newChart(x, y axis, said string) *chart {
	c := &chart{x: x, y: y}
	c.x.from, c.x.to = chartLeft, chartWidth-chartRight
	c.y.from, c.y.to = chartHeight-chartBottom, chartTop
	c.printf(`<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", chartWidth, chartHeight, html.EscapeString(said))
	var grid strings.Builder
	for _, v := range c.x.ticks(ticksAcross) {
		fmt.Fprintf(&grid, "M%s %sV%s", px(c.x.at(v)), px(c.y.from), px(c.y.to))
		c.text("tick middle", c.x.at(v), c.y.from+16, c.x.text(v))
	}
	for _, v := range c.y.ticks(ticksUp) {
		fmt.Fprintf(&grid, "M%s %sH%s", px(c.x.from), px(c.y.at(v)), px(c.x.to))
		c.text("tick end", c.x.from-6, c.y.at(v)+4, c.y.text(v))
	}
	c.path("grid", grid.String())
	c.text("label middle", (c.x.from+c.x.to)/2, chartHeight-8, c.x.label)
	middle := (c.y.from + c.y.to) / 2
	c.printf(`<text class="label middle" transform="translate(12 %s)rotate(-90)">%s</text>`+"\n", px(middle), html.EscapeString(c.y.label))
	return c
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

func (c *chart) text(class string, x, y float64, s string) {
	c.printf(`<text class="%s" x="%s" y="%s">%s</text>`+"\n", class, px(x), px(y), html.EscapeString(s))
}

// path draws lines; an empty one draws nothing.
func (c *chart) path(class, d string) {
	if d != "" {
		c.printf(`<path class="%s" d="%s"/>`+"\n", class, d)
	}
}

// shade marks a part of the horizontal axis.
func (c *chart) shade(from, to float64) {
	from, to = max(from, c.x.low), min(to, c.x.high)
	if from < to {
		width := max(c.x.at(to)-c.x.at(from), 4)
		c.printf(`<rect class="shade" x="%s" y="%d" width="%s" height="%s"/>`+"\n", px(c.x.at(from)), chartTop, px(width), px(c.y.from-c.y.to))
	}
}

func (c *chart) done() template.HTML { return template.HTML(c.b.String() + "</svg>\n") }

// px prints a coordinate to a tenth of a pixel.
func px(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}

// steps makes a line that goes on at a value until the next one.
type steps struct {
	b    strings.Builder
	last float64
}

func (s *steps) to(x, y float64) {
	if s.b.Len() == 0 {
		fmt.Fprintf(&s.b, "M%s %s", px(x), px(y))
	} else {
		fmt.Fprintf(&s.b, "H%s", px(x))
		if y != s.last {
			fmt.Fprintf(&s.b, "V%s", px(y))
		}
	}
	s.last = y
}

// timeAxis returns an axis of the times from first to last, in the unit that suits their distance. Times much later than
// their distance are counted from a round one, which the label names.
func timeAxis(first, last unit.Nanos) axis {
	low, high := widened(float64(first), float64(last))
	scale, name := 1e9, "s"
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e6, "ms"}, {1e3, "us"}} {
		if high-low < 2*scale {
			scale, name = u.scale, u.name
		}
	}
	label, origin := "time, "+name, 0.0
	if low > 4*(high-low) {
		origin = math.Floor(float64(first)/scale/100) * 100 * scale
		label = fmt.Sprintf("time, %s since %s s", name, strconv.FormatFloat(origin/1e9, 'f', -1, 64))
	}
	a := axis{low: low - origin, high: high - origin, label: label, text: func(v float64) string { return tick(v / scale) }}
	a.low, a.high = low, high
	if origin != 0 {
		a.text = func(v float64) string { return tick((v - origin) / scale) }
	}
	return a
}

// countAxis returns an axis of numbers.
func countAxis(low, high float64, label string) axis {
	low, high = widened(low, high)
	return axis{low: low, high: high, label: label, text: tick}
}

// tick prints a round number.
func tick(v float64) string {
	if v == math.Trunc(v) {
		return unit.Count(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

package flame

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nettrace/unit"
)

// SVGOptions choose how a flame graph is drawn. The zero value is a flame (the root at the bottom) of the main event.
type SVGOptions struct {
	LayoutOptions
	Title  string // "" is the event's name
	Icicle bool   // the root at the top
}

// Sizes of the picture in pixels; widths are in percent, so that it fills the window.
const (
	rowHeight    = 17
	headerHeight = 74
	footerHeight = 30
)

// labelShare is the share of the width from which on a box gets its name drawn. The script adds names on zooming.
const labelShare = 0.012

// maxHidden bounds the frames too small to draw that the search still finds.
const maxHidden = 20000

//go:embed graph.js
var graphScript string

//go:embed svg.js
var shellScript string

// svgScript is the script of a picture that stands alone.
func svgScript() string { return graphScript + shellScript }

// WriteSVG draws a flame graph as one self-contained SVG file: readable without script, with it to be zoomed, searched
// and reset. The same profile gives the same bytes.
func WriteSVG(w io.Writer, p *Profile, o SVGOptions) error {
	if o.Hidden == 0 {
		o.Hidden = maxHidden
	}
	l, err := NewLayout(p, o.LayoutOptions)
	if err != nil {
		return err
	}
	if o.Title == "" {
		o.Title = l.Event.Name
		if o.Title == "(none)" {
			o.Title = "Flame graph"
		}
	}
	s := svg{Writer: bufio.NewWriter(w), layout: l, options: o}
	s.head(p)
	s.frames(`x="0.5%" width="99%"`, headerHeight)
	s.legend()
	s.hidden()
	s.printf("<script><![CDATA[\n%s]]></script>\n</svg>\n", svgScript())
	return s.Flush()
}

// svg writes the parts of the picture.
type svg struct {
	*bufio.Writer
	layout  *Layout
	options SVGOptions
}

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(s.Writer, format, args...) }

// text escapes a name for element text and attributes.
func text(name string) string { return escapeXML(Clean(name)) }

func (s *svg) height() int { return headerHeight + rowHeight*len(s.layout.Rows) + footerHeight }

func (s *svg) head(p *Profile) {
	title := text(s.options.Title)
	s.printf(`<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" class="flame" width="100%%" height="%d" role="group" aria-label="flame graph: %s">
<title>%s</title>
<style>%s</style>
<rect class="page" width="100%%" height="100%%"/>
<text class="title" x="50%%" y="24">%s</text>
`, s.height(), title, title, s.style(), title)
	for i, line := range s.subtitles(p) {
		s.printf("<text class=\"note\" x=\"50%%\" y=\"%d\">%s</text>\n", 42+16*i, text(line))
	}
}

// subtitles says what the picture shows, and what it leaves out.
func (s *svg) subtitles(p *Profile) []string {
	l := s.layout
	facts := []string{s.value(l.Total)}
	if l.Unit != "samples" {
		facts = append(facts, unit.Count(l.Event.Samples)+" samples")
	}
	if p.End > p.Start {
		facts = append(facts, (p.End-p.Start).String()+" recorded")
	}
	if p.CPUs > 0 {
		facts = append(facts, unit.Count(int64(p.CPUs))+" CPUs")
	}
	for _, fact := range []string{p.Host, p.Release} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	if p.Lost.Share > 0 {
		facts = append(facts, unit.Percent(p.Lost.Share)+" of the samples lost")
	} else if p.Lost.Events > 0 || p.Lost.Chunks > 0 {
		facts = append(facts, "samples lost")
	}
	return []string{strings.Join(facts, ", "), s.leftOut()}
}

func (s *svg) leftOut() string {
	l := s.layout
	var parts []string
	if l.Small.Boxes > 0 {
		parts = append(parts, fmt.Sprintf("%s frames below %s of the total are summed up (%s, %s)",
			unit.Count(int64(l.Small.Boxes)), unit.Percent(l.MinShare), s.value(l.Small.Self), percent(l.Share(l.Small.Self))))
	}
	if l.Deep.Boxes > 0 {
		parts = append(parts, fmt.Sprintf("%s frames below level %s are not drawn (%s; the deepest level is %s)",
			unit.Count(int64(l.Deep.Boxes)), unit.Count(int64(len(l.Rows)-1)), s.value(l.Deep.Self), unit.Count(int64(l.Depth))))
	}
	return strings.Join(parts, "; ")
}

// style has the colours for light and dark pages.
func (s *svg) style() string {
	var light, dark strings.Builder
	for _, c := range s.classes() {
		k, inlined, shade := c.parts()
		colours := coloursOf(k)
		fmt.Fprintf(&light, ".%s{fill:%s}", c, colours.fill(shade, inlined, false))
		fmt.Fprintf(&dark, ".%s{fill:%s}", c, colours.fill(shade, inlined, true))
	}
	return `text{font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#111}.title{font-size:17px;text-anchor:middle}.note{fill:#444;text-anchor:middle}` +
		`.flame{background:#fff;color-scheme:light dark}.page{fill:#fff}.b rect{stroke:#fff;stroke-width:.6}.b{cursor:pointer}.b text{pointer-events:none}.button{cursor:pointer;text-decoration:underline}.b.above{opacity:.55}.b.hit rect{fill:#d6006c}.b.hit text{fill:#fff}` +
		`.b:focus{outline:none}.b:focus rect{stroke:#000;stroke-width:2}` +
		light.String() + `@media(prefers-color-scheme:dark){text{fill:#eee}.note{fill:#bbb}.flame{background:#16181c}.page{fill:#16181c}.b rect{stroke:#16181c}.b:focus rect{stroke:#fff}.b.hit rect{fill:#ff5cae}.b.hit text{fill:#111}` + dark.String() + `}`
}

// class is a box's colour: kind, inlined or not, and shade.
type class int

func (s *svg) class(b Box) class {
	c := class(s.layout.Kind(b)) * 2
	if b.Frame >= 0 && s.layout.Frames[b.Frame].Inlined {
		c++
	}
	return c*shades + class(shadeOf(s.layout.Name(b)))
}

func (c class) parts() (k Kind, inlined bool, shade int) {
	return Kind(c / shades / 2), c/shades%2 == 1, int(c % shades)
}

func (c class) String() string { return "c" + strconv.Itoa(int(c)) }

// classes returns those that the picture has.
func (s *svg) classes() []class {
	var classes []class
	for _, row := range s.layout.Rows {
		for _, b := range row {
			classes = append(classes, s.class(b))
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

// frames draws the boxes between two edges, below top. Each is an SVG of its own, which cuts its text at its edges without
// a script.
func (s *svg) frames(edges string, top int) {
	l := s.layout
	s.printf("<svg class=\"frames\" %s y=\"%d\" height=\"%d\" data-total=\"%d\">\n", edges, top, rowHeight*len(l.Rows), l.Total)
	for depth, row := range l.Rows {
		y := depth
		if !s.options.Icicle {
			y = len(l.Rows) - 1 - depth
		}
		for _, b := range row {
			s.box(b, y*rowHeight)
		}
	}
	s.printf("</svg>\n")
}

func (s *svg) box(b Box, y int) {
	l := s.layout
	rest := ""
	if b.Frame == Smaller {
		rest = " rest"
	}
	s.printf(`<svg class="b%s %s" x="%s" y="%d" width="%s" height="%d" data-s="%d" data-v="%d"><title>`,
		rest, s.class(b), place4(l.Share(b.Start)), y, place4(l.Share(b.Value)), rowHeight-1, b.Start, b.Value)
	s.WriteString(s.tooltip(b))
	s.WriteString(`</title><rect width="100%" height="100%"/>`)
	if l.Share(b.Value) >= labelShare || b.Frame == Root {
		s.printf(`<text x="3" y="12">%s</text>`, text(s.label(b)))
	}
	s.WriteString("</svg>\n")
}

func (s *svg) label(b Box) string {
	if b.Frame == Smaller {
		return unit.Count(int64(b.Count)) + " smaller frames"
	}
	return s.layout.Name(b)
}

// tooltip begins with the name and, behind the last " (" of the first line, inclusive value and share.
func (s *svg) tooltip(b Box) string {
	l := s.layout
	t := fmt.Sprintf("%s (%s, %s)", text(s.label(b)), text(s.value(b.Value)), percent(l.Share(b.Value)))
	if b.Frame == Smaller {
		return t
	}
	t += fmt.Sprintf("\nself %s, %s", text(s.value(b.Self)), percent(l.Share(b.Self)))
	if b.Frame >= 0 && l.Frames[b.Frame].Object != "" {
		t += "\nin " + text(l.Frames[b.Frame].Object)
	}
	if b.Frame >= 0 && l.Frames[b.Frame].Inlined {
		t += ", inlined"
	}
	return t
}

// value prints a value with its unit.
func (s *svg) value(v int64) string { return Quantity(v, s.layout.Scale, s.layout.Unit) }

// Quantity prints a value of a profile, a layout or a table with its unit.
func Quantity(value, scale int64, of string) string {
	if scale > 1 {
		return decimal(value, scale) + " " + of
	}
	return unit.Format(float64(value), of)
}

// percent prints a share with two digits behind the point, so that shares of one picture can be added up.
func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + "%" }

// place4 prints a share as a place or a width of the picture: a ten-thousandth of a percent is a pixel of a million.
func place4(share float64) string { return strconv.FormatFloat(100*share, 'f', 4, 64) + "%" }

// legend names the colours that the picture has.
func (s *svg) legend() {
	y := s.height() - footerHeight + 8
	x := 10
	for _, e := range s.layout.Legend() {
		s.printf("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/><text x=\"%d\" y=\"%d\">%s</text>\n", e.Class, x, y, x+17, y+11, text(e.Name))
		x += 17 + 8*len(e.Name) + 16
	}
}

// hidden hands the frames that are not drawn to the script, which searches them.
func (s *svg) hidden() {
	l := s.layout
	hidden := struct {
		Names  []string `json:"names"`
		Spans  []int64  `json:"spans"`  // start and value of each
		Others int      `json:"others"` // frames not drawn that are not listed
	}{[]string{}, []int64{}, l.Small.Boxes + l.Deep.Boxes - len(l.Hidden)}
	for _, b := range l.Hidden {
		hidden.Names = append(hidden.Names, Clean(l.Name(b)))
		hidden.Spans = append(hidden.Spans, b.Start, b.Value)
	}
	data, err := json.Marshal(hidden) // with <, > and & as \u escapes, so that it is XML text as it is
	if err != nil {
		return
	}
	s.printf("<metadata class=\"hidden\">%s</metadata>\n", data)
}

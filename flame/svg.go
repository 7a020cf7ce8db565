package flame

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"nettrace/unit"
)

// SVGOptions choose how a flame graph is drawn. The zero value is a flame (the root at the bottom) of the main event.
type SVGOptions struct {
	LayoutOptions
	Colours
	Title  string // "" is the event's name
	Icicle bool   // the root at the top
	Width  Width  // of boxes in a difference
}

// Sizes of the picture in pixels; widths are in percent, so that it fills the window.
const (
	rowHeight    = 17
	noteHeight   = 16
	firstNote    = 42
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
func svgScript() string { return searchScript + graphScript + shellScript }

// WriteSVG draws a flame graph as one self-contained SVG file: readable without script, with it to be zoomed, searched
// and walked. The same profile gives the same bytes.
func WriteSVG(w io.Writer, p *Profile, o SVGOptions) error {
	if o.Hidden == 0 {
		o.Hidden = maxHidden
	}
	l, err := NewLayout(p, o.LayoutOptions)
	if err != nil {
		return err
	}
	if o.Title == "" {
		o.Title = titleOf(l.Event)
	}
	s := newSVG(w, l, o.Colours)
	s.icicle, s.title = o.Icicle, o.Title
	return s.picture(s.subtitles(p))
}

// titleOf is what a picture of an event is called.
func titleOf(e EventTotal) string {
	if e.Name == "(none)" {
		return "Flame graph"
	}
	return e.Name
}

// svg writes the parts of the picture.
type svg struct {
	*bufio.Writer
	layout  *Layout
	colours Colours
	classes []class  // of the frames
	names   []string // of the frames, escaped; "" as long as a name was not needed
	title   string
	icicle  bool
	top     int    // where the boxes begin
	line    []byte // reused
}

func newSVG(w io.Writer, l *Layout, c Colours) *svg {
	s := &svg{Writer: bufio.NewWriterSize(w, 1<<16), layout: l, colours: c, classes: make([]class, len(l.Frames)), names: make([]string, len(l.Frames))}
	for i := range s.classes {
		s.classes[i] = -1
	}
	return s
}

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(s.Writer, format, args...) }

// text escapes a name for element text and attributes.
func text(name string) string { return escapeXML(Clean(name)) }

func (s *svg) height() int { return s.top + rowHeight*len(s.layout.Rows) + footerHeight }

// picture writes the whole file.
func (s *svg) picture(notes []string) error {
	title := text(s.title)
	class := "flame"
	if s.layout.Diff != nil {
		class = "flame diff"
	}
	s.top = firstNote + noteHeight*max(len(notes), 2)
	s.printf(`<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" class="%s" width="100%%" height="%d" role="group" aria-label="flame graph: %s">
<title>%s</title>
`, class, s.height(), title, title)
	s.styles()
	s.printf(`<rect class="page" width="100%%" height="100%%"/>
<g class="head">
<text class="title" x="50%%" y="24">%s</text>
`, title)
	for i, line := range notes {
		s.printf("<text class=\"note\" x=\"50%%\" y=\"%d\">%s</text>\n", firstNote+noteHeight*i, text(line))
	}
	s.WriteString("</g>\n")
	s.frames(`x="0.5%" width="99%"`, s.top)
	s.legend()
	s.hidden()
	s.printf("<script><![CDATA[\n%s]]></script>\n</svg>\n", svgScript())
	return s.Flush()
}

// subtitles says what the picture shows, and what it leaves out.
func (s *svg) subtitles(p *Profile) []string {
	return []string{strings.Join(recorded(p, s.layout), ", "), s.leftOut()}
}

// recorded says what a profile holds, and how it came about.
func recorded(p *Profile, l *Layout) []string {
	facts := append([]string{Quantity(l.Total, l.Scale, l.Unit)}, p.Selected...)
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
	return facts
}

func (s *svg) leftOut() string {
	l := s.layout
	amount := func(v int64) string {
		if l.Diff != nil {
			return percent(l.Share(v)) + " of the width"
		}
		return s.value(v)
	}
	var parts []string
	if l.Small.Boxes > 0 {
		more := ""
		if l.Diff == nil {
			more = ", " + percent(l.Share(l.Small.Self))
		}
		parts = append(parts, fmt.Sprintf("%s frames below %s of the total are summed up (%s%s)",
			unit.Count(int64(l.Small.Boxes)), unit.Percent(l.MinShare), amount(l.Small.Self), more))
	}
	if l.Deep.Boxes > 0 {
		parts = append(parts, fmt.Sprintf("%s frames below level %s are not drawn (%s; the deepest level is %s)",
			unit.Count(int64(l.Deep.Boxes)), unit.Count(int64(len(l.Rows)-1)), amount(l.Deep.Self), unit.Count(int64(l.Depth))))
	}
	return strings.Join(parts, "; ")
}

// frames draws the boxes between two edges, below top. Each is an SVG of its own, which cuts its text at its edges without
// a script.
func (s *svg) frames(edges string, top int) {
	l := s.layout
	s.printf("<svg class=\"frames\" %s y=\"%d\" height=\"%d\" data-total=\"%d\">\n", edges, top, rowHeight*len(l.Rows), l.Total)
	for depth, row := range l.Rows {
		y := depth
		if !s.icicle {
			y = len(l.Rows) - 1 - depth
		}
		for _, b := range row {
			s.line = s.box(s.line[:0], b, y*rowHeight)
			s.Write(s.line)
		}
	}
	s.WriteString("</svg>\n")
}

// box appends a box.
func (s *svg) box(to []byte, b Box, y int) []byte {
	l := s.layout
	to = append(to, `<svg class="b`...)
	if b.Frame == Smaller {
		to = append(to, " rest"...)
	}
	to = strconv.AppendInt(append(to, " c"...), int64(s.class(b)), 10)
	to = appendShare(append(to, `" x="`...), l.Share(b.Start), 4)
	to = strconv.AppendInt(append(to, `" y="`...), int64(y), 10)
	to = appendShare(append(to, `" width="`...), l.Share(b.Value), 4)
	to = strconv.AppendInt(append(to, `" height="`...), rowHeight-1, 10)
	to = strconv.AppendInt(append(to, `" data-s="`...), b.Start, 10)
	to = strconv.AppendInt(append(to, `" data-v="`...), b.Value, 10)
	to = append(to, `"><title>`...)
	to = s.tooltip(to, b)
	to = append(to, `</title><rect width="100%" height="100%"/>`...)
	if l.Share(b.Value) >= labelShare || b.Frame == Root {
		to = append(append(to, `<text x="3" y="12">`...), s.label(b)...)
		if l.Diff != nil && b.Frame != Smaller {
			to = append(append(append(to, " ("...), l.Diff.points(&l.Diff.Nodes[b.Node].Pair)...), ')')
		}
		to = append(to, "</text>"...)
	}
	return append(to, "</svg>\n"...)
}

// label is what a box is called, escaped.
func (s *svg) label(b Box) string {
	if b.Frame < 0 {
		return text(s.layout.Label(b))
	}
	name := &s.names[b.Frame]
	if *name == "" {
		*name = text(s.layout.Name(b))
	}
	return *name
}

// tooltip begins with the name and, behind the last " (" of the first line, inclusive value and share.
func (s *svg) tooltip(to []byte, b Box) []byte {
	l := s.layout
	if l.Diff != nil && b.Frame != Smaller {
		return s.diffTooltip(to, b)
	}
	amount := func(to []byte, v int64) []byte {
		if l.Diff == nil {
			to = append(append(to, text(s.value(v))...), ", "...)
		}
		return appendShare(to, l.Share(v), 2)
	}
	to = amount(append(append(to, s.label(b)...), " ("...), b.Value)
	to = append(to, ')')
	if b.Frame == Smaller {
		return to
	}
	to = amount(append(to, "\nself "...), b.Self)
	return s.where(to, b)
}

// where says in which object a function is.
func (s *svg) where(to []byte, b Box) []byte {
	if b.Frame < 0 {
		return to
	}
	f := &s.layout.Frames[b.Frame]
	if f.Object != "" {
		to = append(append(to, "\nin "...), text(f.Object)...)
	}
	if f.Inlined {
		to = append(to, ", inlined"...)
	}
	return to
}

// value prints a value with its unit.
func (s *svg) value(v int64) string { return Quantity(v, s.layout.Scale, s.layout.Unit) }

// Quantity prints a value of a profile, a layout or a table with its unit.
func Quantity(value, scale int64, of string) string {
	of = Clean(of)
	if scale > 1 {
		return decimal(value, scale) + " " + of
	}
	return unit.Format(float64(value), of)
}

// percent prints a share with two digits behind the point, so that shares of one picture can be added up.
func percent(share float64) string { return string(appendShare(nil, share, 2)) }

// appendShare prints a share in percent. As a place or a width of the picture, a ten-thousandth of a percent is a pixel of
// a million.
func appendShare(to []byte, share float64, digits int) []byte {
	return append(strconv.AppendFloat(to, 100*share, 'f', digits, 64), '%')
}

// legend names the colours that the picture has.
func (s *svg) legend() {
	y := s.height() - footerHeight + 8
	x := 10
	s.WriteString("<g class=\"legend\">\n")
	for _, e := range s.entries() {
		s.printf("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/><text x=\"%d\" y=\"%d\">%s</text>\n", e.Class, x, y, x+17, y+11, text(e.Name))
		x += 17 + 8*utf8.RuneCountInString(e.Name) + 16
	}
	s.WriteString("</g>\n")
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

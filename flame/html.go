package flame

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strings"

	"nettrace/unit"
)

// HTMLOptions choose what a page of a profile shows first. The zero value is a flame of the main event by kind of code.
type HTMLOptions struct {
	Column
	Colours
	Title  string // "" is the event's name
	Icicle bool   // the root at the top
	Merged bool   // do not tell threads apart
	Width  Width  // of boxes in a difference
}

//go:embed html/page.html
var pageTemplate string

//go:embed html/style.css
var pageStyle string

// The parts of the page's script, each of which the ones behind it use.
var (
	//go:embed html/search.js
	searchScript string
	//go:embed html/unpack.js
	unpackScript string
	//go:embed html/tree.js
	treeScript string
	//go:embed html/numbers.js
	numbersScript string
	//go:embed html/pane.js
	paneScript string
	//go:embed html/table.js
	tableScript string
	//go:embed html/diff.js
	diffScript string
	//go:embed html/app.js
	appScript string
)

func pageScript() string {
	return strings.Join([]string{searchScript, unpackScript, treeScript, numbersScript, paneScript, tableScript, diffScript, appScript}, "")
}

// pageView is what the template shows.
type pageView struct {
	Title, Facts, Wait string
	Policy             template.HTML
	Style              template.CSS
	Picture            template.HTML // for those without script
	Head               []pageColumn
	Rows               [][]pageCell
	Packed             bool
	Profile            template.HTML
	Script             template.JS
}

type pageColumn struct {
	Key, Text string
	Number    bool
}

type pageCell struct {
	Text   string
	Number bool
}

// Bounds of what those without script see.
const (
	plainBoxes = 1500
	plainRows  = 50
)

// WriteHTML writes a page that shows a whole profile, whatever its size: it needs no other file, holds the call tree packed,
// and draws what is in view. The same profile gives the same bytes.
func WriteHTML(w io.Writer, p *Profile, o HTMLOptions) error {
	l, err := NewLayout(p, LayoutOptions{Column: o.Column, MaxBoxes: plainBoxes, Merged: o.Merged})
	if err != nil {
		return err
	}
	if o.Title == "" {
		o.Title = titleOf(l.Event)
	}
	v := newView(p.pprof, LayoutOptions{Merged: o.Merged}.groups(p))
	t := newCallTree(v.frames, columnedStacks(p.pprof, v), 2*len(p.Events))
	head := &packed{Title: Clean(o.Title), Icicle: o.Icicle, By: o.Colours.by()}
	head.columns(p, t, o.Column)
	head.time(p, t)
	top, err := Top(p, o.Column, plainRows)
	if err != nil {
		return err
	}
	view := &pageView{Facts: Clean(strings.Join(recorded(p, l), ", "))}
	view.top(top)
	if err := view.picture(l, o.Colours, o.Icicle); err != nil {
		return err
	}
	return view.write(w, head, t, o.Colours)
}

// write packs the tree and writes the page.
func (v *pageView) write(w io.Writer, head *packed, t *callTree, c Colours) error {
	head.paint(t.frames, c)
	var data bytes.Buffer
	compressed, err := pack(&data, head, t)
	if err != nil {
		return err
	}
	style, script := pageStyle+string(v.Style), pageScript()
	v.Title, v.Packed, v.Profile = head.Title, compressed, template.HTML(data.String())
	v.Style, v.Script, v.Policy = template.CSS(style), template.JS(script), template.HTML(PagePolicy(style, script))
	v.Wait = "The graph of " + unit.Count(int64(len(t.frame))) + " boxes is drawn by this page's script."
	page, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return err
	}
	return page.Execute(w, v)
}

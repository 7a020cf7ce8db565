package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"strings"

	"nettrace/bench"
	"nettrace/diagnose"
	"nettrace/flame"
)

//go:embed html/compare.html
var compareTemplate string

//go:embed html/compare.js
var compareScript string

// comparePage is what the page of a comparison shows.
type comparePage struct {
	Title        string
	Head         template.HTML
	Style        template.CSS
	Script       template.JS
	Sets         []fact
	Verdicts     *table
	Parts        []comparePart
	layouts      []*flame.Layout
	flameCounter int
}

// comparePart is a section of it.
type comparePart struct {
	Title  string
	Plots  []plotView
	Tables []*table
	Lines  []CurveLine
	Flames []profileView
}

// CompareHTML writes a comparison as one page that needs nothing else, with its plots, tables and differential flame graphs.
func CompareHTML(w io.Writer, c *Compared) error {
	rewriteStrings(reflect.ValueOf(c), Clean)
	p := &comparePage{Title: "Comparison"}
	for i, name := range setNames(c) {
		p.Sets = append(p.Sets, fact{string(rune('A' + i%26)), name})
	}
	p.Verdicts = verdicts(c.Comparisons.Comparisons)
	p.tests(c)
	if c.Changes != nil {
		if err := p.changes(c.Changes); err != nil {
			return err
		}
	}
	script := flame.FragmentScript() + compareScript
	style := pageStyle + flame.FragmentStyle(p.layouts...)
	p.Script, p.Style, p.Head = template.JS(script), template.CSS(style), template.HTML(flame.PagePolicy(style, script))
	t, err := template.New("page").Parse(pageTemplate)
	if err == nil {
		_, err = t.New("compare").Parse(compareTemplate)
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "compare", p); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// setNames returns the names of all sets in their order.
func setNames(c *Compared) []string {
	var names []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, test := range byTest(c.Comparisons.Comparisons) {
		for _, s := range setsOf(test) {
			add(s.label)
		}
	}
	for i := range c.Curves {
		for _, s := range c.Curves[i].Series {
			add(s.Set)
		}
	}
	return names
}

// verdicts says of each pair what is proven.
func verdicts(list []bench.Comparison) *table {
	t := &table{Caption: "what is proven", Head: []column{{Text: "test"}, {Text: "sets"}, {Text: "difference", Number: true}, {Text: "margin", Number: true}, {Text: "n", Number: true}, {Text: "verdict"}}}
	for _, c := range list {
		if c.OnCurve && max(c.N[0], c.N[1]) == 1 {
			continue
		}
		verdict := "not proven"
		switch {
		case c.Test == "none":
			verdict = "fewer than 3 values: nothing can be proven"
		case c.Significant:
			verdict = fmt.Sprintf("proven at %g %% (%s, p=%.2g)", c.Confidence, c.Test, c.P)
		case c.RunsNeeded > 0 && c.Difference != 0:
			verdict = fmt.Sprintf("not proven at %g %%; would show with %d runs of each", c.Confidence, c.RunsNeeded)
		}
		t.Rows = append(t.Rows, row{Cells: []cell{text(testTitle(c.Name)), text(c.Sets[0] + " → " + c.Sets[1]), number(c.DifferencePercent, fmt.Sprintf("%+.3g %%", c.DifferencePercent)),
			number(c.MarginPercent, fmt.Sprintf("± %.3g %%", c.MarginPercent)), text(fmt.Sprintf("%d, %d", c.N[0], c.N[1])), text(verdict)}})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// tests makes a part of each test that is drawn, and of each curve.
func (p *comparePage) tests(c *Compared) {
	for _, plot := range comparePlots(c) {
		p.Parts = append(p.Parts, comparePart{Title: plot.title, Plots: []plotView{plot.view}, Tables: plot.tables, Lines: plot.lines})
	}
	part := comparePart{Title: "What is gained and paid"}
	for i := range c.Trades {
		part.Lines = append(part.Lines, CurveLine{"trade", TradeText(&c.Trades[i])})
	}
	p.add(part)
	rest := comparePart{Title: "Not compared"}
	for _, r := range c.Refused {
		rest.Lines = append(rest.Lines, CurveLine{"refused", testTitle(r.Name) + " in " + strings.Join(r.Sets, ", ") + ": " + r.Text})
	}
	for _, u := range c.Unmatched {
		rest.Lines = append(rest.Lines, CurveLine{"only in", fmt.Sprintf("%s: %s, %s", u.Set, testTitle(u.Name), plural(u.N, "value", "values"))})
	}
	p.add(rest)
}

func (p *comparePage) add(part comparePart) {
	if len(part.Plots)+len(part.Tables)+len(part.Lines)+len(part.Flames) > 0 {
		p.Parts = append(p.Parts, part)
	}
}

// changes makes the parts about findings, locks, counters and profiles.
func (p *comparePage) changes(c *diagnose.Changes) error {
	for _, s := range ChangeSections(c) {
		part := comparePart{Title: strings.ToUpper(s.Title[:1]) + s.Title[1:]}
		if len(s.Rows) > 0 {
			part.Tables = []*table{sectionTable(&s)}
		}
		for _, line := range s.Lines {
			part.Lines = append(part.Lines, CurveLine{"", line})
		}
		p.add(part)
	}
	for i := range c.Profiles {
		if i == maxProfiles {
			break
		}
		view, err := p.flame(&c.Profiles[i], min(len(c.Profiles), maxProfiles))
		if err != nil {
			return err
		}
		p.add(comparePart{Title: "Differential flame graph", Flames: []profileView{view}})
	}
	return nil
}

func sectionTable(s *ChangeSection) *table {
	t := &table{Caption: s.Title}
	for i, h := range s.Head {
		t.Head = append(t.Head, column{Text: h, Number: s.Right[i]})
	}
	for _, cells := range s.Rows {
		var r row
		for _, c := range cells {
			r.Cells = append(r.Cells, text(c))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// flame draws the difference of a profile; several share the bounds of a page.
func (p *comparePage) flame(c *diagnose.ProfileChange, among int) (profileView, error) {
	layout, err := flame.NewDiffLayout(c.Difference, flame.Larger, flame.LayoutOptions{MaxBoxes: maxProfileBoxes / among, Hidden: maxProfileHidden / among})
	if err != nil {
		return profileView{}, err
	}
	p.layouts = append(p.layouts, layout)
	p.flameCounter++
	view := profileView{ID: fmt.Sprintf("flame-%d", p.flameCounter), Name: c.Base + " and " + c.Other, Title: c.Base + " → " + c.Other, Legend: layout.Legend(),
		Notes: []string{"the width of a box is the larger of its two shares; the colour says which side has more, and by how much"}}
	var b strings.Builder
	if err := flame.WriteFragment(&b, layout, flame.FragmentOptions{Label: "differential flame graph of " + view.Title}); err != nil {
		return profileView{}, err
	}
	view.SVG = template.HTML(b.String())
	section := profileSection(c)
	view.Table = sectionTable(&section)
	return view, nil
}

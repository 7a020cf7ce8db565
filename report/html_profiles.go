package report

import (
	"fmt"
	"html/template"
	"strings"

	"nettrace/flame"
	"nettrace/unit"
)

// profileView is a flame graph with its table.
type profileView struct {
	ID, Name, Title string
	SVG             template.HTML
	Legend          []flame.LegendEntry
	Notes           []string
	Table           *table
}

// Bounds of the flame graphs of a page together: boxes are the larger part of it.
const (
	maxProfiles      = 4
	maxProfileBoxes  = 3000
	maxProfileHidden = 4000
	maxFunctions     = 25
)

func (p *pageMaker) profiles() ([]profileView, error) {
	all := p.result.Models.Profiles
	var views []profileView
	for i, x := range all {
		if len(x.Events) == 0 {
			continue
		}
		if len(views) == maxProfiles {
			views[len(views)-1].Notes = append(views[len(views)-1].Notes, fmt.Sprintf("%d more profiles are not drawn; nettrace flame draws them", len(all)-i))
			break
		}
		share := min(len(all), maxProfiles)
		view, err := p.profile(x, len(views)+1, flame.LayoutOptions{MaxBoxes: maxProfileBoxes / share, Hidden: maxProfileHidden / share})
		if err != nil {
			return nil, err
		}
		views = append(views, view)
	}
	return views, nil
}

func (p *pageMaker) profile(x *flame.Profile, number int, o flame.LayoutOptions) (profileView, error) {
	layout, err := flame.NewLayout(x, o)
	if err != nil {
		return profileView{}, err
	}
	p.layouts = append(p.layouts, layout)
	name := p.names[x.Source]
	if name == "" {
		name = x.Source
	}
	event := layout.Event.Name
	if event == "(none)" {
		event = "samples"
	}
	view := profileView{ID: fmt.Sprintf("flame-%d", number), Name: name, Title: fmt.Sprintf("%s: %s", name, event), Legend: layout.Legend(), Notes: flameNotes(x, layout)}
	var b strings.Builder
	if err := flame.WriteFragment(&b, layout, flame.FragmentOptions{Label: "flame graph of " + view.Title}); err != nil {
		return profileView{}, err
	}
	view.SVG = template.HTML(b.String())
	view.Table, err = functions(x)
	return view, err
}

// flameNotes says what a graph shows and what it leaves out.
func flameNotes(x *flame.Profile, l *flame.Layout) []string {
	notes := []string{fmt.Sprintf("%s in %s samples", flame.Quantity(l.Total, l.Scale, l.Unit), unit.Count(l.Event.Samples))}
	if l.Small.Boxes > 0 {
		notes = append(notes, fmt.Sprintf("%s frames below %s of the total are summed up (together %s); the search finds them", unit.Count(int64(l.Small.Boxes)), unit.Percent(l.MinShare), unit.Percent(l.Share(l.Small.Self))))
	}
	if l.Deep.Boxes > 0 {
		notes = append(notes, fmt.Sprintf("%s frames below level %d are not drawn", unit.Count(int64(l.Deep.Boxes)), len(l.Rows)-1))
	}
	if len(x.Events) > 1 {
		var others []string
		for _, e := range x.Events {
			if e.Name != l.Event.Name {
				others = append(others, e.Name)
			}
		}
		notes = append(notes, "the recording also has "+strings.Join(others, ", ")+"; nettrace flame --event draws them")
	}
	return notes
}

func functions(x *flame.Profile) (*table, error) {
	top, err := flame.Top(x, flame.Column{}, 0)
	if err != nil {
		return nil, err
	}
	t := &table{Caption: "Functions", Head: []column{{"function", false}, {"self", true}, {"of all", true}, {"total", true}, {"of all", true}, {"object", false}}}
	for _, f := range top.Rows[:min(len(top.Rows), maxFunctions)] {
		value := func(v int64) cell { return number(float64(v), flame.Quantity(v, top.Scale, top.Unit)) }
		share := func(v float64) cell { return number(v, unit.Percent(v)) }
		t.Rows = append(t.Rows, row{Cells: []cell{{Text: Clean(f.Name), Code: true}, value(f.Self), share(f.SelfShare), value(f.Total), share(f.TotalShare), text(Clean(f.Object))}})
	}
	if n := len(top.Rows) - maxFunctions; n > 0 {
		t.Note = fmt.Sprintf("%s more functions; nettrace flame --top lists them", unit.Count(int64(n)))
	}
	return t, nil
}

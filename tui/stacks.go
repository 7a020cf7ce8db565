package tui

import (
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"nettrace/flame"
	"nettrace/unit"
)

// stacksPage is the flame graph of one profile, or of how it differs from another.
type stacksPage struct {
	split
	name    string
	profile *flame.Profile
	diff    *flame.Difference // instead of a profile
	command string            // that draws it too
	flame   *flamePane
	column  flame.Column
	asked   bool
}

func newStacksPage(l *look, name string, profile *flame.Profile) *stacksPage {
	p := newStacksPageOf(l, name)
	p.profile, p.command = profile, commandLine("flame", profile.Source)
	p.column.Event = profile.Main()
	return p
}

func newStacksPageOf(l *look, name string) *stacksPage {
	p := &stacksPage{name: name, flame: &flamePane{look: l, title: "stacks", empty: "laying out the stacks"}}
	p.split = newSplit(l, 100, p.flame)
	return p
}

func stacksKeys() []binding {
	return []binding{
		{"enter", "zoom", "zoom in"}, {"esc", "out", "zoom out, then one level up"}, {"/", "search", "search as you type, with the share of what is found"}, {"arrows", "walk", "walk: up to the caller, down to the widest callee, aside on the same level"},
		{"n N", "match", "next, previous match"}, {"E", "event", "next event"}, {"v", "value", "show period, or samples"}, {"d", "diff", "how it differs from the other incident's"}, {"G", "hot path", "down the widest callees to the end"}, copyKey(),
	}
}

// Name implements page.
func (p *stacksPage) Name() string { return p.name }

func (p *stacksPage) panes() *split { return &p.split }

// Keys implements page.
func (p *stacksPage) Keys() []binding { return stacksKeys() }

// Enter implements page.
func (p *stacksPage) Enter() act {
	if !p.flame.Zoom() {
		return say("this box is as wide as the screen already; esc zooms out")
	}
	return act{}
}

// Press implements page.
func (p *stacksPage) Press(key string) (act, bool) {
	switch key {
	case "left":
		p.flame.Aside(-1)
	case "right":
		p.flame.Aside(1)
	case "esc", "backspace":
		return act{}, p.flame.Out()
	case "n", "N":
		if !p.flame.Next(key == "N") {
			return say("nothing to go to: / searches"), true
		}
	case "E":
		return p.nextEvent(), true
	case "v":
		return p.turnValue(), true
	default:
		return act{}, false
	}
	return act{}, true
}

func (p *stacksPage) nextEvent() act {
	if p.diff != nil {
		return say("a difference is of one event: " + clean(p.diff.Other.Event.Name))
	}
	events := p.profile.Events
	if len(events) < 2 {
		return say("the profile has one event")
	}
	for i := range events {
		if events[i].Name == p.column.Event {
			p.column.Event = events[(i+1)%len(events)].Name
			break
		}
	}
	p.asked = false
	return say("event " + clean(p.column.Event))
}

func (p *stacksPage) turnValue() act {
	if p.diff != nil {
		return say("a difference is of one value")
	}
	if p.column.Value == flame.Samples {
		p.column.Value = flame.Period
	} else {
		p.column.Value = flame.Samples
	}
	p.asked = false
	return say("showing " + string(p.column.Value))
}

// layoutMsg is a laid out profile.
type layoutMsg struct {
	to     *stacksPage
	layout *flame.Layout
	err    error
}

// Want implements wanting: laying out a large profile takes longer than a frame.
func (p *stacksPage) Want() tea.Cmd {
	if p.asked {
		return nil
	}
	p.asked = true
	profile, diff, o := p.profile, p.diff, flame.LayoutOptions{Column: p.column}
	return func() tea.Msg {
		if diff != nil {
			l, err := flame.NewDiffLayout(diff, flame.Larger, o)
			return layoutMsg{p, l, err}
		}
		l, err := flame.NewLayout(profile, o)
		return layoutMsg{p, l, err}
	}
}

func (p *stacksPage) take(msg layoutMsg) {
	if msg.err != nil {
		p.flame.empty = clean(msg.err.Error())
		return
	}
	l := msg.layout
	p.flame.empty = "the profile holds no samples of this event"
	p.flame.title = clean(fmt.Sprintf("%s: %s of %s in %s samples", p.name, flame.Quantity(l.Total, l.Scale, l.Unit), l.Event.Name, unit.Count(l.Event.Samples)))
	if d := p.diff; d != nil {
		p.flame.title = clean(fmt.Sprintf("%s: %s, %s then %s samples; + more, - less, = chance", p.name, l.Event.Name, unit.Count(d.Base.Samples), unit.Count(d.Other.Samples)))
	}
	p.flame.SetLayout(l)
}

// Copies implements page.
func (p *stacksPage) Copies() []clip {
	if !p.flame.ready() {
		return nil
	}
	return []clip{
		{"the function's name", clean(p.flame.name(p.flame.box(p.flame.at)))},
		{"what is known of it", clean(p.flame.Describe())},
		{"its stack, folded", p.flame.stack()},
	}
}

// Command implements commanded.
func (p *stacksPage) Command() string { return p.command }

// Exports implements exporting.
func (p *stacksPage) Exports() []export {
	if d := p.diff; d != nil {
		return []export{
			{"the difference as a picture", ".svg", func(w io.Writer) error { return flame.WriteDiffSVG(w, d, flame.SVGOptions{Icicle: true}) }},
			{"the difference as a page", ".html", func(w io.Writer) error { return flame.WriteDiffHTML(w, d, flame.HTMLOptions{Icicle: true}) }},
			{"the difference as folded text", ".folded.txt", func(w io.Writer) error { return d.WriteFolded(w, false) }},
		}
	}
	profile, column := p.profile, p.column
	return []export{
		{"the flame graph as a picture", ".svg", func(w io.Writer) error {
			return flame.WriteSVG(w, profile, flame.SVGOptions{LayoutOptions: flame.LayoutOptions{Column: column}, Icicle: true})
		}},
		{"the flame graph as a page", ".html", func(w io.Writer) error {
			return flame.WriteHTML(w, profile, flame.HTMLOptions{Column: column, Icicle: true})
		}},
		{"the stacks as folded text", ".folded.txt", func(w io.Writer) error { return flame.WriteFolded(w, profile, column) }},
		{"the call tree as JSON", ".json", func(w io.Writer) error { return flame.WriteJSON(w, profile, column) }},
	}
}

// Filter implements filtering: here it searches, and leaves all boxes in place.
func (p *stacksPage) Filter(text string) error {
	p.flame.Search(text)
	return nil
}

// FilterText implements filtering.
func (p *stacksPage) FilterText() string { return p.flame.search }

// FilterHint implements filtering.
func (p *stacksPage) FilterHint() string { return p.matchText() + "; a part of a function's name" }

func (p *stacksPage) matchText() string {
	return fmt.Sprintf("%s, %s of all", plural(p.flame.count, "box", "boxes"), unit.Percent(p.flame.share))
}

// Note implements page.
func (p *stacksPage) Note() string {
	text := clean(p.flame.Describe())
	if p.flame.search != "" {
		text = "/" + p.flame.search + ": " + p.matchText() + p.look.dot + text
	}
	return text
}

// profilesPage lists the profiles, where there are several.
type profilesPage struct {
	listPage
	explorer *explorer
}

// newStacksTop is the flame graph of the one profile, or the list of all.
func newStacksTop(x *explorer) page {
	if profiles := x.result.Models.Profiles; len(profiles) == 1 {
		return newStacksPage(x.look, x.names[profiles[0].Source], profiles[0])
	}
	p := &profilesPage{explorer: x}
	list := &table{title: "profiles", rows: p, columns: []column{
		{name: "profile", grow: true, min: 20}, {name: "line", right: true, drop: 3}, {name: "format", drop: 2}, {name: "event", drop: 1}, {name: "samples", right: true},
	}}
	p.listPage = newListPage("Stacks", x.look, list, 100)
	return p
}

func profilesKeys() []binding {
	return []binding{openKey("its flame graph"), filterKey(), sortKey(), copyKey()}
}

// Keys implements page.
func (p *profilesPage) Keys() []binding { return profilesKeys() }

// Len implements rows.
func (p *profilesPage) Len() int { return len(p.explorer.result.Models.Profiles) }

// Cell implements rows.
func (p *profilesPage) Cell(row, column int) cell {
	profile := p.explorer.result.Models.Profiles[row]
	switch column {
	case 0:
		return text(p.explorer.names[profile.Source])
	case 1:
		return positive(int64(profile.Line))
	case 2:
		return text(profile.Format)
	case 3:
		return text(profile.Main())
	default:
		n := int64(0)
		for i := range profile.Events {
			n += profile.Events[i].Samples
		}
		return number(unit.Count(n), float64(n))
	}
}

// Enter implements page.
func (p *profilesPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	profile := p.explorer.result.Models.Profiles[row]
	return act{push: newStacksPage(p.look, p.explorer.names[profile.Source], profile)}
}

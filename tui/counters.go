package tui

import (
	"fmt"

	"nettrace/source"
	"nettrace/unit"
)

// countersPage lists settings, and counters and interrupt counts with what changed between their snapshots.
type countersPage struct {
	listPage
	explorer *explorer
	all      []counter
	shown    []*counter
	still    bool // also those that did not change
	detail   *document
}

func newCountersPage(x *explorer) *countersPage {
	p := &countersPage{explorer: x, all: countersOf(x.result.Models.Hosts), detail: &document{look: x.look}}
	list := &table{title: "settings, and what changed", empty: "nothing changed; u shows what did not", rows: p, columns: []column{
		{name: "host", min: 12, drop: 6},
		{name: "kind", min: 10, drop: 3},
		{name: "interface", min: 10, drop: 2},
		{name: "name", grow: true, min: 20},
		{name: "first", right: true, drop: 5},
		{name: "last", title: "value", right: true},
		{name: "change", right: true, drop: 1},
		{name: "rate", title: "per s", right: true, drop: 4},
	}}
	p.listPage = newListPage("Counters", x.look, list, 60, p.detail)
	p.choose()
	return p
}

func countersKeys() []binding {
	return []binding{openKey("the line that it was read from"), {"u", "unchanged", "show or hide what did not change"}, filterKey(), sortKey(), tabKey(), copyKey()}
}

// Keys implements page.
func (p *countersPage) Keys() []binding { return countersKeys() }

// choose leaves out counters that did not change, unless they are asked for. Settings, and counters that were read only
// once, always count.
func (p *countersPage) choose() {
	p.shown = nil
	for i := range p.all {
		if c := &p.all[i]; p.still || c.moved {
			p.shown = append(p.shown, c)
		}
	}
}

// Press implements page.
func (p *countersPage) Press(key string) (act, bool) {
	if key != "u" {
		return act{}, false
	}
	p.still = !p.still
	p.choose()
	p.list.SetRows(p)
	p.detail.shown = 0
	if p.still {
		return say("showing also the counters that did not change"), true
	}
	return say("showing what changed; " + plural(len(p.all)-len(p.shown), "counter", "counters") + " did not"), true
}

// Len implements rows.
func (p *countersPage) Len() int { return len(p.shown) }

// Cell implements rows.
func (p *countersPage) Cell(row, column int) cell {
	c := p.shown[row]
	switch column {
	case 0:
		return text(c.host)
	case 1:
		return text(c.kind)
	case 2:
		return text(c.iface)
	case 3:
		return text(c.name)
	case 4:
		return c.first
	case 5:
		return c.last
	case 6:
		return c.change
	default:
		return c.rate
	}
}

// Render shows the selected counter in the second pane.
func (p *countersPage) Render(width, height int) []string {
	p.detailed(p.detail, func(row int) (string, []paragraph) { return clean(p.shown[row].name), p.describe(p.shown[row]) })
	return p.listPage.Render(width, height)
}

// Command implements commanded.
func (p *countersPage) Command() string { return commandLine("counters", p.explorer.paths...) }

// describe tells what is known of a counter: its course, its CPUs, and where it was read.
func (p *countersPage) describe(c *counter) []paragraph {
	var list []paragraph
	add := func(label, text string) { list = append(list, paragraph{label: label, text: clean(text)}) }
	for _, note := range c.notes {
		add("", note)
	}
	if len(c.steps) > 1 {
		list = append(list, paragraph{label: "course", text: p.look.sparkline(c.steps), plain: true})
		add("", fmt.Sprintf("%d steps, from %s to %s", len(c.steps), unit.Number(least(c.steps)), unit.Number(most(c.steps))))
	}
	for i, cpu := range c.cpus {
		label := ""
		if i == 0 {
			label = "CPUs"
		}
		bar := p.look.bar1(cpu.value, c.cpus[0].value, 30)
		list = append(list, paragraph{label: label, plain: true, text: fmt.Sprintf("%-8s %12s %s", cpu.name, unit.Count(int64(cpu.value)), bar)})
	}
	for _, at := range c.places {
		add("see", p.explorer.place(at))
	}
	return list
}

func least(values []float64) float64 {
	v := values[0]
	for _, x := range values {
		v = min(v, x)
	}
	return v
}

func most(values []float64) float64 {
	v := values[0]
	for _, x := range values {
		v = max(v, x)
	}
	return v
}

// sparkline draws values as a line of bars, from 0 to the largest.
func (l *look) sparkline(values []float64) string {
	top := most(values)
	line := make([]rune, len(values))
	for i, v := range values {
		level := 0
		if top > 0 {
			level = clamp(int(v/top*float64(len(l.levels))), len(l.levels))
		}
		line[i] = l.levels[level]
	}
	return string(line)
}

// bar1 draws one value as a bar, as a part of the largest.
func (l *look) bar1(v, largest float64, width int) string {
	full := string(l.levels[len(l.levels)-1])
	bar := ""
	for range int(v / max(largest, 1) * float64(width)) {
		bar += full
	}
	return bar
}

// Enter implements page.
func (p *countersPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	c := p.shown[row]
	if len(c.places) == 0 {
		return say("where it was read is not known")
	}
	return p.explorer.open(c.places[len(c.places)-1])
}

// at collects places, each once.
func at(places []source.Pos, more ...source.Pos) []source.Pos {
	for _, p := range more {
		if p.Source == "" || len(places) > 0 && places[len(places)-1] == p {
			continue
		}
		places = append(places, p)
	}
	return places
}

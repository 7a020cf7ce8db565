package tui

import (
	"fmt"
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/diagnose"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/unit"
)

// incident is another one, that the one on the screen is compared with: it is what was before.
type incident struct {
	path     string
	explorer *explorer
	changes  *diagnose.Changes
	runs     []bench.Comparison
}

// incidentMsg is another incident that was read.
type incidentMsg struct {
	path   string
	result *analyze.Result
	errs   []error
	to     *incident
}

// compare shows what changed since the other incident, or asks for it.
func (m *Model) compare() {
	switch {
	case m.result == nil:
		m.said = "incidents are compared when all is read"
	case m.other != nil:
		m.do(m.showChanges())
	default:
		m.prompt = &prompt{
			sign:     "compare with: ",
			hint:     func() string { return "the incident before: a folder, recording or written result; Tab completes" },
			complete: completePath,
			entered:  m.compareWith,
		}
	}
}

// compareWith reads another incident in the background.
func (m *Model) compareWith(path string) act {
	path = strings.TrimSpace(path)
	switch {
	case path == "":
		return say("no path to compare with")
	case m.result == nil:
		return say("incidents are compared when all is read")
	}
	ctx, o, shown := m.library.ctx, m.options.Analyze, copied(m.result)
	o.Stdin, o.Progress = nil, nil
	look, lib := m.look, m.library
	return act{say: "reading " + clean(path), cmd: func() tea.Msg {
		r, errs := analyze.Run(ctx, []string{path}, o)
		diagnose.Apply(r, o.Params)
		to := &incident{path: path, explorer: &explorer{look: look, result: r, names: r.ShortNames(), library: lib}, changes: diagnose.Compare(r, shown)}
		if len(r.Models.Runs) > 0 && len(shown.Models.Runs) > 0 {
			sets := []bench.Set{{Label: path, Runs: r.Models.Runs}, {Label: "shown", Runs: shown.Models.Runs}}
			to.runs = bench.Compare(sets, bench.CompareOptions{Confidence: 95}).Comparisons
		}
		return incidentMsg{path, r, errs, to}
	}}
}

// compared takes the other incident and shows what changed.
func (m *Model) compared(msg incidentMsg) tea.Cmd {
	if len(msg.result.Sources) == 0 {
		m.said = "nothing was read of " + clean(msg.path)
		if len(msg.errs) > 0 {
			m.said = clean(msg.errs[0].Error())
		}
		return nil
	}
	m.other = msg.to
	m.said = ""
	cmd := m.do(m.showChanges())
	m.history.note(m.place())
	return cmd
}

// showChanges goes down to what changed: of the flame graph that is seen, or of all.
func (m *Model) showChanges() act {
	here := m.explorer()
	switch p := m.page().(type) {
	case *changesPage:
		return say("this is what changed since " + clean(m.other.path) + "; :compare reads another incident")
	case *stacksPage:
		if p.diff != nil {
			return say("this is the difference already; esc goes back")
		}
		for i := range m.other.changes.Profiles {
			if c := &m.other.changes.Profiles[i]; c.Other == p.profile.Source && c.Difference != nil {
				return act{push: newDiffPage(m.look, p.name, c.Difference, m.other.path, p.profile.Source)}
			}
		}
		return say("the other incident has no profile to compare this one with")
	}
	return act{screen: findingsScreen + 1, push: newChangesPage(here, m.other)}
}

// changesPage lists what changed since another incident.
type changesPage struct {
	listPage
	here  *explorer
	other *incident
	rows  []changedRow
}

// changedRow is one thing that changed.
type changedRow struct {
	part, name, before, after string
	change                    cell
	details                   []paragraph
	open                      func() act
}

func newChangesPage(here *explorer, other *incident) *changesPage {
	p := &changesPage{here: here, other: other}
	p.gather()
	list := &table{title: "what changed since " + clean(other.path), empty: "nothing changed that can be compared", rows: p, columns: []column{
		{name: "part", min: 10}, {name: "name", grow: true, min: 24}, {name: "before", right: true, drop: 2}, {name: "after", right: true, drop: 1}, {name: "change", right: true, min: 8},
	}}
	detail := &document{look: here.look}
	p.listPage = newListPage("compared", here.look, list, 60, detail)
	return p
}

func changesKeys() []binding {
	return []binding{openKey("the finding, or the difference of the profiles"), filterKey(), sortKey(), tabKey(), copyKey(), upKey()}
}

// gather makes the rows, in the order in which nettrace compare tells of changes.
func (p *changesPage) gather() {
	c := p.other.changes
	for _, text := range c.NoEffect {
		p.tell("no effect", text)
	}
	p.benchmarks()
	p.findings(c)
	p.tables(c)
	for i := range c.Profiles {
		p.profile(&c.Profiles[i])
	}
	for _, text := range c.Unpaired {
		p.tell("one side", text)
	}
	for _, text := range c.Caveats {
		p.tell("caveat", text)
	}
}

func (p *changesPage) tell(part, words string) {
	p.rows = append(p.rows, changedRow{part: part, name: clean(words), details: []paragraph{{text: clean(words)}}})
}

func (p *changesPage) benchmarks() {
	for i := range p.other.runs {
		b := &p.other.runs[i]
		if len(b.Mean) != 2 {
			continue
		}
		verdict := "not significant"
		if b.Significant {
			verdict = "significant"
		}
		words := fmt.Sprintf("%s: %s, difference %s +/- %s of %s (%s at %g %%)", b.Name, b.Test, unit.Number(b.Difference), unit.Number(b.Margin), b.Unit, verdict, b.Confidence)
		details := []paragraph{{text: clean(words)}}
		for _, n := range b.Notes {
			details = append(details, paragraph{label: "but", text: clean(n)})
		}
		p.rows = append(p.rows, changedRow{part: "benchmark", name: clean(b.Name), before: unit.Format(b.Mean[0], b.Unit), after: unit.Format(b.Mean[1], b.Unit), change: percentCell(b.DifferencePercent / 100), details: details})
	}
}

func (p *changesPage) findings(c *diagnose.Changes) {
	opened := func(x *explorer, f *finding.Finding) func() act {
		return func() act { return act{push: newFindingPage(x, f)} }
	}
	one := func(part string, x *explorer, f *finding.Finding, before, after string) {
		p.rows = append(p.rows, changedRow{part: part, name: clean(f.Rule + " " + f.Subject.Name), before: before, after: after, change: cell{text: part}, details: x.finding(f, true), open: opened(x, f)})
	}
	for i := range c.New {
		f := &c.New[i]
		one("new", p.here, f, "-", effectCell(f.Effect).text)
	}
	for i := range c.Gone {
		f := &c.Gone[i]
		one("gone", p.other.explorer, f, effectCell(f.Effect).text, "-")
	}
	for i := range c.Changed {
		k := &c.Changed[i]
		one("cost", p.here, &k.After, effectCell(k.Before.Effect).text, effectCell(k.After.Effect).text)
		row := &p.rows[len(p.rows)-1]
		row.change = cell{text: k.After.Severity.String()}
		if k.Before.Severity != k.After.Severity {
			row.change.text = k.Before.Severity.String() + " -> " + k.After.Severity.String()
		}
		var measures []paragraph
		for _, v := range k.Measures {
			measures = append(measures, paragraph{label: "was", text: clean(fmt.Sprintf("%s %s, now %s", v.Name, unit.Format(v.Before, v.Unit), unit.Format(v.After, v.Unit)))})
		}
		row.details = append(measures, row.details...)
	}
	if c.Same > 0 {
		p.tell("same", plural(c.Same, "finding", "findings")+" on both sides that cost the same")
	}
}

// tables tells of locks, settings and counters.
func (p *changesPage) tables(c *diagnose.Changes) {
	for _, d := range c.Locks {
		for i := range d.Locks {
			l := &d.Locks[i]
			p.rows = append(p.rows, changedRow{part: "lock", name: clean(l.Name), before: unit.Nanos(l.BaseWait).String(), after: unit.Nanos(l.OtherWait).String(), change: ratioCell(l.BaseWait, l.OtherWait), details: []paragraph{{text: clean(l.Name + ": wait " + l.Text(d.Rated))}}})
		}
	}
	if c.Counters == nil {
		return
	}
	for i := range c.Counters.Settings {
		s := &c.Counters.Settings[i]
		name := s.Interface + " " + s.Name
		if s.Queue >= 0 {
			name += fmt.Sprintf(" (queue %d)", s.Queue)
		}
		p.rows = append(p.rows, changedRow{part: "setting", name: clean(name), before: clean(s.Base.Value.String()), after: clean(s.Other.Value.String()), details: []paragraph{{text: clean(s.Tool + ": " + name)}}})
	}
	for i := range c.Counters.Rates {
		r := &c.Counters.Rates[i]
		if r.Base == nil || r.Other == nil || r.Difference == 0 {
			continue
		}
		p.rows = append(p.rows, changedRow{part: "counter", name: clean(r.Of + " " + r.Name), before: unit.Format(*r.Base, r.Unit), after: unit.Format(*r.Other, r.Unit), change: ratioCell(*r.Base, *r.Other), details: []paragraph{{text: clean(r.Kind + " " + r.Of + ": " + r.Name)}}})
	}
}

func (p *changesPage) profile(c *diagnose.ProfileChange) {
	var open func() act
	if c.Difference != nil {
		open = func() act {
			return act{push: newDiffPage(p.look, p.here.names[c.Other], c.Difference, c.Base, c.Other)}
		}
	}
	words := []paragraph{{text: clean("own share of all functions of " + c.Base + " and " + c.Other)}}
	p.rows = append(p.rows, changedRow{part: "profile", name: clean(p.here.names[c.Other]), change: cell{text: plural(len(c.Functions), "function", "functions")}, details: words, open: open})
	for i := range c.Functions {
		f := &c.Functions[i]
		p.rows = append(p.rows, changedRow{part: "function", name: clean(f.Name), before: unit.Percent(f.Base), after: unit.Percent(f.Other), change: number(fmt.Sprintf("%+.2f points", 100*(f.Other-f.Base)), f.Other-f.Base), details: words, open: open})
	}
}

// ratioCell tells by how much something grew.
func ratioCell(before, after float64) cell {
	switch {
	case before == 0:
		return number("new", math.Inf(1))
	case after == 0:
		return number("gone", -1)
	}
	return percentCell(after/before - 1)
}

func percentCell(share float64) cell { return number(fmt.Sprintf("%+.3g %%", 100*share), share) }

// Keys implements page.
func (p *changesPage) Keys() []binding { return changesKeys() }

// Len implements rows.
func (p *changesPage) Len() int { return len(p.rows) }

// Cell implements rows.
func (p *changesPage) Cell(row, column int) cell {
	r := &p.rows[row]
	if column == 4 {
		return r.change
	}
	return cell{text: [...]string{r.part, r.name, r.before, r.after}[column]}
}

// Render shows the selected change in the second pane.
func (p *changesPage) Render(width, height int) []string {
	p.detailed(p.split.panes[1].(*document), func(row int) (string, []paragraph) { return p.rows[row].name, p.rows[row].details })
	return p.listPage.Render(width, height)
}

// Enter implements page.
func (p *changesPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok || p.rows[row].open == nil {
		return say("this has nothing below it")
	}
	return p.rows[row].open()
}

// Command implements commanded.
func (p *changesPage) Command() string {
	return commandLine("compare", append([]string{p.other.path}, p.here.paths...)...)
}

// newDiffPage is the flame graph of a difference.
func newDiffPage(l *look, name string, d *flame.Difference, base, other string) *stacksPage {
	p := newStacksPageOf(l, name+" compared")
	p.diff, p.command = d, commandLine("flame", other, "--diff", base)
	return p
}

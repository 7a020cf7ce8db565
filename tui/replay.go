package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// replayPage lists what the reference datapath can run again.
type replayPage struct {
	listPage
	explorer  *explorer
	scenarios []scenario
}

func newReplayPage(x *explorer) *replayPage {
	p := &replayPage{explorer: x, scenarios: scenarios(x)}
	list := &table{title: "scenarios", rows: p, columns: []column{
		{name: "kind", min: 10}, {name: "scenario", min: 40}, {name: "what", grow: true, min: 16},
	}}
	p.listPage = newListPage("Replay", x.look, list, 100)
	return p
}

func replayKeys() []binding {
	return []binding{openKey("move its settings and see what changes"), filterKey(), sortKey(), copyKey()}
}

// Keys implements page.
func (p *replayPage) Keys() []binding { return replayKeys() }

// Len implements rows.
func (p *replayPage) Len() int { return len(p.scenarios) }

// Cell implements rows.
func (p *replayPage) Cell(row, column int) cell {
	s := &p.scenarios[row]
	return cell{text: [...]string{s.kind, s.name, s.what}[column]}
}

// Enter implements page.
func (p *replayPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	return act{push: newTryPage(p.look, p.explorer.library.ctx, &p.scenarios[row])}
}

// Note implements page.
func (p *replayPage) Note() string {
	return "requests and responses, recorded connections, and workloads of published figures, in the reference model of the datapath"
}

// Command implements commanded.
func (p *replayPage) Command() string {
	row, ok := p.list.Selected()
	if !ok {
		return ""
	}
	return p.scenarios[row].command(p.scenarios[row].knobs)
}

func (m *Model) scenarioNames(string) (names []string) {
	if p, ok := m.screens[replayScreen].pages[0].(*replayPage); ok {
		for i := range p.scenarios {
			names = append(names, p.scenarios[i].name)
		}
	}
	return names
}

// replayCommand opens a scenario by its name.
func (m *Model) replayCommand(name string) act {
	p, ok := m.screens[replayScreen].pages[0].(*replayPage)
	switch {
	case !ok || name == "":
		return act{screen: replayScreen + 1}
	}
	i := slices.IndexFunc(p.scenarios, func(s scenario) bool { return s.name == name })
	if i < 0 {
		return say("no scenario is called " + clean(name) + "; Tab completes")
	}
	return act{screen: replayScreen + 1, push: newTryPage(p.look, p.explorer.library.ctx, &p.scenarios[i])}
}

// tryPage moves the settings of a scenario, and shows what it gives beside what was recorded.
type tryPage struct {
	listPage
	ctx      context.Context
	scenario *scenario
	knobs    knobs
	figures  *table

	wanted int // number of the settings that are shown
	tried  run // that came out last
	runs   run // that is going on, if stop is not nil
	stop   context.CancelFunc
	was    map[int]*outcome // of the settings as they were, by seeds
	now    *outcome
	err    error
}

// run is one of the settings of a number, over so many seeds: over one first, since that is there at once.
type run struct{ number, seeds int }

func newTryPage(l *look, ctx context.Context, s *scenario) *tryPage {
	p := &tryPage{ctx: ctx, scenario: s, knobs: slices.Clone(s.knobs), wanted: 1, was: map[int]*outcome{}}
	list := &table{title: "settings", rows: p, fixed: true, columns: []column{
		{name: "setting", min: 14}, {name: "value", width: 15}, {name: "was", min: 8, drop: 2}, {name: "meaning", grow: true, min: 10, drop: 1},
	}}
	p.figures = &table{look: l, title: "figures", empty: "computing", rows: (*figureRows)(p), fixed: true, columns: []column{
		{name: "figure", grow: true, min: 16}, {name: "recorded", right: true, width: 14}, {name: "model", right: true, width: 14}, {name: "tried", right: true, width: 14}, {name: "change", right: true, width: 9},
	}}
	p.listPage = newListPage(s.name, l, list, 50, p.figures)
	return p
}

func tryKeys() []binding {
	return []binding{
		{"left right", "move", "the setting one value down or up"}, {"enter", "type", "type a value"}, {"x", "as it was", "the setting as it was"}, {"X", "all as was", "all settings as they were"},
		tabKey(), copyKey(), upKey(),
	}
}

// Keys implements page.
func (p *tryPage) Keys() []binding { return tryKeys() }

// Len implements rows.
func (p *tryPage) Len() int { return len(p.knobs) }

// Marked implements marked: what was moved.
func (p *tryPage) Marked(row int) bool { return p.knobs[row].moved() }

// Cell implements rows.
func (p *tryPage) Cell(row, column int) cell {
	k := &p.knobs[row]
	switch column {
	case 0:
		return cell{text: k.key}
	case 1:
		left, right := " ", " "
		if k.at > 0 {
			left = "<"
		}
		if k.at < len(k.values)-1 {
			right = ">"
		}
		return cell{text: left + " " + clean(k.value()) + " " + right}
	case 2:
		return styled(cell{text: clean(k.values[k.initial])}, &p.look.faint)
	}
	return styled(cell{text: k.doc}, &p.look.faint)
}

// Press implements page.
func (p *tryPage) Press(key string) (act, bool) {
	row, ok := p.list.Selected()
	if !ok {
		return act{}, false
	}
	k := &p.knobs[row]
	before := k.at
	switch key {
	case "left":
		k.at = max(k.at-1, 0)
	case "right":
		k.at = min(k.at+1, len(k.values)-1)
	case "x":
		k.at = k.initial
	case "X":
		p.knobs = slices.Clone(p.scenario.knobs)
		p.wanted++
		return act{}, true
	default:
		return act{}, false
	}
	if k.at == before {
		if key == "x" {
			return say(k.key + " is as it was"), true
		}
		return say(k.key + " goes no further; enter types another value"), true
	}
	p.wanted++
	return act{}, true
}

// Enter implements page: a value can be typed.
func (p *tryPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	k := &p.knobs[row]
	return act{ask: &prompt{
		sign: k.key + "=", edit: edit{k.value(), len(k.value())},
		hint: func() string { return k.doc },
		entered: func(text string) act {
			if text = strings.TrimSpace(text); text != "" && text != k.value() {
				k.insert(text)
				p.wanted++
			}
			return act{}
		},
	}}
}

// triedMsg is what a run gave.
type triedMsg struct {
	to       *tryPage
	run      run
	was, now *outcome
	err      error
}

// Want implements wanting: the newest settings win, and what is computed for older ones is given up.
func (p *tryPage) Want() tea.Cmd {
	next := run{p.wanted, min(p.scenario.seeds, 1)}
	if p.tried.number == p.wanted {
		next.seeds = p.scenario.seeds
	}
	switch {
	case p.tried == next, p.tried.number == p.wanted && p.err != nil:
		return nil
	case p.stop != nil:
		if p.runs.number != p.wanted {
			p.stop()
		}
		return nil
	}
	ctx, stop := context.WithCancel(p.ctx)
	p.stop, p.runs = stop, next
	msg := triedMsg{to: p, run: next, was: p.was[next.seeds]}
	try, before, set := p.scenario.run, p.scenario.knobs, slices.Clone(p.knobs)
	return func() tea.Msg {
		defer stop()
		if msg.was == nil {
			was, err := try(ctx, before, next.seeds)
			if err != nil {
				msg.err = err
				return msg
			}
			msg.was = &was
		}
		now, err := try(ctx, set, next.seeds)
		msg.now, msg.err = &now, err
		return msg
	}
}

func (p *tryPage) take(msg triedMsg) {
	p.stop = nil
	if msg.was != nil {
		p.was[msg.run.seeds] = msg.was
	}
	if msg.run.number != p.wanted {
		return
	}
	p.tried, p.err = msg.run, msg.err
	if msg.err == nil {
		p.now = msg.now
	}
	p.figures.SetRows((*figureRows)(p))
}

// computing reports whether what is shown is of older settings.
func (p *tryPage) computing() bool { return p.tried.number != p.wanted }

// before is what the settings as they were give, over as many seeds as what is shown.
func (p *tryPage) before() *outcome {
	if o := p.was[p.tried.seeds]; o != nil {
		return o
	}
	return &outcome{}
}

// Render tells above the figures how they stand.
func (p *tryPage) Render(width, height int) []string {
	p.figures.title, p.figures.empty = "figures", "computing"
	switch {
	case p.computing():
		p.figures.title = "figures: computing"
	case p.err != nil:
		p.figures.title = "figures: not possible"
		p.figures.empty = clean(p.err.Error())
	case p.tried.seeds < p.scenario.seeds:
		p.figures.title = fmt.Sprintf("figures: over one seed; computing over %d", p.scenario.seeds)
	case p.scenario.seeds > 0:
		p.figures.title = fmt.Sprintf("figures: means over %d seeds", p.scenario.seeds)
	}
	return p.listPage.Render(width, height)
}

// Note implements page: the first figure, for screens that show one pane only, or why a figure is not known.
func (p *tryPage) Note() string {
	switch {
	case p.err != nil && !p.computing():
		return clean(p.err.Error())
	case p.now == nil:
		return "computing"
	}
	if row, ok := p.figures.Selected(); ok && p.focus == 1 && row < len(p.now.figures) {
		if why := p.now.figures[row].why; why != "" {
			return why
		}
		if len(p.now.notes) > 0 {
			return clean(strings.Join(p.now.notes, "; "))
		}
	}
	rows := (*figureRows)(p)
	note := "computing; before: "
	if !p.computing() {
		note = ""
	}
	return note + fmt.Sprintf("%s %s, was %s (%s)", rows.Cell(0, 0).text, rows.Cell(0, 3).text, rows.Cell(0, 2).text, rows.Cell(0, 4).text)
}

// Command implements commanded.
func (p *tryPage) Command() string { return p.scenario.command(p.knobs) }

// figureRows are the figures of a scenario.
type figureRows tryPage

// Len implements rows.
func (p *figureRows) Len() int {
	if p.now == nil {
		return 0
	}
	return len(p.now.figures)
}

// Cell implements rows: a figure as it was recorded, as the model has it, and with what was moved.
func (p *figureRows) Cell(row, column int) cell {
	f := &p.now.figures[row]
	name := func(g figure) bool { return g.name == f.name }
	was := (*tryPage)(p).before().figures
	var c cell
	switch column {
	case 0:
		c = cell{text: f.name}
	case 1:
		c = of((*tryPage)(p).before().recorded, name)
	case 2:
		c = of(was, name)
	case 3:
		c = number(f.text(), f.value)
	case 4:
		if i := slices.IndexFunc(was, name); i >= 0 && f.why == "" && was[i].why == "" && was[i].value != 0 {
			c = percentCell(f.value/was[i].value - 1)
		}
	}
	if f.why != "" || (*tryPage)(p).computing() && column >= 3 {
		c.style = &p.look.faint
	}
	return c
}

func of(figures []figure, is func(figure) bool) cell {
	i := slices.IndexFunc(figures, is)
	if i < 0 {
		return cell{text: "-"}
	}
	return number(figures[i].text(), figures[i].value)
}

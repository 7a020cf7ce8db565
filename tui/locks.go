package tui

import (
	"fmt"
	"slices"
	"strings"

	"nettrace/lockstat"
	"nettrace/source"
	"nettrace/unit"
)

// locksPage lists the locks of all lock tables.
type locksPage struct {
	listPage
	explorer *explorer
	locks    []lock
	detail   *document
}

// lock is a lock and the table that it is in.
type lock struct {
	table *lockstat.Table
	*lockstat.Lock
}

func newLocksPage(x *explorer) *locksPage {
	p := &locksPage{explorer: x, detail: &document{look: x.look}}
	for _, t := range x.result.Models.Locks {
		for i := range t.Locks {
			p.locks = append(p.locks, lock{t, &t.Locks[i]})
		}
	}
	list := &table{title: "locks", empty: "the lock tables are empty: nothing waited", rows: p, columns: []column{
		{name: "lock", grow: true, min: 18},
		{name: "kind", drop: 5},
		{name: "contentions", title: "waits", right: true},
		{name: "wait", title: "wait total", right: true},
		{name: "max", title: "longest", right: true},
		{name: "spin", title: "spun", right: true, drop: 2},
		{name: "hold", title: "held", right: true, drop: 3},
		{name: "cpu-share", title: "of one CPU", right: true, drop: 1},
		{name: "source", min: 24, drop: 6},
	}}
	if len(x.result.Models.Locks) > 1 { // which one says more than how
		list.columns[len(list.columns)-1].drop = 1
		list.columns[7].drop = 4
	}
	p.listPage = newListPage("Locks", x.look, list, 55, p.detail)
	return p
}

func locksKeys() []binding {
	return []binding{openKey("who takes it"), filterKey(), sortKey(), tabKey(), copyKey()}
}

// Keys implements page.
func (p *locksPage) Keys() []binding { return locksKeys() }

// Len implements rows.
func (p *locksPage) Len() int { return len(p.locks) }

// Cell implements rows.
func (p *locksPage) Cell(row, column int) cell {
	l := &p.locks[row]
	switch column {
	case 0:
		return text(l.Name)
	case 1:
		return text(l.Kind)
	case 2:
		return number(unit.Count(l.Contentions), float64(l.Contentions))
	case 3:
		return nanos(l.Wait)
	case 4:
		return longest(&l.Stats)
	case 5:
		return nanos(l.Spin)
	case 6:
		return nanos(l.Hold)
	case 7:
		if l.table.Seconds <= 0 {
			return cell{text: "-", numeric: true}
		}
		share := l.Wait.Seconds() / l.table.Seconds
		return number(unit.Percent(share), share)
	default:
		return text(p.explorer.names[l.table.Source])
	}
}

// longest tells the longest wait; where the tool only proves a least one, that is said.
func longest(s *lockstat.Stats) cell {
	c := nanos(s.WaitMax)
	if s.WaitMax > 0 && !s.WaitMaxExact {
		c.text = ">= " + c.text
	}
	return c
}

// Render shows the selected lock in the second pane.
func (p *locksPage) Render(width, height int) []string {
	p.detailed(p.detail, func(row int) (string, []paragraph) { return "lock", p.locks[row].describe() })
	return p.listPage.Render(width, height)
}

// Command implements commanded.
func (p *locksPage) Command() string {
	row, ok := p.list.Selected()
	if !ok {
		return ""
	}
	return commandLine("locks", p.locks[row].table.Source)
}

// describe tells what is known of a lock.
func (l *lock) describe() []paragraph {
	var list []paragraph
	add := func(label, format string, args ...any) {
		list = append(list, paragraph{label: label, text: clean(fmt.Sprintf(format, args...))})
	}
	name := l.Name
	if l.Address != "" {
		name += " at " + l.Address
	}
	add("lock", "%s %s%s", l.Kind, name, known(l.Known))
	add("wait", "%s in %s waits, longest %s; spun %s, blocked %s", l.Wait, unit.Count(l.Contentions), longest(&l.Stats).text, l.Spin, l.Block)
	if l.Acquisitions > 0 {
		add("hold", "%s in %s acquisitions, longest %s", l.Hold, unit.Count(l.Acquisitions), l.HoldMax)
	}
	if l.Iterations > 0 {
		add("loops", "%s of spinning, which are no time", unit.Count(l.Iterations))
	}
	if l.WaitersMax > 0 {
		add("queue", "at most %d waited at once; one or more did for %s", l.WaitersMax, l.Waited)
	}
	if l.Bounces > 0 {
		add("cpu", "%s waits for a holder on another CPU", unit.Count(l.Bounces))
	}
	for _, s := range l.Shares {
		add("share", "%s of %s events, %s of their time", unit.Percent(s.CountShare), s.Event, unit.Percent(s.TimeShare))
	}
	for i := range l.Sites {
		s := &l.Sites[i]
		add("by", "%s%s: %s in %s waits", caller(s), known(s.Role), s.Wait, unit.Count(s.Contentions))
	}
	for i := range l.Holders {
		add("holder", "%s%s", l.Holders[i].Caller, known(l.Holders[i].Role))
	}
	for _, loss := range l.table.Losses {
		add("lost", "%s", loss.Text)
	}
	return list
}

// caller is who takes a lock, or the side of it where only that is known.
func caller(s *lockstat.Site) string {
	if s.Caller == "" {
		return "(unknown) " + s.Kind
	}
	return s.Caller
}

func known(what string) string {
	if what == "" {
		return ""
	}
	return " (" + what + ")"
}

// Enter implements page.
func (p *locksPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	return act{push: newLockPage(p.explorer, &p.locks[row])}
}

// lockPage lists the places that take a lock.
type lockPage struct {
	listPage
	explorer *explorer
	lock     *lock
	sites    []site
}

// site is a place that waits for the lock or holds it.
type site struct {
	part string // waits, held
	*lockstat.Site
}

func newLockPage(x *explorer, l *lock) *lockPage {
	p := &lockPage{explorer: x, lock: l}
	for i := range l.Sites {
		p.sites = append(p.sites, site{"waits", &l.Sites[i]})
	}
	for i := range l.Holders {
		p.sites = append(p.sites, site{"held it", &l.Holders[i]})
	}
	list := &table{title: "places that take it", empty: "the tool names no place that takes it", rows: p, columns: []column{
		{name: "part"}, {name: "caller", grow: true, min: 20}, {name: "role", drop: 1},
		{name: "waits", right: true}, {name: "wait", title: "wait total", right: true}, {name: "max", title: "longest", right: true},
	}}
	detail := &document{look: x.look}
	detail.Set("lock", slices.Concat(l.describe(), histogram(x.look, "waits", l.Waits), histogram(x.look, "holds", l.Holds)))
	p.listPage = newListPage(l.Name, x.look, list, 45, detail)
	return p
}

// histogram draws a distribution, a line for each bin.
func histogram(l *look, name string, bins []lockstat.Bin) []paragraph {
	var list []paragraph
	most := int64(1)
	for _, b := range bins {
		most = max(most, b.Count)
	}
	for i, b := range bins {
		label := ""
		if i == 0 {
			label = name
		}
		bar := strings.Repeat(string(l.levels[len(l.levels)-1]), int(40*b.Count/most))
		list = append(list, paragraph{label: label, plain: true, text: fmt.Sprintf("%10s %s %s", "< "+unit.Nanos(b.High).String(), bar, unit.Count(b.Count))})
	}
	return list
}

func lockKeys() []binding {
	return []binding{openKey("the row in the text"), filterKey(), sortKey(), tabKey(), copyKey(), upKey()}
}

// Keys implements page.
func (p *lockPage) Keys() []binding { return lockKeys() }

// Len implements rows.
func (p *lockPage) Len() int { return len(p.sites) }

// Cell implements rows.
func (p *lockPage) Cell(row, column int) cell {
	s := &p.sites[row]
	switch column {
	case 0:
		return text(s.part)
	case 1:
		return text(caller(s.Site))
	case 2:
		return text(s.Role)
	case 3:
		return number(unit.Count(s.Contentions), float64(s.Contentions))
	case 4:
		return nanos(s.Wait)
	default:
		return longest(&s.Stats)
	}
}

// Enter implements page.
func (p *lockPage) Enter() act {
	at := p.lock.table.Pos
	if row, ok := p.list.Selected(); ok && len(p.sites[row].Pos) > 0 {
		at = p.sites[row].Pos[0]
	}
	return p.explorer.open(placed(at, p.lock.table.Source))
}

// placed completes a place that does not name its source.
func placed(at source.Pos, name string) source.Pos {
	if at.Source == "" {
		at.Source = name
	}
	return at
}

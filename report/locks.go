package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"nettrace/lockstat"
	"nettrace/unit"
)

// LocksJSON writes the entries of lock tables for scripts, and with diffs how they changed.
func LocksJSON(w io.Writer, tables []*lockstat.Table, diffs []*lockstat.Diff, by lockstat.Order) error {
	out := struct {
		Locks []lockstat.Entry `json:"locks"`
		Diffs []*lockstat.Diff `json:"diffs,omitempty"`
	}{Locks: []lockstat.Entry{}, Diffs: diffs}
	for _, t := range tables {
		out.Locks = append(out.Locks, t.Entries(by)...)
	}
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

// Locks prints the lock tables, a line for each lock and site.
func Locks(w io.Writer, tables []*lockstat.Table, by lockstat.Order, style Style) error {
	p := &page{w: w, style: style}
	for i, t := range tables {
		if i > 0 {
			p.print("\n")
		}
		p.print(p.paint(bold, Clean(t.Source+": "+toolTitle(t.Tool))) + "\n" + Clean(lockTotals(t)) + "\n")
		p.lockTable(t, by)
		p.otherOrder(t, by)
		for j := range t.Quarantined {
			q := &t.Quarantined[j]
			p.print(Clean(fmt.Sprintf("left out, line %d: %s%s (%s)", q.Pos.Line, q.Lock, q.Caller, q.Reason)) + "\n")
		}
	}
	return p.err
}

func toolTitle(t lockstat.Tool) string {
	return strings.Join(slices.DeleteFunc(append([]string{t.Program, t.Version}, t.Options...), func(s string) bool { return s == "" }), " ")
}

// lockTotals says how much a table holds, and how fast it went.
func lockTotals(t *lockstat.Table) string {
	s := &t.Total
	text := fmt.Sprintf("%s contentions, %s of wait", unit.Count(s.Contentions), s.Wait)
	if s.Contentions == 0 && s.Acquisitions > 0 {
		text = fmt.Sprintf("%s acquisitions, %s of wait", unit.Count(s.Acquisitions), s.Wait)
	}
	if t.Seconds > 0 {
		text += fmt.Sprintf(" in %s (%s for each second)", unit.FromSeconds(t.Seconds), unit.Nanos(float64(s.Wait)/t.Seconds))
	}
	for _, part := range []struct {
		name string
		v    unit.Nanos
	}{{"spun", s.Spin}, {"blocked", s.Block}, {"held", s.Hold}} {
		if part.v > 0 {
			text += fmt.Sprintf(", %s %s", part.v, part.name)
		}
	}
	if s.Iterations > 0 {
		text += fmt.Sprintf(", %s loops of spinning, which are no time", unit.Count(s.Iterations))
	}
	return text
}

// lockColumn is a column of the lock table; one that is empty in all rows is not shown.
type lockColumn struct {
	head  string
	left  bool
	value func(e *lockstat.Entry) string
}

func lockColumns() []lockColumn {
	nanos := func(v unit.Nanos) string {
		if v == 0 {
			return ""
		}
		return v.String()
	}
	return []lockColumn{
		{head: "contentions", value: func(e *lockstat.Entry) string { return unit.Count(e.Contentions) }},
		{head: "of all", value: func(e *lockstat.Entry) string { return unit.Percent(e.CountShare) }},
		{head: "wait", value: func(e *lockstat.Entry) string { return nanos(e.Wait) }},
		{head: "of all", value: func(e *lockstat.Entry) string {
			if e.Wait == 0 {
				return ""
			}
			return unit.Percent(e.WaitShare)
		}},
		{head: "a second", value: func(e *lockstat.Entry) string { return nanos(unit.Nanos(e.WaitRate)) }},
		{head: "longest", value: func(e *lockstat.Entry) string { return nanos(e.WaitMax) }},
		{head: "loops", value: func(e *lockstat.Entry) string {
			if e.Iterations == 0 {
				return ""
			}
			return unit.Count(e.Iterations)
		}},
		{head: "mean", value: func(e *lockstat.Entry) string { return nanos(e.WaitMean) }},
		{head: "held", value: func(e *lockstat.Entry) string { return nanos(e.Hold) }},
		{head: "acquired", value: func(e *lockstat.Entry) string {
			if e.Acquisitions == 0 {
				return ""
			}
			return unit.Count(e.Acquisitions)
		}},
		{head: "mean", value: func(e *lockstat.Entry) string { return nanos(e.HoldMean) }},
		{head: "contended", value: func(e *lockstat.Entry) string {
			if e.ContendedShare == 0 {
				return ""
			}
			return unit.Percent(e.ContendedShare)
		}},
		{head: "kind", left: true, value: func(e *lockstat.Entry) string { return e.Kind }},
		{head: "lock", left: true, value: func(e *lockstat.Entry) string {
			if e.Name == "" {
				return ""
			}
			return e.Name + inBrackets(e.Known)
		}},
		{head: "site", left: true, value: func(e *lockstat.Entry) string {
			if e.Site == e.Name {
				return inBrackets(e.Role)
			}
			return e.Site + inBrackets(e.Role)
		}},
	}
}

func inBrackets(what string) string {
	if what == "" {
		return ""
	}
	return " (" + what + ")"
}

// lockTable prints a line for each lock, with its places below where there are several.
func (p *page) lockTable(t *lockstat.Table, by lockstat.Order) {
	entries := []lockstat.Entry{}
	for _, g := range t.Groups(by) {
		entries = append(entries, lockLines(&g)...)
	}
	if len(entries) == 0 {
		return
	}
	var head []string
	right := map[int]bool{}
	rows := make([][]string, len(entries))
	for _, c := range lockColumns() {
		cells, any := make([]string, len(entries)), false
		for i := range entries {
			if cells[i] = strings.TrimSpace(c.value(&entries[i])); cells[i] != "" {
				any = true
			}
		}
		if !any {
			continue
		}
		right[len(head)] = !c.left
		head = append(head, c.head)
		for i := range rows {
			rows[i] = append(rows[i], cells[i])
		}
	}
	p.table(head, rows, right)
}

// lockLines are the lines of one lock: itself, and, without its name, the places that take it.
func lockLines(g *lockstat.Group) []lockstat.Entry {
	whole := g.Lock
	below := slices.Clone(g.Sites)
	for _, w := range whole.Waiters {
		below = append(below, counted(&whole, w, "waited at "))
	}
	for _, h := range whole.Holders {
		below = append(below, counted(&whole, h, "held at "))
	}
	if len(below) < 2 {
		return []lockstat.Entry{whole}
	}
	whole.Site, whole.Role = "", ""
	for i := range below {
		if below[i].Name, below[i].Known = "", ""; below[i].Kind == whole.Kind {
			below[i].Kind = ""
		}
		if below[i].Site == "" {
			below[i].Site = "(unknown)"
		}
	}
	return append([]lockstat.Entry{whole}, below...)
}

// counted is a place that was not timed.
func counted(whole *lockstat.Entry, p lockstat.Place, what string) lockstat.Entry {
	return lockstat.Entry{Kind: whole.Kind, Site: what + p.Caller, Role: p.Role, Contentions: p.Contentions, CountShare: share(p.Contentions, whole.Contentions)}
}

// otherOrder tells which locks come first by count where the table goes by time, and the other way round: a few long
// waits can outweigh thousands of short ones.
func (p *page) otherOrder(t *lockstat.Table, by lockstat.Order) {
	other, value := lockstat.ByCount, func(l *lockstat.Lock) string {
		return unit.Count(l.Contentions) + " (" + unit.Percent(share(l.Contentions, t.Total.Contentions)) + ")"
	}
	if by == lockstat.ByCount {
		other, value = lockstat.ByWait, func(l *lockstat.Lock) string {
			return l.Wait.String() + " (" + unit.Percent(share(int64(l.Wait), int64(t.Total.Wait))) + ")"
		}
	}
	list, have := t.Sorted(other), t.Sorted(by)
	if len(list) < 2 || list[0] == have[0] {
		return
	}
	var parts []string
	for _, l := range list[:min(len(list), 3)] {
		parts = append(parts, l.Name+" "+value(l))
	}
	p.print(Clean("first by "+string(other)+": "+strings.Join(parts, ", ")) + "\n")
}

func share(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

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

// LocksJSON writes the entries of lock tables for scripts.
func LocksJSON(w io.Writer, tables []*lockstat.Table, by lockstat.Order) error {
	entries := []lockstat.Entry{}
	for _, t := range tables {
		entries = append(entries, t.Entries(by)...)
	}
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(map[string][]lockstat.Entry{"locks": entries})
}

// Locks prints the lock tables, a line for each lock and site.
func Locks(w io.Writer, tables []*lockstat.Table, by lockstat.Order, style Style) error {
	p := &page{w: w, style: style}
	for i, t := range tables {
		if i > 0 {
			p.print("\n")
		}
		title := t.Source + ": " + strings.Join(slices.DeleteFunc(append([]string{t.Tool.Program, t.Tool.Version}, t.Tool.Options...), func(s string) bool { return s == "" }), " ")
		if t.Seconds > 0 {
			title += fmt.Sprintf(", %s recorded", unit.FromSeconds(t.Seconds))
		}
		p.print(p.paint(bold, Clean(title)) + "\n")
		var rows [][]string
		for _, e := range t.Entries(by) {
			rows = append(rows, []string{unit.Count(e.Contentions), e.Wait.String(), e.WaitMax.String(), e.Hold.String(), e.Kind, e.Name, e.Site})
		}
		p.table([]string{"contentions", "wait", "longest", "hold", "kind", "lock", "site"}, rows, map[int]bool{0: true, 1: true, 2: true, 3: true})
	}
	return p.err
}

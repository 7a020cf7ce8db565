package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"nettrace/analyze"
)

// export is a form in which a view, or the whole result, can be written to a file.
type export struct {
	what, ending string
	write        func(io.Writer) error
}

// exporting is implemented by pages that can be written to a file.
type exporting interface{ Exports() []export }

// Form is a form in which the program prints a whole result.
type Form struct {
	Name   string // "text"
	Ending string // ".txt"
	Page   bool   // one that a browser shows
	Write  func(ctx context.Context, w io.Writer, r *analyze.Result) error
}

// exports offers what the page, and what the whole result, can be written as.
func (m *Model) exports() {
	var items []item
	add := func(key, name string, e export) {
		items = append(items, item{key, e.what + " (" + e.ending + ")", func() act {
			m.askFile(e.what, m.fileName(name, e.ending), e.write)
			return act{}
		}})
	}
	if p, ok := m.page().(exporting); ok {
		for i, e := range p.Exports() {
			add(fmt.Sprint(i+1), strings.ToLower(m.screens[m.current].name), e)
		}
	}
	if m.result != nil {
		for _, f := range m.options.Forms {
			add("", "", export{"the whole result as " + f.Name, f.Ending, m.whole(f)})
		}
	}
	if len(items) == 0 {
		m.said = "there is nothing to export here yet"
		return
	}
	m.choose("export", items)
}

// whole writes the result. What is shown may change meanwhile, so it is a copy.
func (m *Model) whole(f Form) func(io.Writer) error {
	r, ctx := copied(m.result), m.library.ctx
	return func(w io.Writer) error { return f.Write(ctx, w, r) }
}

// report writes the page and opens it, where there is a desktop.
func (m *Model) report() {
	i := slices.IndexFunc(m.options.Forms, func(f Form) bool { return f.Page })
	switch {
	case m.result == nil:
		m.said = "the report is made of the findings, which come when all is read"
	case i < 0:
		m.said = "this program writes no page"
	default:
		f := m.options.Forms[i]
		m.askFileThen("the report as one page", m.fileName("", f.Ending), m.whole(f), openOutside(m.options.Env))
	}
}

// Exports implements exporting: the rows that are shown, in their order.
func (p *listPage) Exports() []export {
	if p.list.Len() == 0 {
		return nil
	}
	rows := p.list.snapshot()
	return []export{
		{p.list.title + " as text", ".txt", rows.writeText},
		{p.list.title + " as JSON", ".json", rows.writeJSON},
	}
}

// snapshot is a table's rows as they are shown.
type snapshot struct {
	names []string
	right []bool
	rows  [][]cell
}

func (t *table) snapshot() *snapshot {
	s := &snapshot{}
	columns := t.chosenColumns()
	for _, c := range columns {
		s.names, s.right = append(s.names, t.columns[c].name), append(s.right, t.columns[c].right)
	}
	for place := range t.Len() {
		cells := make([]cell, len(columns))
		for i, c := range columns {
			cells[i] = t.rows.Cell(t.row(place), c)
		}
		s.rows = append(s.rows, cells)
	}
	return s
}

func (s *snapshot) writeText(w io.Writer) error {
	widths := make([]int, len(s.names))
	for i, name := range s.names {
		widths[i] = widthOf(name)
		for _, r := range s.rows {
			widths[i] = max(widths[i], widthOf(r[i].text))
		}
	}
	line := func(text func(column int) string) error {
		var b strings.Builder
		for i := range s.names {
			space := blank(widths[i] - widthOf(text(i)))
			if s.right[i] {
				b.WriteString(space + text(i))
			} else {
				b.WriteString(text(i) + space)
			}
			b.WriteString("  ")
		}
		_, err := io.WriteString(w, strings.TrimRight(b.String(), " ")+"\n")
		return err
	}
	err := line(func(i int) string { return s.names[i] })
	for _, r := range s.rows {
		if err == nil {
			err = line(func(i int) string { return r[i].text })
		}
	}
	return err
}

// writeJSON writes an object for each row. A number is written beside its text, in nanoseconds, bytes or as a ratio.
func (s *snapshot) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	list := make([]map[string]any, 0, len(s.rows))
	for _, r := range s.rows {
		fields := map[string]any{}
		for i, name := range s.names {
			if fields[name] = r[i].text; r[i].numeric {
				fields[name] = map[string]any{"text": r[i].text, "value": r[i].value}
			}
		}
		list = append(list, fields)
	}
	return e.Encode(list)
}

package tui

import (
	"strings"
	"time"

	"nettrace/analyze"
	"nettrace/source"
	"nettrace/unit"
)

// sourcesPage lists what was read, what was lost in it, and what could not be read, with why.
type sourcesPage struct {
	listPage
	explorer *explorer
	errs     []error
	detail   *document
}

func newSourcesPage(x *explorer, errs []error) *sourcesPage {
	p := &sourcesPage{explorer: x, errs: errs, detail: &document{look: x.look}}
	list := &table{title: "sources", empty: "nothing was read", rows: p, columns: []column{
		{name: "source", grow: true, min: 20},
		{name: "format", min: 18},
		{name: "kind", drop: 4},
		{name: "bytes", right: true, drop: 3},
		{name: "records", right: true, drop: 2},
		{name: "span", right: true, drop: 1},
		{name: "losses", right: true},
	}}
	p.listPage = newListPage("Sources", x.look, list, 60, p.detail)
	return p
}

func sourcesKeys() []binding {
	return []binding{openKey("its packets or its text"), filterKey(), sortKey(), tabKey(), copyKey()}
}

// Keys implements page.
func (p *sourcesPage) Keys() []binding { return sourcesKeys() }

// Len implements rows: what could not be read comes last.
func (p *sourcesPage) Len() int { return len(p.explorer.result.Sources) + len(p.errs) }

// source returns the source in a row, nil for one that could not be read.
func (p *sourcesPage) source(row int) *analyze.Source {
	if list := p.explorer.result.Sources; row < len(list) {
		return &list[row]
	}
	return nil
}

func (p *sourcesPage) error(row int) string {
	return clean(p.errs[row-len(p.explorer.result.Sources)].Error())
}

// Cell implements rows.
func (p *sourcesPage) Cell(row, column int) cell {
	s := p.source(row)
	if s == nil {
		if column == 0 {
			return styled(cell{text: p.error(row)}, &p.look.bad)
		}
		return cell{}
	}
	switch column {
	case 0:
		return text(p.explorer.names[s.Path])
	case 1:
		if s.Format == "" {
			return styled(cell{text: "not recognised"}, &p.look.bad)
		}
		return text(s.Format)
	case 2:
		return text(string(s.Kind))
	case 3:
		return number(unit.Bytes(s.Bytes), float64(s.Bytes))
	case 4:
		return positive(s.Records)
	case 5:
		if s.End == s.Start {
			return cell{}
		}
		return number((s.End - s.Start).String(), float64(s.End-s.Start))
	default:
		c := positive(int64(len(p.losses(s))))
		c.style = &p.look.bad
		return c
	}
}

// losses returns the ledger's warnings of a source.
func (p *sourcesPage) losses(s *analyze.Source) []source.Entry {
	var list []source.Entry
	for _, e := range p.explorer.result.Ledger {
		if e.Source == s.Path && e.Severity == source.Warning {
			list = append(list, e)
		}
	}
	return list
}

// Render shows the selected source in the second pane.
func (p *sourcesPage) Render(width, height int) []string {
	p.detailed(p.detail, func(row int) (string, []paragraph) { return "source", p.describe(row) })
	return p.listPage.Render(width, height)
}

// Command implements commanded.
func (p *sourcesPage) Command() string { return commandLine("inspect", p.explorer.paths...) }

// describe tells what is known of a source, as nettrace inspect does.
func (p *sourcesPage) describe(row int) []paragraph {
	var list []paragraph
	add := func(label, text string) { list = append(list, paragraph{label: label, text: clean(text)}) }
	s := p.source(row)
	if s == nil {
		add("error", p.error(row))
		return list
	}
	add("path", s.Path)
	what := string(s.Kind) + ", " + unit.Bytes(s.Bytes)
	if len(s.Compression) > 0 {
		what += ", out of " + strings.Join(s.Compression, ", ")
	}
	if s.Records > 0 {
		what += ", " + unit.Count(s.Records) + " records"
	}
	if s.Line > 1 {
		what += ", at line " + unit.Count(int64(s.Line))
	}
	if s.Format == "" {
		list = append(list, paragraph{label: "why", text: clean("not recognised: " + s.Note + "; tried " + strings.Join(s.Tried, ", ")), style: &p.look.bad})
	} else {
		add("what", s.Format+": "+what)
		if s.Note != "" {
			add("note", s.Note)
		}
	}
	if s.Epoch != 0 {
		add("from", time.Unix(s.Epoch, int64(s.Start)).UTC().Format("2006-01-02 15:04:05.000000Z")+", "+(s.End-s.Start).String())
	}
	if s.Host != "" || s.Role != "" {
		add("host", strings.TrimSpace(s.Host+" "+s.Role))
	}
	for _, f := range s.Facts {
		add("fact", f.Name+": "+f.Value)
	}
	for _, e := range s.Events {
		add("event", e.Name+": "+unit.Count(e.Samples)+" samples")
	}
	for _, e := range p.explorer.result.Ledger {
		if e.Source != s.Path {
			continue
		}
		entry := paragraph{label: "note", text: clean(e.Name + ", " + unit.Count(e.Count) + ": " + e.Text)}
		if e.Severity == source.Warning {
			entry.label, entry.style = "lost", &p.look.bad
		}
		list = append(list, entry)
	}
	return list
}

// Enter implements page.
func (p *sourcesPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	s := p.source(row)
	switch {
	case s == nil:
		return say(p.error(row))
	case s.Kind == analyze.Capture:
		return act{push: newPacketsPage(p.look, p.explorer.library.capture(s.Path), 0)}
	default:
		return p.explorer.open(source.Pos{Source: s.Path, Line: max(s.Line, 1), Offset: s.Offset})
	}
}

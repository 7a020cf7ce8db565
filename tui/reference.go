package tui

import (
	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/unit"
)

// textPage shows paragraphs.
type textPage struct {
	split
	name  string
	words *document
}

func newTextPage(l *look, name, title string, paragraphs []paragraph) *textPage {
	p := &textPage{name: name, words: &document{look: l}}
	p.words.Set(title, paragraphs)
	p.split = newSplit(l, 100, p.words)
	return p
}

// Name implements page.
func (p *textPage) Name() string { return p.name }

func (p *textPage) panes() *split { return &p.split }

// Keys implements page.
func (p *textPage) Keys() []binding { return []binding{copyKey(), upKey()} }

// Press implements page.
func (p *textPage) Press(string) (act, bool) { return act{}, false }

// Enter implements page.
func (p *textPage) Enter() act { return say("this is the lowest level; esc goes up") }

// Copies implements page.
func (p *textPage) Copies() []clip {
	text := ""
	for i := range p.words.paragraphs {
		text += p.words.paragraphs[i].text + "\n"
	}
	return []clip{{"all of the text", text}}
}

// Note implements page.
func (p *textPage) Note() string { return "" }

// rulePage tells what a rule looks for, as nettrace explain does.
type rulePage struct{ *textPage }

func newRulePage(l *look, r *finding.Rule) *rulePage {
	list := []paragraph{{label: "what", text: clean(r.Title)}, {label: "how", text: clean(r.Method)}}
	for _, t := range r.Params {
		list = append(list, paragraph{label: "param", text: clean(t.Name + " = " + unit.Format(t.Default, t.Unit) + ": " + t.Doc)})
	}
	if r.FalsePositives != "" {
		list = append(list, paragraph{label: "but", text: clean(r.FalsePositives)})
	}
	for _, ref := range r.References {
		list = append(list, paragraph{label: "ref", text: clean(ref)})
	}
	return &rulePage{newTextPage(l, r.Name, r.Name, list)}
}

// Command implements commanded.
func (p *rulePage) Command() string { return commandLine("explain", p.name) }

// rulesPage lists what is looked for.
type rulesPage struct {
	listPage
	rules []finding.Rule
}

func newRulesPage(l *look) *rulesPage {
	p := &rulesPage{rules: allRules()}
	list := &table{title: "rules", rows: p, columns: []column{{name: "rule", min: 30}, {name: "title", grow: true, min: 20}}}
	p.listPage = newListPage("rules", l, list, 100)
	return p
}

// Keys implements page.
func (p *rulesPage) Keys() []binding {
	return []binding{openKey("how it decides"), filterKey(), sortKey(), copyKey(), upKey()}
}

// Len implements rows.
func (p *rulesPage) Len() int { return len(p.rules) }

// Cell implements rows.
func (p *rulesPage) Cell(row, column int) cell {
	if column == 0 {
		return text(p.rules[row].Name)
	}
	return text(p.rules[row].Title)
}

// Enter implements page.
func (p *rulesPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	return act{push: newRulePage(p.look, &p.rules[row])}
}

// Command implements commanded.
func (p *rulesPage) Command() string { return commandLine("rules") }

// formatsPage lists what can be read.
type formatsPage struct {
	listPage
	formats []analyze.Format
}

func newFormatsPage(l *look) *formatsPage {
	p := &formatsPage{formats: analyze.Formats()}
	list := &table{title: "formats", rows: p, columns: []column{{name: "kind", min: 10}, {name: "format", min: 18}, {name: "record", min: 40, drop: 1}, {name: "doc", grow: true, min: 20}}}
	p.listPage = newListPage("formats", l, list, 100)
	return p
}

// Keys implements page.
func (p *formatsPage) Keys() []binding {
	return []binding{openKey("all of it"), filterKey(), sortKey(), copyKey(), upKey()}
}

// Len implements rows.
func (p *formatsPage) Len() int { return len(p.formats) }

// Cell implements rows.
func (p *formatsPage) Cell(row, column int) cell {
	f := &p.formats[row]
	return text([...]string{string(f.Kind), f.Name, f.Record, f.Doc}[column])
}

// Enter implements page.
func (p *formatsPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	f := &p.formats[row]
	return act{push: newTextPage(p.look, f.Name, f.Name, []paragraph{{label: "kind", text: clean(string(f.Kind))}, {label: "what", text: clean(f.Doc)}, {label: "record", text: clean(f.Record)}})}
}

// Command implements commanded.
func (p *formatsPage) Command() string { return commandLine("formats") }

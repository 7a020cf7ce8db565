package tui

import (
	"fmt"
	"strings"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/source"
	"nettrace/tcp"
)

// findingsPage is the home screen: what was found, causes first with what they explain under them.
type findingsPage struct {
	listPage
	explorer *explorer
	order    []listed
	detail   *document
}

// listed is a finding in its place in the list.
type listed struct {
	*finding.Finding
	under bool // a symptom, under its cause
}

// explorer is what pages of a result share.
type explorer struct {
	look    *look
	result  *analyze.Result
	names   map[string]string
	library *library
	paths   []string // of the incident
}

func newFindingsPage(x *explorer) *findingsPage {
	p := &findingsPage{explorer: x, order: causesFirst(x.result.Findings), detail: &document{look: x.look}}
	list := &table{title: "findings", empty: nothingFound(x.result), rows: p, columns: []column{
		{name: "severity", min: 10, parse: severityValue},
		{name: "rule", min: 30},
		{name: "subject", grow: true, min: 12},
		{name: "effect", right: true, drop: 1},
		{name: "confidence", title: "sure", drop: 2, parse: levelValue},
	}}
	p.listPage = newListPage("Findings", x.look, list, 52, p.detail)
	if len(p.order) == 0 {
		p.detail.Set("what was looked at", x.looked())
	}
	return p
}

// looked tells what was read, where nothing was found in it.
func (x *explorer) looked() []paragraph {
	counts := map[analyze.Kind]int{}
	var kinds []analyze.Kind
	for i := range x.result.Sources {
		kind := x.result.Sources[i].Kind
		if kind == "" {
			kind = "not recognised"
		}
		if counts[kind]++; counts[kind] == 1 {
			kinds = append(kinds, kind)
		}
	}
	var list []paragraph
	for _, kind := range kinds {
		list = append(list, paragraph{label: count(counts[kind]), text: string(kind)})
	}
	for _, e := range x.result.Ledger {
		if e.Severity == source.Warning {
			list = append(list, paragraph{label: "lost", text: clean(x.names[e.Source] + ": " + e.Text), style: &x.look.bad})
		}
	}
	for _, text := range coalesce.Unjudged(x.result.Models.Hosts) {
		list = append(list, paragraph{label: "note", text: clean(text)})
	}
	return list
}

// causesFirst puts the symptoms of each finding under it. All keep their rank otherwise.
func causesFirst(all []finding.Finding) []listed {
	causes := map[string]bool{}
	for i := range all {
		causes[all[i].ID] = all[i].CausedBy == ""
	}
	var list []listed
	for i := range all {
		if causes[all[i].CausedBy] {
			continue // told under its cause
		}
		list = append(list, listed{&all[i], false})
		for j := range all {
			if all[j].CausedBy == all[i].ID && causes[all[i].ID] {
				list = append(list, listed{&all[j], true})
			}
		}
	}
	return list
}

func nothingFound(r *analyze.Result) string {
	if len(r.Sources) == 0 {
		return "nothing was read; the screen 7 Sources tells why"
	}
	return "nothing found. The screen 7 Sources lists what was read, and the command nettrace rules what was looked for."
}

func severityValue(word string) (float64, bool) {
	var s finding.Severity
	for _, name := range []string{"info", "notice", "warning", "critical"} {
		if strings.HasPrefix(name, word) && s.UnmarshalText([]byte(name)) == nil {
			return float64(s), true
		}
	}
	return 0, false
}

func levelValue(word string) (float64, bool) {
	var l finding.Level
	err := l.UnmarshalText([]byte(word))
	return float64(l), err == nil
}

func findingsKeys() []binding {
	return []binding{
		openKey("open the finding"), {"p", "proof", "the first packet that is cited for it"}, plotKey(), filterKey(), sortKey(), tabKey(), copyKey(),
	}
}

// Keys implements page.
func (p *findingsPage) Keys() []binding { return findingsKeys() }

// Len implements rows.
func (p *findingsPage) Len() int { return len(p.order) }

// Cell implements rows.
func (p *findingsPage) Cell(row, column int) cell {
	f := p.order[row]
	switch column {
	case 0:
		return styled(number(severityWord(f.Severity), float64(f.Severity)), &p.look.severity[f.Severity])
	case 1:
		if f.under && p.list.arranged().sorted == 0 {
			return cell{text: p.look.child + clean(f.Rule)}
		}
		return text(f.Rule)
	case 2:
		return text(f.Subject.Name)
	case 3:
		return effectCell(f.Effect)
	default:
		return number(f.Confidence.String(), float64(f.Confidence))
	}
}

// effectCell tells the share, or the time that was lost where no share is known.
func effectCell(e finding.Effect) cell {
	shown := strings.TrimPrefix(finding.Effect{Share: e.Share}.String(), "costs ")
	if shown == "" {
		shown = strings.TrimSuffix(finding.Effect{Lost: e.Lost}.String(), " lost")
	}
	return cell{text: shown, value: e.Share + float64(e.Lost)*1e-21, numeric: true} // by share, then by time
}

// Render shows the selected finding in the second pane.
func (p *findingsPage) Render(width, height int) []string {
	p.detailed(p.detail, func(row int) (string, []paragraph) {
		return heading(p.order[row].Finding), p.explorer.finding(p.order[row].Finding, true)
	})
	return p.listPage.Render(width, height)
}

// Refresh shows the selected finding as it has become.
func (p *findingsPage) Refresh() { p.detail.shown = 0 }

func heading(f *finding.Finding) string { return severityWord(f.Severity) + "  " + clean(f.Rule) }

// Enter implements page.
func (p *findingsPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	return act{push: newFindingPage(p.explorer, p.order[row].Finding)}
}

// Press implements page.
func (p *findingsPage) Press(key string) (act, bool) {
	row, ok := p.list.Selected()
	if !ok {
		return act{}, false
	}
	return p.explorer.shortcut(key, p.order[row].Finding)
}

// Copies implements page.
func (p *findingsPage) Copies() []clip {
	row, ok := p.list.Selected()
	if !ok {
		return nil
	}
	return append(p.explorer.clips(p.order[row].Finding), p.listPage.Copies()...)
}

// clips are what can be copied of a finding.
func (x *explorer) clips(f *finding.Finding) []clip {
	list := []clip{{"the finding as Markdown", x.markdown(f)}, {"its summary", clean(f.Summary)}}
	for _, a := range f.Advice {
		list = append(list, clip{"an advice", clean(a.String())})
	}
	return append(list, clip{"the command that explains its rule", commandLine("explain", f.Rule)})
}

// shortcut takes the keys that lead from a finding to its packets.
func (x *explorer) shortcut(key string, f *finding.Finding) (act, bool) {
	switch key {
	case "p":
		return x.proof(f), true
	case "t":
		return x.plot(f), true
	}
	return act{}, false
}

// plot shows the connection of the first packet that a finding cites over time: the last one of its capture that had begun
// by then and has the finding's key, else any.
func (x *explorer) plot(f *finding.Finding) act {
	for i := range f.Evidence {
		at := f.Evidence[i].Pos
		if at.Record == 0 {
			continue
		}
		if c := x.connection(f, at); c != nil {
			return act{push: newSequencePage(x.look, x.library.capture(at.Source), c.Number, clean(c.Name()), at.Record)}
		}
	}
	return say("no packet of a TCP connection is cited for this finding")
}

func (x *explorer) connection(f *finding.Finding, at source.Pos) (best *tcp.Connection) {
	for _, capture := range x.result.Models.Captures {
		if capture.Source != at.Source {
			continue
		}
		for i := range capture.Connections {
			c := &capture.Connections[i]
			keyed := best != nil && best.Key() == f.Subject.Key
			if c.Record <= at.Record && (!keyed || c.Key() == f.Subject.Key) {
				best = c
			}
		}
	}
	return best
}

// proof opens the first packet that a finding cites.
func (x *explorer) proof(f *finding.Finding) act {
	for i := range f.Evidence {
		if f.Evidence[i].Record > 0 {
			return x.openCited(f, f.Evidence[i].Pos)
		}
	}
	return say("no packet is cited for this finding; enter lists what is")
}

// open shows a place: a packet in its capture, or a line in its text.
func (x *explorer) open(at source.Pos) act {
	if at.Record > 0 {
		return act{push: newPacketsPage(x.look, x.library.capture(at.Source), at.Record)}
	}
	return act{push: newViewerPage(x.look, x.names[at.Source], at)}
}

// openCited shows the place of a finding's evidence. Among packets, those that the finding cites are at hand.
func (x *explorer) openCited(f *finding.Finding, at source.Pos) act {
	a := x.open(at)
	if p, ok := a.push.(*packetsPage); ok {
		p.packets.cited = map[int64]string{}
		for _, e := range f.Evidence {
			if _, known := p.packets.cited[e.Record]; e.Source == at.Source && e.Record > 0 && !known {
				p.packets.cited[e.Record] = f.Rule + ": " + e.Text
			}
		}
	}
	return a
}

// place names where evidence is: "a.pcap #6", "netperf.txt:9".
func (x *explorer) place(at source.Pos) string {
	name := x.names[at.Source]
	switch {
	case at.Record > 0:
		name += fmt.Sprintf(" #%d", at.Record)
	case at.Line > 0:
		name += fmt.Sprintf(":%d", at.Line)
	}
	return clean(name)
}

// finding lays a finding out in the words and the order of the text report.
func (x *explorer) finding(f *finding.Finding, evidence bool) []paragraph {
	var list []paragraph
	add := func(label, text string) { list = append(list, paragraph{label: label, text: clean(text)}) }
	list = append(list, paragraph{label: string(severityWord(f.Severity)[0]), text: clean(f.Summary), style: &x.look.severity[f.Severity]})
	what := f.Rule + " on " + f.Subject.Name + "; confidence " + f.Confidence.String()
	if effect := f.Effect.String(); effect != "" {
		what += "; " + effect
	}
	add("what", what)
	for _, reason := range f.Reasons {
		add("why", reason)
	}
	for _, m := range f.Measures {
		add("num", m.String())
	}
	for i := range f.Evidence {
		if evidence {
			add("see", x.place(f.Evidence[i].Pos)+": "+f.Evidence[i].Text)
		}
	}
	for _, a := range f.Advice {
		reference := ""
		if a.Reference != "" {
			reference = " [" + a.Reference + "]"
		}
		list = append(list, paragraph{label: "try", text: clean(a.String() + reference), style: &x.look.good})
	}
	for _, c := range f.Caveats {
		add("but", c)
	}
	return append(list, x.related(f)...)
}

// related tells what the finding explains, and what explains it.
func (x *explorer) related(f *finding.Finding) []paragraph {
	var list []paragraph
	for i := range x.result.Findings {
		other := &x.result.Findings[i]
		switch {
		case other.CausedBy == f.ID && f.ID != "":
			list = append(list, paragraph{label: "so", text: clean("this explains " + other.Rule + ": " + other.Summary)})
		case f.CausedBy == other.ID && f.CausedBy != "":
			list = append(list, paragraph{label: "from", text: clean("this is explained by " + other.Rule + ": " + other.Summary)})
		}
	}
	return list
}

// markdown is a finding for a mail or an issue.
func (x *explorer) markdown(f *finding.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s: %s\n\n", strings.ToUpper(f.Severity.String()), clean(f.Summary))
	for _, p := range x.finding(f, true)[1:] {
		fmt.Fprintf(&b, "- %s: %s\n", p.label, p.text)
	}
	return b.String()
}

// findingPage is one finding: what is said of it, and the evidence, each piece of which can be opened.
type findingPage struct {
	listPage
	explorer *explorer
	finding  *finding.Finding
	words    *document
}

func newFindingPage(x *explorer, f *finding.Finding) *findingPage {
	p := &findingPage{explorer: x, finding: f}
	list := &table{title: "evidence", empty: "no evidence is cited", rows: p, columns: []column{
		{name: "place", min: 34}, {name: "text", grow: true, min: 16},
	}}
	p.words = &document{look: x.look}
	p.listPage = newListPage(f.Rule, x.look, list, 55)
	p.split = newSplit(x.look, 60, p.words, list)
	p.focus = 1
	p.Refresh()
	return p
}

// Refresh shows the finding as it has become.
func (p *findingPage) Refresh() {
	top := p.words.top
	p.words.Set(heading(p.finding), p.explorer.finding(p.finding, false))
	p.words.top = top
}

func findingKeys() []binding {
	return []binding{openKey("open the evidence"), {"p", "proof", "the first packet that is cited for it"}, plotKey(), tabKey(), filterKey(), copyKey(), upKey()}
}

// Keys implements page.
func (p *findingPage) Keys() []binding { return findingKeys() }

// Len implements rows.
func (p *findingPage) Len() int { return len(p.finding.Evidence) }

// Cell implements rows.
func (p *findingPage) Cell(row, column int) cell {
	e := &p.finding.Evidence[row]
	if column == 0 {
		return cell{text: p.explorer.place(e.Pos)}
	}
	return text(e.Text)
}

// Enter implements page.
func (p *findingPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return say("no evidence is cited")
	}
	return p.explorer.openCited(p.finding, p.finding.Evidence[row].Pos)
}

// Press implements page.
func (p *findingPage) Press(key string) (act, bool) {
	return p.explorer.shortcut(key, p.finding)
}

// Copies implements page.
func (p *findingPage) Copies() []clip {
	clips := p.explorer.clips(p.finding)
	row, ok := p.list.Selected()
	if p.focus == 0 || !ok {
		return clips
	}
	e := &p.finding.Evidence[row]
	return append([]clip{{"the evidence with its place", clean(p.explorer.place(e.Pos) + ": " + e.Text)}}, clips...)
}

// Command implements commanded.
func (p *findingPage) Command() string { return commandLine("explain", p.finding.Rule) }

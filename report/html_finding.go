package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// findingView is a finding as the page shows it.
type findingView struct {
	ID, Rule, Title, Severity, Letter string
	Summary, Subject, Confidence      string
	Source                            string // "" if it rests on several
	Reasons                           []string
	Measures, Evidence, Counters      *table
	Charts                            []plotView
	NoPlot                            string
	Elsewhere                         []*findingView // that show plots of packets which this one cites
	Advice                            []adviceView
	Caveats                           []string
	Cause                             *findingView
	Symptoms                          []*findingView
	Commands                          []string
	Markdown                          string
	Method, FalsePositives            string
	References                        []string
	Open                              bool // not folded at first
}

type adviceView struct {
	Text, Reference, Predicted, NotPredicted string
	Assumptions                              []string
}

// findings makes the views of all findings, in their order.
func (p *pageMaker) findings() []*findingView {
	views := make([]*findingView, len(p.result.Findings))
	byID := map[string]*findingView{}
	for i := range views {
		views[i] = &findingView{}
		byID[p.result.Findings[i].ID] = views[i]
	}
	for i := range views {
		f, v := &p.result.Findings[i], views[i]
		p.describe(f, v)
		drawn, elsewhere := p.gallery.of(i, f)
		v.Counters, v.Charts = charts(f, &p.result.Models)
		v.Charts = append(v.Charts, drawn...)
		for _, k := range elsewhere {
			v.Elsewhere = append(v.Elsewhere, views[k])
		}
		if strings.HasPrefix(f.Rule, "tcp/") && len(drawn)+len(elsewhere) == 0 {
			v.NoPlot = noPlot(f)
		}
		if cause := byID[f.CausedBy]; cause != nil && cause != v {
			v.Cause = cause
			cause.Symptoms = append(cause.Symptoms, v)
		}
	}
	for i := range views { // once it is known which packets the page lists
		views[i].Evidence = p.evidence(&p.result.Findings[i])
	}
	return views
}

func noPlot(f *finding.Finding) string {
	for _, e := range f.Evidence {
		if e.Source == "-" {
			return "No sequence plot: standard input cannot be read a second time for it. nettrace report on a file draws it."
		}
	}
	return "No sequence plot: they are drawn for the connections of the first findings, when the page is made from the captures themselves."
}

func (p *pageMaker) describe(f *finding.Finding, v *findingView) {
	rule := p.rules[f.Rule]
	*v = findingView{
		ID: "f-" + f.ID, Rule: f.Rule, Title: rule.Title, Severity: f.Severity.String(), Letter: strings.ToUpper(f.Severity.String()[:1]),
		Summary: f.Summary, Subject: f.Subject.Name, Source: p.names[f.Source], Confidence: f.Confidence.String() + effect(f.Effect), Reasons: f.Reasons,
		Measures: measures(f), Caveats: f.Caveats, Commands: p.commands(f), Markdown: markdownFinding(f, p.names),
		Method: rule.Method, FalsePositives: rule.FalsePositives, References: rule.References,
		Open: f.Severity >= finding.Notice, Symptoms: v.Symptoms, Cause: v.Cause,
	}
	for _, a := range f.Advice {
		view := adviceView{Text: a.Text, Reference: a.Reference, NotPredicted: a.NotPredicted}
		if x := a.Predicted; x != nil {
			view.Predicted = fmt.Sprintf("%s (%s to %s)", unit.Format(x.Value, x.Unit), unit.Number(x.Low), unit.Number(x.High))
			view.Assumptions = x.Assumptions
		}
		v.Advice = append(v.Advice, view)
	}
}

func measures(f *finding.Finding) *table {
	if len(f.Measures) == 0 {
		return nil
	}
	t := &table{Caption: "Measures", Head: []column{{"measure", false}, {"observed", true}, {"expected", true}, {"threshold", true}}}
	for _, m := range f.Measures {
		value := func(v *float64) cell {
			if v == nil {
				return text("")
			}
			return number(*v, quantity(*v, m.Unit))
		}
		t.Rows = append(t.Rows, row{Cells: []cell{{Text: m.Name, Code: true}, value(&m.Value), value(m.Expected), value(m.Threshold)}})
	}
	return t.withoutEmpty()
}

// quantity prints a measure. Small sizes are exact, since a byte may be what a finding is about.
func quantity(v float64, of string) string {
	if (of == "B" || of == "bytes") && v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return unit.Count(int64(v)) + " B"
	}
	return unit.Format(v, of)
}

func (p *pageMaker) evidence(f *finding.Finding) *table {
	if len(f.Evidence) == 0 {
		return nil
	}
	t := &table{Caption: "Evidence", Head: []column{{"source", false}, {"place", true}, {"time", true}, {"what is there", false}}}
	for _, e := range f.Evidence {
		place, when := placeCell(e.Pos), text("")
		if packet, s := p.gallery.at(e.Source, e.Record); s != nil {
			when = number(float64(packet.Time), fmt.Sprintf("%.6f s", packet.Time.Seconds()))
		}
		if p.gallery.drawn[packetKey(e.Source, e.Record)] {
			place.Link = packetID(e.Source, e.Record)
		}
		from := cell{Text: p.names[e.Source]}
		if p.sources[e.Source] {
			from.Link = sourceID(e.Source)
		}
		next := row{ID: anchor("evidence", f.ID, e.Source, place.Text, e.Text), Cells: []cell{from, place, when, text(e.Text)}}
		if !slices.ContainsFunc(t.Rows, func(r row) bool { return r.ID == next.ID }) {
			t.Rows = append(t.Rows, next)
		}
	}
	return t.withoutEmpty()
}

func placeCell(at source.Pos) cell {
	switch {
	case at.Record > 0:
		return number(float64(at.Record), fmt.Sprintf("#%d", at.Record))
	case at.Line > 0:
		return number(float64(at.Line), fmt.Sprintf("line %d", at.Line))
	default:
		return number(float64(at.Offset), "byte "+unit.Count(at.Offset))
	}
}

// maxCommands bounds the commands that show what a finding rests on.
const maxCommands = 4

// commands returns command lines that show again what a finding rests on.
func (p *pageMaker) commands(f *finding.Finding) []string {
	var list []string
	add := func(command string) {
		if len(list) < maxCommands && !slices.Contains(list, command) {
			list = append(list, command)
		}
	}
	for _, e := range f.Evidence {
		if e.Source != "-" {
			add(p.command(&e))
		}
	}
	return append(list, "nettrace explain "+quoted(f.Rule))
}

func (p *pageMaker) command(e *finding.Evidence) string {
	path := quoted(e.Source)
	switch p.kinds[e.Source] {
	case analyze.Capture:
		if _, s := p.gallery.at(e.Source, e.Record); s != nil {
			at := strings.LastIndexByte(s.Client, ':')
			return fmt.Sprintf("nettrace packets %s 'tcp and host %s and port %s'", path, strings.Trim(s.Client[:max(at, 0)], "[]"), s.Client[at+1:])
		}
		return "nettrace packets " + path
	case analyze.Stacks:
		return "nettrace flame " + path + " --top 10"
	default:
		return "nettrace records " + path
	}
}

// quoted writes a path for a shell.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("./_-+,:@%=", r))
	}
	if path != "" && !strings.HasPrefix(path, "-") && !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

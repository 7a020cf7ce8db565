package report

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/diagnose"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/source"
	"nettrace/unit"
)

// pageView is what the template shows.
type pageView struct {
	Head        template.HTML
	Style       template.CSS
	Script      template.JS
	Result      template.JS
	Incident    string
	Facts       []fact
	Losses      []string
	First       []*findingView // whose advice to follow first
	Counts      []severityCount
	Findings    []*findingView
	Top, Infos  []*findingView // those that no other one explains
	Nothing     string
	Lanes       []plotView
	Connections *table
	Profiles    []profileView
	Sources     *table
	Ledger      *table
}

type fact struct{ Name, Value string }

type severityCount struct {
	Severity, Letter string
	Count            int
}

// pageMaker makes the view of a result whose texts are clean.
type pageMaker struct {
	result  *analyze.Result
	names   map[string]string       // of sources, short
	kinds   map[string]analyze.Kind // of sources; that of the last output where a source holds several
	sources map[string]bool         // those that have a row
	rules   map[string]finding.Rule
	gallery *gallery
	layouts []*flame.Layout // that were drawn
}

func newPageMaker(r *analyze.Result) *pageMaker {
	p := &pageMaker{result: r, names: r.ShortNames(), kinds: map[string]analyze.Kind{}, sources: map[string]bool{}, rules: map[string]finding.Rule{}, gallery: newGallery(r)}
	for i, s := range r.Sources {
		p.kinds[s.Path] = s.Kind
		p.sources[s.Path] = p.sources[s.Path] || i < maxSourceRows
	}
	for _, rule := range append(analyze.Rules(), diagnose.Rules()...) {
		p.rules[rule.Name] = rule
	}
	return p
}

func (p *pageMaker) page() (*pageView, error) {
	r := p.result
	view := &pageView{Incident: r.Incident(), Facts: p.facts(), Findings: p.findings(), Connections: p.connections(), Sources: p.sourceTable(), Ledger: p.ledger()}
	for _, f := range view.Findings {
		switch {
		case f.Cause != nil:
		case f.Severity == finding.Info.String():
			view.Infos = append(view.Infos, f)
		default:
			view.Top = append(view.Top, f)
		}
		if f.Cause == nil && f.Severity != finding.Info.String() && len(f.Advice) > 0 && len(view.First) < maxFirst {
			view.First = append(view.First, f)
		}
	}
	for s := finding.Critical; ; s-- {
		n := 0
		for i := range r.Findings {
			if r.Findings[i].Severity == s {
				n++
			}
		}
		view.Counts = append(view.Counts, severityCount{s.String(), strings.ToUpper(s.String()[:1]), n})
		if s == finding.Info {
			break
		}
	}
	if len(r.Findings) == 0 {
		view.Nothing = nothing(r)
	}
	view.Losses = p.losses()
	view.Lanes = p.lanes()
	profiles, err := p.profiles()
	view.Profiles = profiles
	return view, err
}

// How many findings "what to do first" names, and how many losses the head of the page.
const (
	maxFirst  = 3
	maxLosses = 5
)

func (p *pageMaker) losses() []string {
	var list []string
	more := 0
	for _, e := range p.result.Ledger {
		switch {
		case e.Severity != source.Warning:
		case len(list) == maxLosses:
			more++
		default:
			list = append(list, place(p.names[e.Source], e.First)+": "+e.Text)
		}
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more, see the ledger", more))
	}
	return list
}

// facts are the first things to know: what was read, how long it is, what was lost.
func (p *pageMaker) facts() []fact {
	r := p.result
	read := strings.Join(Inventory(r), ", ")
	if read == "" {
		read = "nothing that is read"
	}
	size := int64(0)
	for _, s := range r.Sources {
		size += s.Bytes
	}
	facts := []fact{{"read", fmt.Sprintf("%s (%s)", read, unit.Bytes(size))}}
	if spans := p.spans(); len(spans) > 0 {
		facts = append(facts, fact{"recorded", strings.Join(spans, "; ")})
	}
	lost := "nothing"
	if n := count(r.Ledger, source.Warning); n > 0 {
		lost = plural(n, "kind of loss", "kinds of losses") + ", listed below"
	}
	facts = append(facts, fact{"lost", lost})
	if texts := coalesce.Unjudged(r.Models.Hosts); len(texts) > 0 {
		facts = append(facts, fact{"not judged", strings.Join(texts, "; ")})
	}
	if r.Anonymized {
		facts = append([]fact{{"anonymized", "addresses, names of hosts and folders are not the recorded ones, and no payload is held; addresses of one network share their first bits as they did"}}, facts...)
	}
	if r.Partial {
		facts = append(facts, fact{"incomplete", "the analysis was interrupted; this is what was learnt until then"})
	}
	return facts
}

// spans says how long was recorded, and when where the recordings tell.
func (p *pageMaker) spans() []string {
	m := &p.result.Models
	var list []string
	longest := unit.Nanos(0)
	var begin int64
	for _, c := range m.Captures {
		if d := c.End - c.Start; d > longest {
			longest, begin = d, c.EpochSeconds
		}
	}
	if longest > 0 {
		text := "packets over " + longest.String()
		if begin > 0 {
			text += " from " + time.Unix(begin, 0).UTC().Format("2006-01-02 15:04:05Z")
		}
		list = append(list, text)
	}
	longest = 0
	for _, h := range m.Hosts {
		for _, i := range h.Interfaces {
			for _, s := range i.Counters {
				longest = max(longest, s.Span())
			}
		}
		for _, t := range h.Tables {
			longest = max(longest, t.Span())
		}
	}
	if longest > 0 {
		list = append(list, "counters "+longest.String()+" apart")
	}
	longest = 0
	for _, x := range m.Profiles {
		longest = max(longest, x.End-x.Start)
	}
	if longest > 0 {
		list = append(list, "stack samples over "+longest.String())
	}
	seconds := 0.0
	for i := range m.Runs {
		seconds += m.Runs[i].Seconds
	}
	if len(m.Runs) > 0 && seconds > 0 {
		list = append(list, plural(len(m.Runs), "benchmark run", "benchmark runs")+" of together "+unit.FromSeconds(seconds).String())
	}
	return list
}

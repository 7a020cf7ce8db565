package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// Text prints a result to be read in ten seconds: what was read, lost and not judged, then the findings that cost something with why,
// where to see it and what to try, then a line for what is merely worth knowing. style.Verbose prints everything.
func Text(w io.Writer, r *analyze.Result, style Style) error {
	p := &page{w: w, style: style}
	names := r.ShortNames()
	for _, line := range p.wrap(Clean(title(r)), 0) {
		p.print(p.paint(bold, line) + "\n")
	}
	p.losses(r, names)
	for _, text := range coalesce.Unjudged(r.Models.Hosts) {
		p.labelled(2, "note", "", 6, text)
	}
	shown, rest := split(r.Findings, style.Verbose)
	for i := range shown {
		p.print("\n")
		p.finding(&shown[i], names)
		p.labelledUnlessEmpty("so", symptoms(&shown[i], r.Findings))
	}
	p.rest(rest, len(shown))
	if len(r.Findings) == 0 {
		p.print("\n" + nothing(r) + "\n")
	}
	return p.err
}

// title says what was read: "rr-4345: 5 captures, 2 netperf logs; nothing lost".
func title(r *analyze.Result) string {
	names := Inventory(r)
	s := r.Incident() + ": " + strings.Join(names, ", ")
	if len(names) == 0 {
		s = r.Incident() + ": nothing that is read"
	}
	if r.Anonymized {
		s += "; anonymized: addresses and names of hosts are not the recorded ones"
	}
	if r.Partial {
		s += "; interrupted, this is what was learnt until then"
	}
	if n := count(r.Ledger, source.Warning); n > 0 {
		return s + "; " + plural(n, "loss", "losses") + " (below)"
	}
	return s + "; nothing lost"
}

// Inventory counts the outputs by format: "5 captures", "2 ethtool -c".
func Inventory(r *analyze.Result) []string {
	var list []string
	for _, f := range analyze.Formats() {
		n := 0
		for _, s := range r.Sources {
			if s.Format == f.Name {
				n++
			}
		}
		if n > 0 {
			list = append(list, strconv.Itoa(n)+" "+f.Name)
		}
	}
	if n := unrecognised(r); n > 0 {
		list = append(list, fmt.Sprintf("%d not recognised", n))
	}
	return list
}

func unrecognised(r *analyze.Result) (n int) {
	for _, s := range r.Sources {
		if s.Format == "" {
			n++
		}
	}
	return n
}

func count(ledger []source.Entry, severity source.Loss) (n int) {
	for _, e := range ledger {
		if e.Severity == severity {
			n++
		}
	}
	return n
}

// losses prints the ledger: warnings always, notes on demand.
func (p *page) losses(r *analyze.Result, names map[string]string) {
	for _, e := range r.Ledger {
		if e.Severity != source.Warning && !p.style.Verbose {
			continue
		}
		text := place(names[e.Source], e.First) + ": " + e.Text
		if e.Count > 1 {
			text += fmt.Sprintf(" (%s times)", unit.Count(e.Count))
		}
		color := ""
		if e.Severity == source.Warning {
			color = yellow
		}
		p.labelled(2, "lost", color, 6, text)
	}
	for _, s := range r.Sources {
		if s.Format == "" && (p.style.Verbose || len(r.Sources) == unrecognised(r)) {
			p.labelled(2, "skip", "", 6, names[s.Path]+": "+s.Note+"; tried "+strings.Join(s.Tried, ", "))
		}
	}
}

func place(name string, pos source.Pos) string {
	pos.Source = name
	return pos.String()
}

// split parts the findings that are printed whole from those that get a line. What another finding explains is told
// there, unless everything is asked for.
func split(all []finding.Finding, verbose bool) (shown, rest []finding.Finding) {
	if verbose {
		return all, nil
	}
	for _, f := range all {
		switch {
		case f.CausedBy != "":
		case f.Severity >= finding.Warning:
			shown = append(shown, f)
		default:
			rest = append(rest, f)
		}
	}
	return shown, rest
}

// symptoms lists what a cause explains: "bench/cliff (2), nic/adaptive-unbalanced".
func symptoms(cause *finding.Finding, all []finding.Finding) string {
	counts := map[string]int{}
	var order []string
	for _, f := range all {
		if f.CausedBy == cause.ID {
			if counts[f.Rule] == 0 {
				order = append(order, f.Rule)
			}
			counts[f.Rule]++
		}
	}
	for i, rule := range order {
		if counts[rule] > 1 {
			order[i] = fmt.Sprintf("%s (%d)", rule, counts[rule])
		}
	}
	if len(order) == 0 {
		return ""
	}
	return "this explains " + strings.Join(order, ", ")
}

const labelColumn = 6

func (p *page) labelledUnlessEmpty(label, text string) {
	if text != "" {
		p.labelled(4, label, faint, labelColumn, text)
	}
}

func (p *page) finding(f *finding.Finding, names map[string]string) {
	name := strings.ToUpper(f.Severity.String())
	p.labelled(0, name, severityColor(f.Severity), 10, f.Summary)
	p.labelled(4, "what", faint, labelColumn, f.Rule+" on "+f.Subject.Name+"; confidence "+f.Confidence.String()+effect(f.Effect))
	for _, reason := range f.Reasons {
		p.labelled(4, "why", faint, labelColumn, reason)
	}
	if p.style.Verbose {
		for _, m := range f.Measures {
			p.labelled(4, "num", faint, labelColumn, m.String())
		}
		for _, e := range f.Evidence {
			p.labelled(4, "see", faint, labelColumn, place(names[e.Source], e.Pos)+": "+e.Text)
		}
	} else if len(f.Evidence) > 0 {
		p.labelled(4, "see", faint, labelColumn, citations(f.Evidence, names))
	}
	for _, a := range f.Advice {
		p.labelled(4, "try", bold, labelColumn, advice(a, p.style.Verbose))
		if a.Predicted != nil && p.style.Verbose {
			for _, assumption := range a.Predicted.Assumptions {
				p.labelled(4, "if", faint, labelColumn, assumption)
			}
		}
	}
	for i, c := range f.Caveats {
		if i == 0 || p.style.Verbose {
			p.labelled(4, "but", faint, labelColumn, c)
		}
	}
}

// effect is what a finding costs, as it goes on behind its confidence.
func effect(e finding.Effect) string {
	if text := e.String(); text != "" {
		return "; " + text
	}
	return ""
}

func advice(a finding.Advice, verbose bool) string {
	if verbose && a.Reference != "" {
		return a.String() + " [" + a.Reference + "]"
	}
	return a.String()
}

// citations lists places by source, each once: "a.pcap #6 #7; netperf.txt:9,12".
func citations(evidence []finding.Evidence, names map[string]string) string {
	var order []string
	places := map[string][]string{}
	for _, e := range evidence {
		at := ""
		switch {
		case e.Record > 0:
			at = fmt.Sprintf("#%d", e.Record)
		case e.Line > 0:
			at = strconv.Itoa(e.Line)
		}
		if _, known := places[e.Source]; !known {
			order = append(order, e.Source)
			places[e.Source] = nil
		}
		if at != "" && !slices.Contains(places[e.Source], at) {
			places[e.Source] = append(places[e.Source], at)
		}
	}
	for i, s := range order {
		switch at := places[s]; {
		case len(at) == 0:
			order[i] = names[s]
		case at[0][0] == '#':
			order[i] = names[s] + " " + strings.Join(at, " ")
		default:
			order[i] = names[s] + ":" + strings.Join(at, ",")
		}
	}
	return strings.Join(order, "; ")
}

// rest tells of the findings that cost little: how many there are, or, where nothing costs more, a line for each.
func (p *page) rest(rest []finding.Finding, shown int) {
	const lines = 6
	switch {
	case shown > 0 && p.style.Verbose:
	case shown > 0:
		more := "all numbers and places"
		if len(rest) > 0 {
			more = plural(len(rest), "more notice or info", "more notices and infos")
		}
		p.print("\n" + p.paint(faint, more+": -v; nettrace explain RULE; nettrace explore or report for the rest") + "\n")
	case len(rest) > 0:
		p.print("\n")
		for _, f := range rest[:min(len(rest), lines)] {
			p.labelled(0, f.Severity.String(), severityColor(f.Severity), 10, f.Summary+" ("+f.Rule+")")
		}
		more := "details"
		if len(rest) > lines {
			more = unit.Count(int64(len(rest)-lines)) + " more, and details"
		}
		p.print(p.paint(faint, more+": -v; nettrace explain RULE") + "\n")
	}
}

// nothing says that nothing was found, and by whom it was looked for.
func nothing(r *analyze.Result) string {
	if len(r.Sources) == unrecognised(r) {
		return "Nothing was analysed. nettrace formats lists what is read and how to record it."
	}
	kinds := map[analyze.Kind]bool{}
	for _, s := range r.Sources {
		if s.Format != "" {
			kinds[s.Kind] = true
		}
	}
	var looked []string
	for kind := range kinds {
		looked = append(looked, string(kind))
	}
	slices.Sort(looked)
	return "Nothing found in " + strings.Join(looked, ", ") + ". nettrace rules lists what was looked for."
}

// Package diagnose ties the findings and models of a result together: it finds causes that no single source shows, and
// says which findings are their symptoms.
package diagnose

import (
	"fmt"
	"slices"

	"nettrace/analyze"
	"nettrace/finding"
)

// diagnosis is a cause, with the findings that it explains.
type diagnosis struct {
	rule     string
	cause    finding.Finding
	symptoms []string // their identifiers
	told     *told    // its parts, nil where it is no story of parts
}

// rule finds causes in a result that was judged already.
type rule struct {
	finding.Rule
	diagnose func(*analyze.Result, finding.Params) []diagnosis
}

// rules is the table of what is diagnosed.
func rules() []rule {
	list := []rule{adaptiveRX(), zeroCopyThreshold(), noEffect()}
	for _, s := range stories() {
		list = append(list, storyRule(s))
	}
	return list
}

// stories is the table of the causes that findings tell together.
func stories() []story {
	return []story{mapLock(), txRing(), tagRace(), ringOverrun(), softnetDrop(), oneCPU(), stretchACK(), lroForwarding(), reorderedSteering(), nagleDelayedACK(), offloadOff(), socketBuffer(), cState()}
}

// Rules returns the descriptions of the rules over several sources.
func Rules() []finding.Rule {
	var list []finding.Rule
	for _, r := range rules() {
		list = append(list, r.Rule)
	}
	return list
}

// Apply adds the causes that the result shows to its findings and ranks them anew. A result that was written by an
// earlier run has its causes already.
func Apply(r *analyze.Result, set map[string]float64) {
	if r.Reloaded {
		return
	}
	r.Findings = slices.DeleteFunc(r.Findings, ours)
	for i := range r.Findings {
		r.Findings[i].CausedBy = ""
	}
	var found []diagnosis
	for _, rule := range rules() {
		for _, d := range rule.diagnose(r, rule.Resolve(set)) {
			d.rule, d.cause.Rule = rule.Name, rule.Name
			d.cause.ID = fmt.Sprintf("%s %d", rule.Name, len(found)) // until they are ranked
			found = append(found, d)
		}
	}
	found = arrange(found)
	for i := range found {
		r.Findings = append(r.Findings, found[i].cause)
	}
	for i := range found {
		found[i].explain(r.Findings)
	}
	for range found { // of causes that explain causes the first bears all
		for i := range found {
			found[i].bear(r.Findings)
		}
	}
	r.Findings = finding.Rename(r.Findings, func(*finding.Finding) {})
}

func ours(f finding.Finding) bool {
	return slices.ContainsFunc(rules(), func(r rule) bool { return r.Name == f.Rule })
}

// bear gives a cause at least the severity and the cost of what it explains, so that no symptom is shown above it.
func (d *diagnosis) bear(findings []finding.Finding) {
	cause := &findings[slices.IndexFunc(findings, func(f finding.Finding) bool { return f.ID == d.cause.ID })]
	for i := range findings {
		if x := &findings[i]; slices.Contains(d.symptoms, x.ID) {
			cause.Severity = max(cause.Severity, x.Severity)
			cause.Effect = finding.Effect{Share: max(cause.Effect.Share, x.Effect.Share), Lost: max(cause.Effect.Lost, x.Effect.Lost)}
		}
	}
}

// explain marks the symptoms of a cause, unless another cause has explained them before.
func (d *diagnosis) explain(findings []finding.Finding) {
	for i := range findings {
		if findings[i].CausedBy == "" && slices.Contains(d.symptoms, findings[i].ID) {
			findings[i].CausedBy = d.cause.ID
		}
	}
}

// Package diagnose ties the findings and models of a result together: it finds causes that no single source shows, and
// says which findings are their symptoms.
package diagnose

import (
	"slices"

	"nettrace/analyze"
	"nettrace/finding"
)

// diagnosis is a cause, with the findings that it explains.
type diagnosis struct {
	cause    finding.Finding
	symptoms []string // their identifiers
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
			d.cause.Rule = rule.Name
			found = append(found, d)
		}
	}
	for i := range found {
		found[i].bear(r.Findings)
		cause := finding.Rank([]finding.Finding{found[i].cause})
		explain(r.Findings, found[i].symptoms, cause[0].ID)
		r.Findings = append(r.Findings, cause...)
	}
	r.Findings = finding.Rank(r.Findings)
}

func ours(f finding.Finding) bool {
	return slices.ContainsFunc(rules(), func(r rule) bool { return r.Name == f.Rule })
}

// bear gives a cause at least the severity and the cost of what it explains, so that no symptom is shown above it.
func (d *diagnosis) bear(findings []finding.Finding) {
	for i := range findings {
		if x := &findings[i]; slices.Contains(d.symptoms, x.ID) {
			d.cause.Severity = max(d.cause.Severity, x.Severity)
			d.cause.Effect = finding.Effect{Share: max(d.cause.Effect.Share, x.Effect.Share), Lost: max(d.cause.Effect.Lost, x.Effect.Lost)}
		}
	}
}

// explain marks the symptoms of a cause, unless another cause has explained them before.
func explain(findings []finding.Finding, symptoms []string, cause string) {
	for i := range findings {
		if findings[i].CausedBy == "" && slices.Contains(symptoms, findings[i].ID) {
			findings[i].CausedBy = cause
		}
	}
}

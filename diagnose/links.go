package diagnose

import (
	"nettrace/finding"
	"nettrace/unit"
)

// links are the ties of findings and facts to one fact that a cause is about.
type links struct {
	*told
	to clue
	at *place
}

func (t *told) linksTo(to clue) *links { return &links{t, to, t.places.of(&to)} }

// tie reports whether nothing that is known speaks against a finding being of the same host, interface and time.
func (l *links) tie(f *finding.Finding) bool { return l.together(l.at, l.places.of(f)) }

// apart is the longest time between recordings of the fact and of the evidence.
func (l *links) apart(evidence []finding.Evidence) (gap unit.Nanos) {
	for _, e := range evidence {
		gap = max(gap, l.at.gap(l.places.of(&finding.Finding{Evidence: []finding.Evidence{e}})))
	}
	return gap
}

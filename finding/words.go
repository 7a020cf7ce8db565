package finding

import (
	"fmt"
	"strings"

	"nettrace/unit"
)

// The methods below say parts of a finding in the words that all views share.

// String says what the subject costs: "costs 66 %; 6.60 s lost", and nothing if it costs nothing.
func (e Effect) String() string {
	var parts []string
	if e.Share > 0 {
		parts = append(parts, "costs "+unit.Percent(e.Share))
	}
	if e.Lost > 0 {
		parts = append(parts, e.Lost.String()+" lost")
	}
	return strings.Join(parts, "; ")
}

// String gives the number with its unit, and what it is judged against: "loss 66 %, threshold 20 %".
func (m Measure) String() string {
	s := m.Name + " " + unit.Format(m.Value, m.Unit)
	if m.Expected != nil {
		s += ", expected " + unit.Format(*m.Expected, m.Unit)
	}
	if m.Threshold != nil {
		s += ", threshold " + unit.Format(*m.Threshold, m.Unit)
	}
	return s
}

// String says what to do and what it is expected to bring, or why that is not known.
func (a Advice) String() string {
	s := a.Text
	if p := a.Predicted; p != nil {
		s += fmt.Sprintf("; predicted %s (%s to %s)", unit.Format(p.Value, p.Unit), unit.Number(p.Low), unit.Number(p.High))
	}
	if a.NotPredicted != "" {
		s += "; not predicted: " + a.NotPredicted
	}
	return s
}

package report

import (
	"strings"

	"nettrace/coalesce"
)

// mostBars is how many bars a course has; longer series are drawn with the sums of several steps.
const mostBars = 40

// joined sums steps so that no more than mostBars remain; what is known of a group counts.
func joined(steps []coalesce.Value) []coalesce.Value {
	if len(steps) <= mostBars {
		return steps
	}
	groups := make([]coalesce.Value, mostBars)
	for k := range groups {
		group := steps[k*len(steps)/mostBars : (k+1)*len(steps)/mostBars]
		groups[k] = coalesce.Value{State: coalesce.NotAvailable}
		for _, s := range group {
			if n, known := s.Number(); known {
				groups[k] = coalesce.Num(groups[k].N + n)
			}
		}
	}
	return groups
}

// bars draws the steps of a series, the highest as a full bar, none as a dot; "?" is a step that is not known.
func bars(steps []coalesce.Value) string {
	const levels = "▁▂▃▄▅▆▇█"
	steps = joined(steps)
	most := uint64(0)
	for _, s := range steps {
		n, _ := s.Number()
		most = max(most, n)
	}
	var b strings.Builder
	for _, s := range steps {
		n, known := s.Number()
		switch {
		case !known:
			b.WriteByte('?')
		case n == 0:
			b.WriteRune('·')
		default:
			b.WriteRune([]rune(levels)[int(float64(n)/float64(most)*7)])
		}
	}
	return b.String()
}

// reportedBars draws a course of figures, as bars does.
func reportedBars(course []float64) string {
	least, most := 0.0, 0.0
	for _, v := range course {
		least, most = min(least, v), max(most, v)
	}
	if len(course) < 2 || most <= least {
		return ""
	}
	steps := make([]coalesce.Value, len(course))
	for k, v := range course {
		steps[k] = coalesce.Num(uint64((v - least) / (most - least) * 1e6))
	}
	return bars(steps)
}

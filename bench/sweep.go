package bench

import (
	"fmt"
	"slices"
	"strings"

	"nettrace/unit"
)

// axis is the size that a sweep varies.
type axis uint8

const (
	noAxis axis = iota
	requestAxis
	responseAxis
	messageAxis
)

func (a axis) String() string { return [...]string{"", "request", "response", "message"}[a] }

// in returns the size of this axis.
func (a axis) in(s *Sizes) *int64 {
	switch a {
	case requestAxis:
		return &s.Request
	case responseAxis:
		return &s.Response
	default:
		return &s.Message
	}
}

func (a axis) of(s Sizes) int64 { return *a.in(&s) }

// sweep is a stretch of comparable runs that follow each other in one output, with one size going one way. Each step has
// the runs of one size; the steps ascend.
type sweep struct {
	axis  axis
	steps [][]*Run
}

// sweeps finds the sweeps in runs. One ends where the size turns back: the same sizes again, as they come with other
// settings, are a sweep of their own.
func sweeps(runs []Run) []sweep {
	var found []sweep
	for i := 0; i < len(runs); {
		s, n := sweepAt(runs[i:])
		if len(s.steps) > 1 {
			found = append(found, s)
		}
		i += n
	}
	return found
}

// sweepAt returns the sweep at the beginning of runs and the number of its runs, at least one.
func sweepAt(runs []Run) (sweep, int) {
	s := sweep{steps: [][]*Run{{&runs[0]}}}
	descending := false
	n := 1
	for ; n < len(runs); n++ {
		last, next := &runs[n-1], &runs[n]
		if next.Partial || last.Partial || !alike(last, next) {
			break
		}
		if last.Sizes == next.Sizes {
			if last.Group != next.Group {
				break
			}
			s.steps[len(s.steps)-1] = append(s.steps[len(s.steps)-1], next)
			continue
		}
		along := variedAxis(last.Sizes, next.Sizes)
		down := along.of(next.Sizes) < along.of(last.Sizes)
		if along == noAxis || s.axis != noAxis && (along != s.axis || down != descending) {
			break
		}
		s.axis, descending = along, down
		s.steps = append(s.steps, []*Run{next})
	}
	if descending {
		slices.Reverse(s.steps)
	}
	return s, n
}

// variedAxis returns the one size in which a and b differ.
func variedAxis(a, b Sizes) axis {
	switch b {
	case Sizes{Request: b.Request, Response: a.Response, Message: a.Message}:
		return requestAxis
	case Sizes{Request: a.Request, Response: b.Response, Message: a.Message}:
		return responseAxis
	case Sizes{Request: a.Request, Response: a.Response, Message: b.Message}:
		return messageAxis
	}
	return noAxis
}

// alike reports whether two runs were made alike but for their sizes.
func alike(a, b *Run) bool {
	return a.Pos.Source == b.Pos.Source && a.Tool == b.Tool && a.Test == b.Test && a.Host == b.Host && a.Unit == b.Unit &&
		a.Direction == b.Direction && a.Streams == b.Streams &&
		slices.Equal(conditions(a.Settings), conditions(b.Settings))
}

// conditions are the settings without those that set sizes or the form of the output.
func conditions(settings []Setting) []Setting {
	var kept []Setting
	for _, s := range settings {
		switch s.Name {
		case "-- -r", "-- -m", "-- -M", "-P", "-H", "-t":
		default:
			kept = append(kept, s)
		}
	}
	return kept
}

// repeated returns the groups of two and more runs of one output that are alike also in their sizes.
func repeated(runs []Run) [][]*Run {
	var groups [][]*Run
	for i := 0; i < len(runs); {
		group := []*Run{&runs[i]}
		for i++; i < len(runs); i++ {
			last, next := group[len(group)-1], &runs[i]
			if next.Partial || next.Summary != nil || last.Sizes != next.Sizes || last.Group != next.Group || !alike(last, next) {
				break
			}
			group = append(group, next)
		}
		if len(group) > 1 {
			groups = append(groups, group)
		}
	}
	return groups
}

// key names the test stably across runs of the same set-up.
func (r *Run) key() string {
	return strings.TrimSpace(strings.Join([]string{r.Tool, r.Test, r.Host, r.rowLabel()}, " "))
}

// rowLabel tells rows of a table apart: what their columns say beside figures and sizes.
func (r *Run) rowLabel() string {
	if r.Tool != "csv" {
		return ""
	}
	return r.options()
}

func sizesKey(s Sizes) string { return fmt.Sprintf("%d,%d,%d", s.Request, s.Response, s.Message) }

// name is the run for people: "TCP_RR of 4,344-byte requests to hostb".
func (r *Run) name() string {
	name := r.Test
	if name == "" {
		name = r.Tool
	}
	switch {
	case r.Sizes.Message > 0:
		name += " of " + unit.Count(r.Sizes.Message) + "-byte messages"
	case r.Sizes.Request > 0:
		name += " of " + unit.Count(r.Sizes.Request) + "-byte requests"
	}
	if r.Host != "" {
		name += " to " + r.Host
	}
	if r.Direction != "" {
		name += ", " + r.Direction
	}
	if label := r.rowLabel(); label != "" {
		name += " (" + label + ")"
	}
	return name
}

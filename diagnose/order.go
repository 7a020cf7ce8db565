package diagnose

import (
	"slices"

	"nettrace/finding"
	"nettrace/unit"
)

// precedence says that one cause brings about another: where both are found of one host, interface and time, the second is
// shown as a symptom of the first.
type precedence struct {
	cause, symptom string
	when           func(cause *told) bool // what the first has to show for it; nil for always
	why            string                 // for the reasons of the first
}

// precedences is the table of causes that bring about others. Pairs of stories that are not in it are about unlike things, or
// nothing that is recorded tells which of them comes first; of two lines about one pair the first that holds counts.
func precedences() (list []precedence) {
	const emptied = "packets are lost because a CPU without time empties the queue too late"
	for _, lost := range []string{"cross/rx-ring-overrun", "cross/softnet-drop"} {
		list = append(list,
			precedence{"cross/map-lock", lost, has("map"), "packets are lost because the CPUs spend their time on mapping"},
			precedence{"cross/tag-race", lost, nil, "packets are lost because interrupts that find no work take the CPU's time"},
			precedence{"cross/offload-off", lost, receives, "packets are lost because the CPU takes each of them alone"},
			precedence{"cross/one-cpu", lost, seenFull, emptied},
			precedence{lost, "cross/one-cpu", nil, "that its CPU is full is seen by these losses alone"},
		)
	}
	return append(list, precedence{"cross/tag-race", "cross/one-cpu", nil, "the CPU is full of interrupts that find no work"})
}

// has requires findings of a part.
func has(part string) func(*told) bool {
	return func(t *told) bool { return len(t.found[part]) > 0 }
}

// receives requires that the offload that is off is one of receiving.
func receives(t *told) bool {
	return slices.ContainsFunc(t.found["off"], func(f *finding.Finding) bool { return says(" receives ")(f) })
}

// seenFull requires that the CPU is seen to have no time by something else than what it lost: its softirq time, samples, or
// polls that end with work left over.
func seenFull(t *told) bool {
	const full = 0.8 // of its time in softirqs, from which on softnet/one-cpu is a warning
	return slices.ContainsFunc(t.found["full"], showsTime) ||
		slices.ContainsFunc(t.found["where"], func(f *finding.Finding) bool {
			busy, _ := f.Measure("softirq_share")
			return busy >= full
		})
}

// showsTime reports whether a finding tells of a CPU's time, and not of what it lost.
func showsTime(f *finding.Finding) bool {
	return f.Rule == "stack/softirq-share" || f.Rule == "softnet/squeeze"
}

// arrange puts causes that others bring about among their symptoms, and behind those that none brings about, which have the
// first word on what several explain. Those that are explained already stay where they are, so that there are no rings.
func arrange(found []diagnosis) []diagnosis {
	explained := map[string]bool{}
	brings := map[[2]string]bool{} // pairs that are settled
	for _, p := range precedences() {
		for i := range found {
			for k := range found {
				a, b := &found[i], &found[k]
				pair := [2]string{a.cause.ID, b.cause.ID}
				if a.rule != p.cause || b.rule != p.symptom || explained[pair[1]] || brings[[2]string{pair[1], pair[0]}] || !a.related(b) || p.when != nil && !p.when(a.told) {
					continue
				}
				explained[pair[1]], brings[pair] = true, true
				a.symptoms = append(a.symptoms, b.cause.ID)
				a.cause.Reasons = append(a.cause.Reasons, p.why+" ("+p.symptom+")")
			}
		}
	}
	slices.SortStableFunc(found, func(a, b diagnosis) int {
		return falseFirst(explained[a.cause.ID], explained[b.cause.ID])
	})
	return found
}

// falseFirst compares for sorting.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// related reports whether two stories can be of the same host, interface, CPU and time.
func (d *diagnosis) related(other *diagnosis) bool {
	if d.told == nil || other.told == nil {
		return false
	}
	mine, others := d.told.all(), other.told.all()
	for _, x := range mine {
		for _, y := range others {
			if d.told.places.otherHost(x, y) || x.gap(y) > unit.Nanos(d.told.params[maxApartParam]) {
				return false
			}
		}
	}
	return meet(mine, others, func(x *place) string { return x.iface }) && meet(mine, others, func(x *place) string { return x.cpu })
}

// meet reports whether two stories name something alike, or one of them nothing.
func meet(mine, others []*place, name func(*place) string) bool {
	var a, b []string
	for _, x := range mine {
		a = append(a, name(x))
	}
	for _, y := range others {
		b = append(b, name(y))
	}
	unnamed := func(s string) bool { return s == "" }
	a, b = slices.DeleteFunc(a, unnamed), slices.DeleteFunc(b, unnamed)
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// all returns the places of all parts.
func (t *told) all() (list []*place) {
	for _, findings := range t.found {
		for _, f := range findings {
			x := *t.places.of(f)
			list = append(list, &x)
		}
	}
	return list
}

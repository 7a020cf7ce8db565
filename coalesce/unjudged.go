package coalesce

import (
	"fmt"
	"slices"
	"strings"
)

// Unjudged says which counters of the hosts have no rates, so that no rule judges them, and what they lack.
func Unjudged(hosts []*Host) []string {
	var single, untimed, judged []string
	tell := func(s *Series) {
		list := &judged
		switch {
		case len(s.Snapshots) < 2:
			list = &single
		case !s.Timed():
			list = &untimed
		}
		if !slices.Contains(*list, s.Tool) {
			*list = append(*list, s.Tool)
		}
	}
	for _, h := range hosts {
		for _, s := range h.Tables {
			tell(&s.Series)
		}
		for _, s := range h.Protocols {
			tell(&s.Series)
		}
		for _, i := range h.Interfaces {
			for _, s := range i.Counters {
				tell(&s.Series)
			}
		}
	}
	var texts []string
	if list := without(untimed, judged); len(list) > 0 {
		texts = append(texts, fmt.Sprintf("the snapshots of %s have no time, so that nothing is judged by them: --interval says how far apart they are, or put the UTC time into the names of the files", strings.Join(list, ", ")))
	}
	if list := without(single, judged, untimed); len(list) > 0 {
		texts = append(texts, fmt.Sprintf("%s: one snapshot has totals since boot and no rates, so that nothing is judged by it; take a second one some seconds later", strings.Join(list, ", ")))
	}
	return texts
}

// without returns the tools that none of the others holds, in order.
func without(tools []string, others ...[]string) []string {
	list := slices.DeleteFunc(tools, func(tool string) bool {
		return slices.ContainsFunc(others, func(o []string) bool { return slices.Contains(o, tool) })
	})
	slices.Sort(list)
	return list
}

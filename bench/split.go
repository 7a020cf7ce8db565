package bench

import (
	"slices"
	"strings"
)

// SplitBy makes sets of runs by the value of one of their settings, in the order in which the values come first: what was
// tried on one machine and is told by a column of a table, an option of the command line or a line of the shell's log.
// The name may be given without its folder or command: "sdp_zcopy_thresh" for /sys/module/ib_sdp/sdp_zcopy_thresh. In
// their set the runs no longer have the setting, so that it keeps nothing apart. Runs without it are left out.
func SplitBy(runs []Run, name string) []Set {
	var sets []Set
	index := map[string]int{}
	for _, r := range runs {
		i := slices.IndexFunc(r.Settings, func(s Setting) bool { return namedSo(s.Name, name) })
		if i < 0 {
			continue
		}
		label := name + "=" + r.Settings[i].Value
		if name == variantSetting {
			label = r.Settings[i].Value
		}
		r.Settings = slices.Delete(slices.Clone(r.Settings), i, i+1)
		at, known := index[label]
		if !known {
			at = len(sets)
			index[label] = at
			sets = append(sets, Set{Label: label})
		}
		sets[at].Runs = append(sets[at].Runs, r)
	}
	return sets
}

func namedSo(setting, name string) bool {
	if setting == name {
		return true
	}
	rest, ok := strings.CutSuffix(setting, name)
	return ok && name != "" && (strings.HasSuffix(rest, "/") || strings.HasSuffix(rest, " "))
}

// Varied returns the names of the settings that runs of one set have with several values, in the order of reading: what
// SplitBy can make sets by.
func Varied(runs []Run) []string {
	var names []string
	first := map[string]string{}
	for _, r := range runs {
		for _, s := range conditions(r.Settings) {
			v, known := first[s.Name]
			if !known {
				first[s.Name] = s.Value
			} else if v != s.Value && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// Variants returns the sets of a wide table, one for each of its columns, nil if runs are from no such table.
func Variants(runs []Run) []Set {
	if sets := SplitBy(runs, variantSetting); len(sets) > 1 {
		return sets
	}
	return nil
}

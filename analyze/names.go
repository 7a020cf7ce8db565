package analyze

import (
	"fmt"
	"path"
	"strings"
)

// Incident names what was read: the file, or the folder that holds all of it.
func (r *Result) Incident() string {
	if len(r.Sources) == 0 {
		return "nothing"
	}
	common := r.Sources[0].Path
	for _, s := range r.Sources {
		for s.Path != common && !strings.HasPrefix(s.Path, common+"/") && common != "." && common != "/" {
			common = path.Dir(common)
		}
	}
	switch {
	case common == "-":
		return "standard input"
	case common != "." && common != "/":
		return path.Base(common)
	case len(r.Sources) == 1:
		return "1 source"
	default:
		return fmt.Sprintf("%d sources", len(r.Sources))
	}
}

// ShortNames gives each source the shortest name that is its own: the base name, or the path where two share one.
func (r *Result) ShortNames() map[string]string {
	paths := map[string]bool{}
	for _, s := range r.Sources {
		paths[s.Path] = true
	}
	for _, e := range r.Ledger {
		paths[e.Source] = true
	}
	for _, f := range r.Findings {
		for _, e := range f.Evidence {
			paths[e.Source] = true
		}
	}
	sharing := map[string]int{}
	for p := range paths {
		sharing[path.Base(p)]++
	}
	names := map[string]string{}
	for p := range paths {
		names[p] = p
		if sharing[path.Base(p)] == 1 {
			names[p] = path.Base(p)
		}
	}
	names[""] = ""
	return names
}

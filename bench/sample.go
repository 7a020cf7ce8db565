package bench

import (
	"fmt"
	"slices"
	"strings"

	"nettrace/unit"
)

// Set is what was measured in one state of the system: the runs behind one argument of a comparison.
type Set struct {
	Label string
	Runs  []Run
}

// sample is the values of one figure of one test in a set.
type sample struct {
	label   string
	name    string // of the test with its sizes, and of the figure: "TCP_RR, 4,344-byte requests"
	unit    string
	values  []float64 // in the order of reading; nil where only the summary is known
	sorted  []float64
	summary Summary
	mixed   bool      // of several units
	left    int       // runs left out since they broke off
	scaled  string    // the unit that was converted, by a power of ten
	thinned []float64 // every stride-th value of a longer column, whose summary is of all
	stride  int
}

// figure is one number of a run that can be compared.
type figure struct {
	name, unit string
	value      float64
}

// figures returns the figures of a run: its rate, uperf's operations and what a unit of work cost each host.
func (r *Run) figures() []figure {
	list := []figure{{"", r.Unit, r.Rate}}
	if ops, ok := r.Detail("operations_per_second"); ok {
		list = append(list, figure{"operations", operationsUnit, ops})
	}
	for _, side := range [...]struct {
		name string
		cpu  *CPU
	}{{"local CPU cost", r.Local}, {"remote CPU cost", r.Remote}} {
		if side.cpu != nil && side.cpu.DemandPer != "" && side.cpu.DemandMicros > 0 {
			list = append(list, figure{side.name, "us/" + side.cpu.DemandPer, side.cpu.DemandMicros})
		}
	}
	return list
}

// sampleName names a test with what the output tells of it. Columns of numbers and single sets of ministat have no test:
// their name is that of the set.
func (r *Run) sampleName() string {
	if r.Tool == "numbers" || r.Tool == "ministat" {
		return ""
	}
	var parts []string
	if r.Test != "" {
		parts = append(parts, r.Test)
	} else if r.Tool != "csv" {
		parts = append(parts, r.Tool)
	}
	for _, size := range [...]struct {
		bytes int64
		what  string
	}{{r.Sizes.Request, "requests"}, {r.Sizes.Response, "responses"}, {r.Sizes.Message, "messages"}} {
		if size.bytes > 0 {
			parts = append(parts, unit.Count(size.bytes)+"-byte "+size.what)
		}
	}
	if r.Streams > 1 {
		parts = append(parts, fmt.Sprintf("%d streams", r.Streams))
	}
	if r.Direction != "" {
		parts = append(parts, r.Direction)
	}
	return strings.Join(parts, ", ")
}

// options are the conditions of a run as text, for tests that one set has under several.
func (r *Run) options() string {
	var words []string
	for _, s := range conditions(r.Settings) {
		words = append(words, strings.TrimSpace(s.Name+" "+s.Value))
	}
	return strings.Join(words, " ")
}

// samples groups the runs of the sets by test and figure. A test that one of the sets has under several conditions is
// told apart by them.
func samples(sets []Set) [][]sample {
	several := severalConditions(sets)
	grouped := make([][]sample, len(sets))
	for i, set := range sets {
		index := map[string]int{}
		for k := range set.Runs {
			r := &set.Runs[k]
			name := r.sampleName()
			if several[name] {
				name = strings.TrimSuffix(name+", "+r.options(), ", ")
			}
			for _, f := range r.figures() {
				key := strings.Trim(name+", "+f.name, ", ")
				at, known := index[key]
				if !known {
					at = len(grouped[i])
					index[key] = at
					grouped[i] = append(grouped[i], sample{label: set.Label, name: key, unit: f.unit})
				}
				grouped[i][at].add(r, f)
			}
		}
	}
	return grouped
}

func severalConditions(sets []Set) map[string]bool {
	several := map[string]bool{}
	for _, set := range sets {
		first := map[string]*Run{}
		for k := range set.Runs {
			r := &set.Runs[k]
			name := r.sampleName()
			if f, ok := first[name]; !ok {
				first[name] = r
			} else if !slices.Equal(conditions(f.Settings), conditions(r.Settings)) && r.Summary == nil {
				several[name] = true
			}
		}
	}
	return several
}

// bitUnits are the units of rates that differ by powers of ten only, as multiples of 10^6 bits/s.
func bitScale(name string) (scale float64, ok bool) {
	switch name {
	case "bits/s":
		return 1e-6, true
	case "10^3 bits/s":
		return 1e-3, true
	case megabits, "Mb/s":
		return 1, true
	case "10^9 bits/s":
		return 1e3, true
	}
	return 0, false
}

// add takes a figure into the sample. Units of bits are brought to one power of ten, others are never converted.
func (s *sample) add(r *Run, f figure) {
	if r.Partial {
		s.left++
		return
	}
	value := f.value
	if f.unit != s.unit {
		from, okFrom := bitScale(f.unit)
		to, okTo := bitScale(s.unit)
		if !okFrom || !okTo {
			s.mixed = true
			return
		}
		value *= from / to
		s.scaled = f.unit
	}
	if len(r.Values) > 0 && r.Stride == 1 {
		s.values = append(s.values, r.Values...)
		return
	}
	if r.Summary != nil {
		if s.summary.N > 0 || len(s.values) > 0 {
			s.mixed = true
			return
		}
		s.summary, s.thinned, s.stride = *r.Summary, r.Values, r.Stride
		return
	}
	s.values = append(s.values, value)
}

// finish computes the summary of the values.
func (s *sample) finish(generation Ministat) {
	if len(s.thinned) > 0 {
		s.sorted = ascending(s.thinned)
		s.summary.Median = summarise(nil, s.sorted, generation).Median
		return
	}
	if s.values == nil {
		return
	}
	s.sorted = ascending(s.values)
	s.summary = summarise(s.values, s.sorted, generation)
}

package coalesce

import (
	"cmp"
	"slices"

	"nettrace/source"
)

// Reported is a figure that a tool worked out itself and printed once in each of its reports: a rate, a share, or a size
// of the moment. There is nothing to subtract.
type Reported struct {
	Tool    string     `json:"tool"`    // "sysstat", "vmstat", "perf-stat", "turbostat", "netstat-w"
	Subject string     `json:"subject"` // "CPU 0", "eth0", "interrupt 36"; "" for the whole host
	Name    string     `json:"name"`    // as printed: "%soft", "rxpck/s", "cycles"
	Unit    string     `json:"unit"`    // "%", "/s", "" for sizes and counts of a report
	Reports int        `json:"reports"`
	Mean    float64    `json:"mean"`
	Least   float64    `json:"least"`
	Most    float64    `json:"most"`
	Course  []float64  `json:"course"` // the reports in order, means of as many as Each
	Each    int        `json:"each"`
	Pos     source.Pos `json:"pos"` // of the first report

	pending float64 // sum of the reports that are not in Course yet
	waiting int
}

// add enters one more report. The course stays within a bound: when it is full, neighbours are joined.
func (r *Reported) add(v float64) {
	if r.Reports == 0 {
		r.Least, r.Most, r.Each = v, v, 1
	}
	r.Reports++
	r.Mean += (v - r.Mean) / float64(r.Reports)
	r.Least, r.Most = min(r.Least, v), max(r.Most, v)
	r.pending += v
	if r.waiting++; r.waiting < r.Each {
		return
	}
	r.Course = append(r.Course, r.pending/float64(r.waiting))
	r.pending, r.waiting = 0, 0
	if len(r.Course) < maxSteps {
		return
	}
	for k := range maxSteps / 2 {
		r.Course[k] = (r.Course[2*k] + r.Course[2*k+1]) / 2
	}
	r.Course, r.Each = r.Course[:maxSteps/2], 2*r.Each
}

// reports collects the figures of one tool's output.
type reports struct {
	tool  string
	list  []Reported
	index map[[2]string]int
}

func newReports(tool string) *reports { return &reports{tool: tool, index: map[[2]string]int{}} }

// add enters a figure; full reports that there is no room for another.
func (r *reports) add(subject, name, unit string, v float64, pos source.Pos) (full bool) {
	k, known := r.index[[2]string{subject, name}]
	if !known {
		if len(r.list) == maxItems {
			return true
		}
		k = len(r.list)
		r.index[[2]string{subject, name}] = k
		r.list = append(r.list, Reported{Tool: r.tool, Subject: subject, Name: name, Unit: unit, Course: []float64{}, Pos: pos})
	}
	r.list[k].add(v)
	return false
}

// reportedUnit tells the unit by the name of a column.
func reportedUnit(name string) string {
	switch n := len(name); {
	case n > 2 && name[n-2:] == "/s":
		return "/s"
	case n > 1 && (name[0] == '%' || name[n-1] == '%'), slices.Contains([]string{"us", "sy", "id", "wa", "st", "gu"}, name):
		return "%"
	}
	return ""
}

// addReported joins the figures of one output to those of the host: outputs of a tool go on where the one before ended.
func (h *Host) addReported(list []Reported) {
	for _, r := range list {
		k := slices.IndexFunc(h.Reported, func(x Reported) bool { return x.Tool == r.Tool && x.Subject == r.Subject && x.Name == r.Name })
		switch {
		case k >= 0:
			h.Reported[k].join(r)
		case len(h.Reported) < maxCounters:
			h.Reported = append(h.Reported, r)
		}
	}
}

func (r *Reported) join(next Reported) {
	n := r.Reports + next.Reports
	mean := (r.Mean*float64(r.Reports) + next.Mean*float64(next.Reports)) / float64(max(1, n))
	least, most := min(r.Least, next.Least), max(r.Most, next.Most)
	for _, v := range next.Course {
		r.add(v)
	}
	r.Reports, r.Mean, r.Least, r.Most = n, mean, least, most
}

// Report returns a figure by tool, subject and name.
func (h *Host) Report(tool, subject, name string) (Reported, bool) {
	for _, r := range h.Reported {
		if r.Tool == tool && r.Subject == subject && r.Name == name {
			return r, true
		}
	}
	return Reported{}, false
}

// sortReported puts CPUs and interrupts into the order of their numbers within a tool.
func (h *Host) sortReported() {
	slices.SortStableFunc(h.Reported, func(a, b Reported) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), natural(a.Subject, b.Subject))
	})
}

// parseFloat reads a decimal number as tools print it: digits with a point or, in some locales, a comma.
func parseFloat(word []byte) (v float64, ok bool) {
	negative := len(word) > 0 && word[0] == '-'
	if negative {
		word = word[1:]
	}
	if len(word) == 0 || len(word) > 24 {
		return 0, false
	}
	scale, digits := 0.0, 0
	for _, c := range word {
		switch {
		case digit(c):
			digits++
			v = 10*v + float64(c-'0')
			scale *= 10
		case (c == '.' || c == ',') && scale == 0:
			scale = 1
		default:
			return 0, false
		}
	}
	if scale > 0 {
		v /= scale
	}
	if negative {
		v = -v
	}
	return v, digits > 0
}

package bench

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Curve is one figure of one test over what was varied: a size, the number of streams, or a number in the settings.
type Curve struct {
	Name      string        `json:"name"`
	Unit      string        `json:"unit"`
	Axis      string        `json:"axis"` // "request", "response", "message", "request and response" (bytes of each), "streams", or the name of a setting
	Series    []CurveSeries `json:"series"`
	Crossings []Crossing    `json:"crossings"`
	Shifts    []Shift       `json:"shifts"` // of each set against the first
	figure    string        // its name without the conditions of its runs
	options   string        // those conditions
}

// title is what makes series parts of one curve.
func (c *Curve) title() string { return c.Name + "\x00" + c.Unit + "\x00" + c.Axis }

// CurveSeries is the curve of one set.
type CurveSeries struct {
	Set    string       `json:"set"`
	Points []CurvePoint `json:"points"` // ascending
	Cost   *SizeCost    `json:"cost,omitempty"`
	Cliffs []CurveCliff `json:"cliffs"`
	USL    *USLFit      `json:"usl,omitempty"`
}

// CurvePoint is the mean of the runs of one size or number.
type CurvePoint struct {
	At     float64 `json:"at"`
	N      int     `json:"n"`
	Mean   float64 `json:"mean"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	StdDev float64 `json:"stddev"`
	runs   []*Run
	name   string // of the sample that the runs are
}

// USLFit is a fitted law of scaling with what it says of the numbers of senders.
type USLFit struct {
	Lambda     float64 `json:"lambda"`
	Contention float64 `json:"contention"`
	Coherency  float64 `json:"coherency"`
	Fit        float64 `json:"r2"`
	Peak       float64 `json:"peak_senders"` // 0 where the rate never falls
}

func (f USLFit) law() USL { return USL{f.Lambda, f.Contention, f.Coherency, f.Fit} }

// Bounds of what is made of curves: those of one comparison, and the points of one.
const (
	maxCurves      = 200
	maxCurvePoints = 1000
)

// Names of axes that are no single size: of scaling curves, and of transactions that send as much as they receive.
const (
	streamsAxis = "streams"
	bothAxis    = "request and response"
)

// Curves finds what is varied within the sets, and makes curves of those that vary the same thing. A curve has two
// points and more of a size (three, if it is in one set only), and three of anything else.
func Curves(sets []Set) []Curve {
	var all [][]Curve
	several := map[string]bool{}
	for i := range sets {
		of := curvesOf(&Set{Label: sets[i].Label, Runs: figureRuns(sets[i].Runs)})
		titles := map[string]bool{}
		for k := range of {
			several[of[k].title()] = several[of[k].title()] || titles[of[k].title()]
			titles[of[k].title()] = true
		}
		all = append(all, of)
	}
	list := []Curve{}
	index := map[string]int{}
	for _, of := range all {
		for _, c := range of {
			if c.options != "" && several[c.title()] { // a test under several conditions is told apart by them, in all sets
				c.Name = strings.TrimPrefix(c.Name+", "+c.options, ", ")
			}
			at, known := index[c.title()]
			if !known {
				if len(list) == maxCurves {
					continue
				}
				at = len(list)
				index[c.title()] = at
				list = append(list, Curve{Name: c.Name, Unit: c.Unit, Axis: c.Axis, Crossings: []Crossing{}, Shifts: []Shift{}, figure: c.figure, options: c.options})
			}
			list[at].Series = append(list[at].Series, c.Series...)
		}
	}
	list = slices.DeleteFunc(list, func(c Curve) bool { return len(c.Series) == 1 && len(c.Series[0].Points) < 3 })
	for i := range list {
		list[i].finish()
	}
	return list
}

// figureRuns makes a run of each figure of each run that may be on a curve: its rate, operations, and what a unit of work
// cost each host.
func figureRuns(runs []Run) []Run {
	var list []Run
	for i := range runs {
		r := &runs[i]
		if r.Streams == 0 && r.Sizes == (Sizes{}) && r.Tool != "csv" || r.Partial || r.Summary != nil {
			continue
		}
		for k, f := range r.figures() {
			r := *r
			if k > 0 {
				r.Test = strings.Trim(r.Test+" "+f.name, " ")
				r.Rate, r.Unit = f.value, f.unit
			}
			list = append(list, r)
		}
	}
	return list
}

// curveAxis is one thing that may be varied.
type curveAxis struct {
	name string
	of   func(*Run) (float64, bool)
	rest func(*Run) string // names the runs that differ in nothing else
}

// axesOf returns what the runs may vary: sizes, streams, and numeric settings of tables.
func axesOf(runs []Run) []curveAxis {
	axes := []curveAxis{
		{streamsAxis, func(r *Run) (float64, bool) { return float64(r.Streams), r.Streams > 0 }, func(r *Run) string {
			other := *r
			other.Streams = 0
			return other.curveKey("")
		}},
	}
	for _, a := range [...]axis{requestAxis, responseAxis, messageAxis} {
		axes = append(axes, curveAxis{a.String(), func(r *Run) (float64, bool) { return float64(a.of(r.Sizes)), a.of(r.Sizes) > 0 }, func(r *Run) string {
			other := *r
			*a.in(&other.Sizes) = 0
			return other.curveKey("")
		}})
	}
	axes = append(axes, curveAxis{bothAxis, func(r *Run) (float64, bool) {
		return float64(r.Sizes.Request), r.Sizes.Request > 0 && r.Sizes.Request == r.Sizes.Response
	}, func(r *Run) string {
		other := *r
		other.Sizes.Request, other.Sizes.Response = 0, 0
		return other.curveKey("")
	}})
	numbers := 0
	for _, name := range Varied(runs) {
		if !allNumbers(runs, name) || numbers == maxNumberAxes {
			continue
		}
		numbers++
		of := func(r *Run) (float64, bool) {
			value, ok := r.Setting(name)
			v, err := strconv.ParseFloat(value, 64)
			return v, ok && err == nil && r.Tool == "csv" && finite(v)
		}
		axes = append(axes, curveAxis{name, of, func(r *Run) string { return r.curveKey(name) }})
	}
	return axes
}

// maxNumberAxes is how many numeric columns of a table are taken for what was varied.
const maxNumberAxes = 8

// allNumbers reports whether a setting of tables is a number in all of their rows that have it.
func allNumbers(runs []Run, name string) bool {
	for i := range runs {
		if value, ok := runs[i].Setting(name); ok && (runs[i].Tool != "csv" || kindOf([]byte(value)) == notNumber) {
			return false
		}
	}
	return true
}

// curveKey names the runs that differ in one setting only.
func (r *Run) curveKey(without string) string {
	key := strings.Trim(r.sampleName(), ", ")
	other := *r
	other.Settings = slices.DeleteFunc(slices.Clone(r.Settings), func(s Setting) bool { return s.Name == without })
	return key + "\x00" + r.Unit + "\x00" + other.options()
}

// curvesOf makes the curves of one set. A run belongs to one curve of each axis.
func curvesOf(set *Set) []Curve {
	var list []Curve
	for _, axis := range axesOf(set.Runs) {
		index := map[string]int{}
		var groups [][]*Run
		for i := range set.Runs {
			r := &set.Runs[i]
			if _, ok := axis.of(r); !ok {
				continue
			}
			key := axis.rest(r)
			at, known := index[key]
			if !known {
				at = len(groups)
				index[key] = at
				groups = append(groups, nil)
			}
			groups[at] = append(groups[at], r)
		}
		list = append(list, axis.curves(set, groups)...)
	}
	return list
}

func (a curveAxis) curves(set *Set, groups [][]*Run) []Curve {
	var list []Curve
	for _, g := range groups {
		points := a.points(g)
		least := 3
		if a.isSize() {
			least = 2
		}
		if len(points) < least || len(points) > maxCurvePoints {
			continue
		}
		list = append(list, Curve{Name: a.title(g[0]), figure: a.title(g[0]), Unit: g[0].Unit, Axis: a.name, options: a.without(g[0]).options(),
			Series: []CurveSeries{{Set: set.Label, Points: points, Cliffs: []CurveCliff{}}}})
	}
	return list
}

func (a curveAxis) isSize() bool { return sizeName(a.name) }

// sizeName reports whether an axis is of bytes.
func sizeName(name string) bool {
	return name == requestAxis.String() || name == responseAxis.String() || name == messageAxis.String() || name == bothAxis
}

// without returns the run without what the axis varies.
func (a curveAxis) without(r *Run) *Run {
	other := *r
	switch a.name {
	case streamsAxis:
		other.Streams = 0
	case requestAxis.String():
		other.Sizes.Request = 0
	case responseAxis.String():
		other.Sizes.Response = 0
	case messageAxis.String():
		other.Sizes.Message = 0
	case bothAxis:
		other.Sizes.Request, other.Sizes.Response = 0, 0
	default:
		other.Settings = slices.DeleteFunc(slices.Clone(r.Settings), func(s Setting) bool { return s.Name == a.name })
	}
	return &other
}

// title names the curve of a run: its test without what is varied.
func (a curveAxis) title(r *Run) string { return a.without(r).sampleName() }

// points groups runs by where they are on the axis.
func (a curveAxis) points(runs []*Run) []CurvePoint {
	ordered := slices.Clone(runs)
	at := func(r *Run) float64 { v, _ := a.of(r); return v }
	slices.SortStableFunc(ordered, func(x, y *Run) int { return cmp.Compare(at(x), at(y)) })
	var points []CurvePoint
	for from := 0; from < len(ordered); {
		to := from
		var values []float64
		for to < len(ordered) && at(ordered[to]) == at(ordered[from]) {
			values = append(values, ordered[to].Rate)
			to++
		}
		s := Summarise(values, MinistatNewer)
		points = append(points, CurvePoint{At: at(ordered[from]), N: s.N, Mean: s.Mean, Min: s.Min, Max: s.Max, StdDev: s.StdDev, runs: ordered[from:to], name: ordered[from].sampleName()})
		from = to
	}
	return points
}

// finish fits what can be fitted, and compares the series.
func (c *Curve) finish() {
	for i := range c.Series {
		s := &c.Series[i]
		switch {
		case c.Axis == streamsAxis:
			s.USL = scalingFit(s.Points)
		case sizeName(c.Axis):
			if better(c.Unit) > 0 {
				s.Cliffs = cliffsOf(s.Points, c.sizeAxis())
			}
			s.Cost = fitSizeCost(c.sizeAxis(), s)
		}
	}
	for i := 1; i < len(c.Series); i++ {
		if shift, ok := shiftOf(&c.Series[0], &c.Series[i]); ok {
			c.Shifts = append(c.Shifts, shift)
		}
	}
	for i := range c.Series {
		for k := i + 1; k < len(c.Series); k++ {
			c.Crossings = append(c.Crossings, c.crossings(&c.Series[i], &c.Series[k])...)
		}
	}
}

func (c *Curve) sizeAxis() axis {
	for _, a := range [...]axis{requestAxis, responseAxis} {
		if c.Axis == a.String() {
			return a
		}
	}
	if c.Axis == bothAxis {
		return requestAxis
	}
	return messageAxis
}

func scalingFit(points []CurvePoint) *USLFit {
	var rates []Point
	for _, p := range points {
		rates = append(rates, Point{p.At, p.Mean})
	}
	u, ok := FitUSL(rates)
	if !ok {
		return nil
	}
	f := USLFit{Lambda: u.Lambda, Contention: u.Contention, Coherency: u.Coherency, Fit: u.Fit}
	if peak, ok := u.Peak(); ok {
		f.Peak = peak
	}
	return &f
}

// AxisName names an axis with its unit: "bytes of a request", "streams", "link_util_pct".
func (c *Curve) AxisName() string {
	if sizeName(c.Axis) {
		return c.Axis + " bytes"
	}
	return c.Axis
}

// Places returns where any of the series has a point, ascending.
func (c *Curve) Places() []float64 {
	var places []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			places = append(places, p.At)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// Point returns the point at a place, nil if there is none.
func (s *CurveSeries) Point(at float64) *CurvePoint {
	if i, ok := slices.BinarySearchFunc(s.Points, at, func(p CurvePoint, at float64) int { return cmp.Compare(p.At, at) }); ok {
		return &s.Points[i]
	}
	return nil
}

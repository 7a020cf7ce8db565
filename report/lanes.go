package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/source"
	"nettrace/unit"
)

// lane is a recording as a part of the time. Lanes whose clock is UTC stand over one axis; the others each have a clock
// that nothing ties to another one.
type lane struct {
	name, kind string
	told       string // more of it
	source     string // its first one, for the link
	utc        bool   // start and end are since 1970; else since the recording's own beginning
	clock      string // how that is known
	start, end unit.Nanos
	curve      []part // from start on; none for recordings of which only begin and end are known
	peak       string // the largest value of the curve, with its unit
	ticks      []unit.Nanos
	spans      []laneSpan
	// when returns the interval of the lane that a finding is about, in the lane's clock. ok is false if it is about other
	// recordings.
	when func(*finding.Finding) (from, to unit.Nanos, ok bool)
}

// laneSpan is the interval of a lane that a finding is about.
type laneSpan struct {
	finding  int // its index
	from, to unit.Nanos
}

// whole reports whether a finding is about the whole of a lane, or all but a hundredth at its ends.
func (l *lane) whole(s laneSpan) bool {
	edge := (l.end - l.start) / 100
	return s.from <= l.start+edge && s.to >= l.end-edge
}

// stretch is the smallest one that holds all times that were put into it.
type stretch struct {
	any      bool
	from, to unit.Nanos
}

func (s *stretch) put(at unit.Nanos) {
	if !s.any {
		s.any, s.from, s.to = true, at, at
	}
	s.from, s.to = min(s.from, at), max(s.to, at)
}

// lanes returns those of a result, in the order of kinds and reading, with the findings that are about each.
func lanes(r *analyze.Result, names map[string]string, g *gallery) []*lane {
	m := laneMaker{result: r, names: names, gallery: g}
	m.captures()
	m.hosts()
	m.profiles()
	m.locks()
	m.runs()
	for _, l := range m.lanes {
		for i := range r.Findings {
			if from, to, ok := l.when(&r.Findings[i]); ok {
				from, to = max(from, l.start), min(to, l.end)
				l.spans = append(l.spans, laneSpan{i, min(from, to), to})
			}
		}
	}
	return m.lanes
}

type laneMaker struct {
	result  *analyze.Result
	names   map[string]string
	gallery *gallery
	lanes   []*lane
}

// add enters a lane that has some length.
func (m *laneMaker) add(l *lane) {
	if l.end > l.start {
		l.name = cmp.Or(l.name, m.names[l.source], l.source)
		m.lanes = append(m.lanes, l)
	}
}

// captures makes a lane of each capture, with the packets per second of all its files.
func (m *laneMaker) captures() {
	for _, c := range m.result.Models.Captures {
		sources := []string{c.Source}
		for _, p := range c.Pieces {
			if p.Source != c.Source {
				sources = append(sources, p.Source)
			}
		}
		epoch := unit.Nanos(0)
		l := &lane{kind: "packets", source: c.Source, told: unit.Count(c.Packets.Total) + " packets", start: c.Start, end: c.End, clock: "seconds of the capture"}
		if c.EpochSeconds > 0 {
			epoch = unit.Nanos(c.EpochSeconds) * unit.Second
			l.utc, l.clock = true, "times of the packets"
		}
		l.start, l.end = l.start+epoch, l.end+epoch
		for _, s := range m.result.Sources {
			if slices.Contains(sources, s.Path) && s.Kind == analyze.Capture {
				l.paced(&s.Pace, unit.Nanos(s.Epoch)*unit.Second, "packets/s")
			}
		}
		l.when = func(f *finding.Finding) (unit.Nanos, unit.Nanos, bool) {
			if f.Source == c.Source && f.End > f.Start {
				return epoch + f.Start, epoch + f.End, true
			}
			var cited stretch
			about := slices.Contains(sources, f.Source)
			for _, e := range f.Evidence {
				if !slices.Contains(sources, e.Source) {
					continue
				}
				about = true
				if p, s := m.gallery.at(e.Source, e.Record); s != nil {
					cited.put(epoch + p.Time)
				}
			}
			if !cited.any {
				return l.start, l.end, about
			}
			return cited.from, cited.to, true
		}
		m.add(l)
	}
}

// paced draws what was recorded when as the lane's curve, or goes on with it.
func (l *lane) paced(p *source.Pace, epoch unit.Nanos, of string) {
	at := l.start
	for _, c := range l.curve {
		at += c.length
	}
	if gap := p.Begin + epoch - at; gap > 0 && len(p.Counts) > 0 {
		l.curve = append(l.curve, part{length: gap, known: len(l.curve) == 0})
	}
	for _, n := range p.Counts {
		l.curve = append(l.curve, part{p.Length, float64(n) / p.Length.Seconds(), true})
	}
	l.peaked(of)
}

// peaked tells the largest value of the curve.
func (l *lane) peaked(of string) {
	highest := 0.0
	for _, p := range l.curve {
		highest = max(highest, p.value)
	}
	if len(l.curve) > 0 {
		l.peak = unit.Format(highest, of)
	}
}

// hosts makes a lane of the snapshots of each host, with the rate of a counter that a finding cites if there are
// enough of them.
func (m *laneMaker) hosts() {
	for _, h := range m.result.Models.Hosts {
		for _, clock := range []bool{true, false} {
			m.snapshots(h, clock)
		}
	}
}

// snapshots makes the lane of those series of a host whose times are known (utc), or only their distances.
func (m *laneMaker) snapshots(h *coalesce.Host, utc bool) {
	var all []coalesce.Snapshot
	var span stretch
	var tools, from []string
	l := &lane{kind: "counters", utc: utc}
	for _, s := range timedSeries(h) {
		if known := !slices.ContainsFunc(s.Snapshots, func(x coalesce.Snapshot) bool { return x.Time.IsZero() }); known != utc {
			continue
		}
		for _, x := range s.Snapshots {
			all = append(all, x)
			span.put(snapshotTime(&x, utc))
		}
		tools, from = append(tools, s.Tool), append(from, s.TimeFrom)
	}
	if len(all) == 0 {
		return
	}
	l.start, l.end, l.source, l.name = span.from, span.to, all[0].Pos.Source, cmp.Or(m.names[h.Name], h.Name)
	if i := strings.LastIndexByte(l.name, '/'); i >= 0 {
		l.name = l.name[i+1:]
	}
	l.told, l.clock = "counters of "+distinct(tools, 2), distinct(from, 2)
	for i := range all {
		l.ticks = append(l.ticks, snapshotTime(&all[i], utc))
	}
	slices.Sort(l.ticks)
	l.ticks = slices.Compact(l.ticks)
	l.when = func(f *finding.Finding) (unit.Nanos, unit.Nanos, bool) {
		var cited stretch
		for _, e := range f.Evidence {
			if k := snapshotAt(all, e.Pos); k >= 0 {
				cited.put(snapshotTime(&all[k], utc))
			}
		}
		if cited.any && cited.from == cited.to { // one reading is the end of what was counted
			return l.start, l.end, true
		}
		return cited.from, cited.to, cited.any
	}
	m.rate(l, h, utc)
	m.add(l)
}

// timedSeries returns the series of a host with snapshots at different times.
func timedSeries(h *coalesce.Host) []*coalesce.Series {
	var list []*coalesce.Series
	add := func(s *coalesce.Series) {
		if s.Timed() {
			list = append(list, s)
		}
	}
	for _, s := range counterSeries(h) {
		add(&s.Series)
	}
	for _, t := range h.Tables {
		add(&t.Series)
	}
	return list
}

func snapshotTime(s *coalesce.Snapshot, utc bool) unit.Nanos {
	if utc {
		return unit.Nanos(s.Time.UnixNano())
	}
	return s.Offset
}

// snapshotAt returns the snapshot that a place is in: of those in its source the last one that begins before it.
func snapshotAt(all []coalesce.Snapshot, at source.Pos) int {
	found := -1
	for i := range all {
		p := &all[i].Pos
		if p.Source == at.Source && p.Line <= at.Line && (found < 0 || p.Line >= all[found].Pos.Line) {
			found = i
		}
	}
	return found
}

// rate draws the first counter that a finding cites and that was read three times or more.
func (m *laneMaker) rate(l *lane, h *coalesce.Host, utc bool) {
	for i := range m.result.Findings {
		_, lines := citedCounters(&m.result.Findings[i], []*coalesce.Host{h})
		for _, c := range lines {
			if first := &c.series.Snapshots[0]; first.Time.IsZero() != utc {
				l.curve = []part{{length: snapshotTime(first, utc) - l.start}}
				l.curve = append(l.curve, c.line.parts...)
				l.told = c.line.label + " and other " + l.told
				l.peaked("/s")
				return
			}
		}
	}
}

// profiles makes a lane of each recording of stacks with times.
func (m *laneMaker) profiles() {
	for _, p := range m.result.Models.Profiles {
		if p.End <= p.Start {
			continue
		}
		l := &lane{kind: "stacks", source: p.Source, start: p.Start, end: p.End, told: m.samples(p)}
		shift := m.named(l)
		for _, s := range m.result.Sources {
			if s.Path == p.Source && s.Line == p.Line && s.Kind == analyze.Stacks {
				l.paced(&s.Pace, shift, "samples/s")
			}
		}
		l.when = func(f *finding.Finding) (unit.Nanos, unit.Nanos, bool) {
			if f.Source == p.Source && f.End > f.Start {
				return f.Start + shift, f.End + shift, true
			}
			return l.start, l.end, rests(f, p.Source)
		}
		m.add(l)
	}
}

func (m *laneMaker) samples(p *flame.Profile) string {
	n := int64(0)
	for _, e := range p.Events {
		n += e.Samples
	}
	return unit.Count(n) + " stack samples"
}

// named moves a lane to the time that the name of its file tells, or to 0, and returns by how much.
func (m *laneMaker) named(l *lane) (shift unit.Nanos) {
	shift, l.clock = -l.start, "its own: nothing tells when it began"
	if name := source.ParseName(l.source); !name.Time.IsZero() {
		shift += unit.Nanos(name.Time.UnixNano())
		l.utc, l.clock = true, "its beginning is the time in the file's name"
		if name.Phase == "after" {
			shift -= l.end - l.start
			l.clock = "its end is the time in the file's name"
		}
	}
	l.start, l.end = l.start+shift, l.end+shift
	return shift
}

// rests reports whether a finding was made in a source, or cites it.
func rests(f *finding.Finding, in string) bool {
	return f.Source == in || slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return e.Source == in })
}

// locks makes a lane of each lock table that tells how long was recorded and is not part of a recording of stacks.
func (m *laneMaker) locks() {
	for _, t := range m.result.Models.Locks {
		if slices.ContainsFunc(m.result.Models.Profiles, func(p *flame.Profile) bool { return p.Source == t.Source }) {
			continue
		}
		l := &lane{kind: "locks", source: t.Source, end: unit.FromSeconds(t.Seconds), told: t.Tool.Program + ", " + plural(len(t.Locks), "lock", "locks")}
		m.named(l)
		l.when = func(f *finding.Finding) (unit.Nanos, unit.Nanos, bool) { return l.start, l.end, rests(f, t.Source) }
		m.add(l)
	}
}

// runs makes a lane of each benchmark run that tells what it reached while it ran, or when.
func (m *laneMaker) runs() {
	for i := range m.result.Models.Runs {
		r := &m.result.Models.Runs[i]
		if len(r.Interim) < 2 {
			continue
		}
		l := &lane{kind: "benchmark", source: r.Pos.Source, told: runName(r), clock: "its own: the output tells no time of day"}
		first := &r.Interim[0]
		if first.EndSeconds > 0 {
			l.utc, l.clock = true, "times of the interim results"
			l.start = interimEnd(first) - first.Length
		}
		l.end = l.start
		for _, x := range r.Interim {
			l.curve = append(l.curve, part{x.Length, x.Rate, true})
			l.end += x.Length
		}
		l.peaked(r.Unit)
		l.when = func(f *finding.Finding) (unit.Nanos, unit.Nanos, bool) {
			var cited stretch
			at := l.start
			for _, x := range r.Interim {
				if cites(f, x.Pos, nil) {
					cited.put(at)
					cited.put(at + x.Length)
				}
				at += x.Length
			}
			if !cited.any || cites(f, r.Pos, nil) {
				return l.start, l.end, citesRun(f, r)
			}
			return cited.from, cited.to, true
		}
		m.add(l)
	}
}

func interimEnd(x *bench.Interim) unit.Nanos {
	return unit.Nanos(x.EndSeconds)*unit.Second + x.EndNanos
}

// distinct joins texts, each once, as many as are asked for.
func distinct(texts []string, most int) string {
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, ", ")
}

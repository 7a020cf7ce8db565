package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
	"time"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/unit"
)

// Sizes of lanes in units of the viewBox, and bounds of what is drawn of them.
const (
	laneText      = 18 // the line that names a lane
	laneHeight    = 30
	laneBar       = 14 // a finding
	laneGap       = 10
	laneLeft      = 10
	laneAxis      = 40
	leastBar      = 14  // so that its letter fits
	maxLanes      = 24  // over one axis
	maxLaneBars   = 4   // rows of findings below a lane
	longestPause  = 10  // times what was recorded before it: what comes behind a longer one is drawn over another axis
	pixelsInBar   = 6.6 // of a letter
	lettersInLane = 105 // name it
)

// laneGroups parts lanes by their axis: those with a time of day in groups between which nothing was recorded for long, and
// behind them those whose clocks nothing ties to another one, each from its own beginning.
func laneGroups(all []*lane) [][]*lane {
	var groups [][]*lane
	var tied, own []*lane
	for _, l := range all {
		if l.utc {
			tied = append(tied, l)
		} else {
			own = append(own, l)
		}
	}
	slices.SortStableFunc(tied, func(a, b *lane) int { return cmp.Compare(a.start, b.start) })
	var covered stretch
	for _, l := range tied {
		if n := len(groups); n > 0 && l.start-covered.to <= longestPause*max(covered.to-covered.from, l.end-l.start) {
			groups[n-1] = append(groups[n-1], l)
		} else {
			groups, covered = append(groups, nil), stretch{}
			groups[n] = append(groups[n], l)
		}
		covered.put(l.start)
		covered.put(l.end)
	}
	if len(own) > 0 {
		groups = append(groups, own)
	}
	return groups
}

// lanes draws the recordings over the time, with the intervals of the findings.
func (p *pageMaker) lanes() []plotView {
	var views []plotView
	for _, group := range laneGroups(lanes(p.result, p.names, p.gallery)) {
		views = append(views, p.laneChart(group, len(views)+1))
	}
	return views
}

// laneChart draws lanes over one axis.
func (p *pageMaker) laneChart(group []*lane, number int) plotView {
	var covered stretch
	for _, l := range group {
		covered.put(l.start)
		covered.put(l.end)
	}
	utc, origin := group[0].utc, unit.Nanos(0)
	view := plotView{Caption: "Each from its own beginning: nothing ties the clocks of these recordings to each other or to a time of day"}
	label := "since the beginning of each"
	if utc {
		origin = covered.from - covered.from%unit.Second
		at := utcTime(origin).Format("2006-01-02 15:04:05Z")
		view.Caption, label = "Recorded from "+at+" on, over "+(covered.to-covered.from).String(), "since "+at
	}
	shown := group
	if more := len(group) - maxLanes; more > 0 {
		shown = slices.Clone(group)
		slices.SortStableFunc(shown, func(a, b *lane) int { return cmp.Compare(len(b.spans), len(a.spans)) })
		shown = shown[:maxLanes]
		slices.SortStableFunc(shown, func(a, b *lane) int { return cmp.Compare(slices.Index(group, a), slices.Index(group, b)) })
		view.Notes = append(view.Notes, plural(more, "more recording is", "more recordings are")+" not drawn, those with the fewest findings; the table has all")
	}
	if utc && mixedHosts(p.result) {
		view.Notes = append(view.Notes, "Two hosts recorded: their clocks are taken as they are.")
	}
	c := newLaneChart(timeAxis(covered.from-origin, covered.to-origin), shown, p.result.Findings, label)
	c.linked = p.sources
	c.printf(`<svg class="chart lanes" viewBox="0 0 %d %s" role="group" aria-labelledby="lanes-%d-title" aria-describedby="lanes-%d-desc">`+"\n", chartWidth, px(c.height), number, number)
	c.printf("<title id=\"lanes-%d-title\">%s</title>\n", number, html.EscapeString(view.Caption))
	c.printf("<desc id=\"lanes-%d-desc\">%s</desc>\n", number, html.EscapeString(plural(len(shown), "recording", "recordings")+" over one time axis; bars are links to the findings. The table below says the same."))
	c.frame()
	for _, l := range shown {
		c.draw(l, origin, p.result.Findings)
	}
	if c.hidden > 0 {
		view.Notes = append(view.Notes, plural(c.hidden, "more finding", "more findings")+" on these lanes, without room for a bar; the table has all")
	}
	view.SVG = template.HTML(c.b.String() + "</svg>\n")
	for _, item := range []legendItem{
		{"pace", "how much was recorded or reached, its largest as high as the lane", `<path d="M0 13V8H5V3H10V9H14V13z"/>`},
		{"snapshot", "a reading of counters", `<path d="M7 2V13"/>`},
		{"shade", "what a finding is about, if that is a part of a recording", `<rect width="14" height="14"/>`},
	} {
		if strings.Contains(c.b.String(), `class="`+item.Class+`"`) {
			view.Legend = append(view.Legend, item)
		}
	}
	view.Numbers = p.laneTable(group, utc)
	return view
}

func utcTime(n unit.Nanos) time.Time { return time.Unix(0, int64(n)).UTC() }

// mixedHosts reports whether some sources are of the other host.
func mixedHosts(r *analyze.Result) bool {
	peer := func(s analyze.Source) bool { return s.Role == "peer" }
	return slices.ContainsFunc(r.Sources, peer) && slices.ContainsFunc(r.Sources, func(s analyze.Source) bool { return !peer(s) })
}

// laneChart is a picture of lanes, from top to bottom.
type laneChart struct {
	chart
	label  string
	linked map[string]bool // sources that have a row
	rows   [][][]laneSpan  // of bars, by lane
	at     int             // lane
	top    float64         // of it
	height float64
	hidden int // findings without room
}

func newLaneChart(x axis, lanes []*lane, findings []finding.Finding, label string) *laneChart {
	c := &laneChart{label: label}
	c.x = x
	c.x.from, c.x.to = laneLeft, chartWidth-chartRight
	c.height = chartTop + laneAxis
	for _, l := range lanes {
		rows, hidden := c.packed(l, findings)
		c.rows, c.hidden = append(c.rows, rows), c.hidden+hidden
		c.height += laneText + laneHeight + laneGap + laneBar*float64(len(rows))
	}
	c.top = chartTop
	return c
}

// packed puts the findings of a lane into rows in which none covers another one, the weightiest first. What costs nothing
// and is true of the whole recording has no time to show.
func (c *laneChart) packed(l *lane, findings []finding.Finding) (rows [][]laneSpan, hidden int) {
	width := (c.x.high - c.x.low) / (c.x.to - c.x.from) * leastBar
	length := func(s laneSpan) float64 { return max(float64(s.to-s.from), width) }
	for _, s := range l.spans {
		if findings[s.finding].Severity == finding.Info && l.whole(s) {
			continue
		}
		free := slices.IndexFunc(rows, func(row []laneSpan) bool {
			return !slices.ContainsFunc(row, func(o laneSpan) bool {
				return float64(s.from-o.from) < length(o) && float64(o.from-s.from) < length(s)
			})
		})
		switch {
		case free >= 0:
			rows[free] = append(rows[free], s)
		case len(rows) < maxLaneBars:
			rows = append(rows, []laneSpan{s})
		default:
			hidden++
		}
	}
	return rows, hidden
}

// frame draws the axis.
func (c *laneChart) frame() {
	bottom := c.height - laneAxis
	var grid strings.Builder
	for _, v := range c.x.ticks(ticksAcross) {
		fmt.Fprintf(&grid, "M%s %dV%s", px(c.x.at(v)), chartTop, px(bottom))
		c.text("tick middle", c.x.at(v), bottom+16, c.x.text(v))
	}
	c.path("grid", grid.String())
	c.text("label middle", (c.x.from+c.x.to)/2, c.height-6, c.x.label+" "+c.label)
}

// draw draws the next lane.
func (c *laneChart) draw(l *lane, origin unit.Nanos, findings []finding.Finding) {
	at := func(t unit.Nanos) float64 { return c.x.at(float64(t - origin)) }
	base := c.top + laneText + laneHeight
	from, to := at(l.start), at(l.end)
	for _, s := range l.spans {
		if f := &findings[s.finding]; f.Severity >= finding.Notice && !l.whole(s) {
			c.printf(`<rect class="shade" x="%s" y="%s" width="%s" height="%d"/>`+"\n", px(at(s.from)), px(base-laneHeight), px(max(at(s.to)-at(s.from), 2)), laneHeight)
		}
	}
	c.path("span", fmt.Sprintf("M%s %sH%s", px(from), px(base), px(max(to, from+2))))
	c.path("pace", l.area(at, base))
	var ticks strings.Builder
	for _, t := range l.ticks {
		fmt.Fprintf(&ticks, "M%s %sv-12", px(at(t)), px(base))
	}
	c.path("snapshot", ticks.String())
	name := lastParts(l.name)
	about := l.told
	if l.peak != "" {
		about += ", at most " + l.peak
	}
	if room := lettersInLane - len([]rune(name)); len([]rune(about)) > room {
		about = string([]rune(about)[:max(room, 0)]) + "…"
	}
	name = html.EscapeString(name)
	if c.linked[l.source] {
		name = fmt.Sprintf(`<a href="#%s">%s</a>`, sourceID(l.source), name)
	}
	c.printf(`<text class="label" x="%d" y="%s">%s <tspan class="told">%s</tspan></text>`+"\n", laneLeft, px(c.top+12), name, html.EscapeString(about))
	for i, row := range c.rows[c.at] {
		for _, s := range row {
			c.bar(&findings[s.finding], at(s.from), at(s.to), base+2+laneBar*float64(i))
		}
	}
	c.top = base + laneBar*float64(len(c.rows[c.at])) + laneGap
	c.at++
}

// lastParts shortens a path to its last two parts, and those to half of the line that names a lane.
func lastParts(path string) string {
	if parts := strings.Split(path, "/"); len(parts) > 2 {
		path = "…/" + strings.Join(parts[len(parts)-2:], "/")
	}
	if r := []rune(path); len(r) > lettersInLane/2 {
		path = "…" + string(r[len(r)-lettersInLane/2:])
	}
	return path
}

// area is the path of a lane's curve, of which the largest value is as high as the lane.
func (l *lane) area(at func(unit.Nanos) float64, base float64) string {
	highest := 0.0
	for _, p := range l.curve {
		highest = max(highest, p.value)
	}
	if highest == 0 {
		return ""
	}
	var b strings.Builder
	now, open := l.start, false
	for _, p := range l.curve {
		switch {
		case p.known && !open:
			fmt.Fprintf(&b, "M%s %s", px(at(now)), px(base))
		case !p.known && open:
			fmt.Fprintf(&b, "V%sz", px(base))
		}
		if open = p.known; open {
			fmt.Fprintf(&b, "V%sH%s", px(base-p.value/highest*(laneHeight-2)), px(at(min(now+p.length, l.end))))
		}
		now += p.length
	}
	if open {
		fmt.Fprintf(&b, "V%sz", px(base))
	}
	return b.String()
}

// bar draws a finding as a link to it: as long as its interval, with the letter of its severity and, where there is room,
// its rule.
func (c *laneChart) bar(f *finding.Finding, from, to, top float64) {
	width := max(to-from, leastBar)
	from = min(from, c.x.to-width)
	severity := f.Severity.String()
	name := strings.ToUpper(severity[:1])
	full := name + " " + f.Rule
	said := full + " (" + severity + "): " + f.Summary // begins with what is to be seen
	if float64(len(full))*pixelsInBar < width-6 {
		name = full
	}
	c.printf(`<a class="bar %s" href="#f-%s" aria-label="%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%d" rx="2"/><text x="%s" y="%s">%s</text></a>`+"\n",
		severity, html.EscapeString(f.ID), html.EscapeString(said), html.EscapeString(said), px(from), px(top), px(width), laneBar-2, px(from+3.5), px(top+9.5), html.EscapeString(name))
}

// laneTable tells what the lanes show.
func (p *pageMaker) laneTable(group []*lane, utc bool) *table {
	t := &table{Caption: "Recordings and findings over the time", Head: []column{{"recording", false}, {"what", false}, {"from", true}, {"to", true}, {"clock", false}, {"finding", false}}}
	when := func(n unit.Nanos) cell {
		if utc {
			return number(float64(n), utcTime(n).Format("2006-01-02 15:04:05.000000Z"))
		}
		return number(float64(n), fmt.Sprintf("%.6f s", n.Seconds()))
	}
	for _, l := range group {
		name := cell{Text: l.name}
		if p.sources[l.source] {
			name.Link = sourceID(l.source)
		}
		t.Rows = append(t.Rows, row{Cells: []cell{name, text(l.kind + ": " + l.told), when(l.start), when(l.end), text(l.clock), text("")}})
		for _, s := range l.spans {
			f := &p.result.Findings[s.finding]
			t.Rows = append(t.Rows, row{Cells: []cell{name, text(f.Severity.String()), when(s.from), when(s.to), text(""), {Text: f.Rule, Link: "f-" + f.ID}}})
		}
	}
	return t.withoutEmpty()
}

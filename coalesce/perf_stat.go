package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// perf stat: counts of events, for a whole run or (-I) for each interval, of the host or (-A) of each CPU.
//
//	 Performance counter stats for 'system wide':
//	           2003.53 msec cpu-clock                 #    2.000 CPUs utilized
//	               507      context-switches          #  253.054 /sec
//	   <not supported>      cycles
//	       1.001758670 seconds time elapsed
//
//	     0.200242371                141      context-switches                 #  351.869 /sec            (-I)
//	     0.300344854,CPU0,303.20,msec,cpu-clock,303199538,100.00,1.011,CPUs utilized                     (-I -A -x,)
//
// Written by perf of the kernel's tools (util/stat-display.c). Counts become rates where the time is known: the elapsed
// seconds of the text, the intervals of -I, or with -x the time that a counter ran, which perf sums over the CPUs for the
// whole host (there the count of a run stands as it is). Events that were multiplexed are scaled by perf itself. Metrics
// behind # are of the same counts and left out, as are times of users and -r's spread.

// SniffPerfStat recognises perf stat, text and -x.
func SniffPerfStat(head []byte) source.Match {
	line, rest := firstLine(head)
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("Performance counter stats for ")):
		return source.Strong
	case bytes.HasPrefix(line, []byte("#")) && bytes.Contains(line, []byte(" time ")) && bytes.Contains(line, []byte("counts unit events")):
		return source.Strong
	}
	if len(line) < 8 || bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, ';') < 0 {
		return source.No
	}
	if !isPerfStatRow(line) {
		return source.No
	}
	if next, _ := firstLine(rest); isPerfStatRow(next) || len(next) == 0 {
		return source.Strong
	}
	return source.No
}

// isPerfStatRow tells a line of perf stat -x, without allocation: a count, a unit, an event, the time it ran and the share
// of the time that it was counted for.
func isPerfStatRow(line []byte) bool {
	_, ok := parsePerfStatRow(line)
	return ok
}

type perfStatRow struct {
	time, cpu, count, unit, event, ran []byte
}

func parsePerfStatRow(line []byte) (r perfStatRow, ok bool) {
	separator := byte(',')
	if bytes.IndexByte(line, ';') >= 0 {
		separator = ';'
	}
	var f [8][]byte
	n := 0
	for rest := line; n < len(f); n++ {
		i := bytes.IndexByte(rest, separator)
		if i < 0 {
			f[n] = rest
			n++
			break
		}
		f[n], rest = rest[:i], rest[i+1:]
	}
	k := 0
	if len(f[0]) > 5 && f[0][0] == ' ' { // -I
		if r.time = bytes.TrimLeft(f[0], " "); !isDecimal(r.time) {
			return r, false
		}
		k++
	}
	if k < n && (bytes.HasPrefix(f[k], []byte("CPU")) || len(f[k]) > 3 && f[k][0] == 'S' && bytes.Contains(f[k], []byte("-D"))) { // -A, --per-core
		r.cpu = f[k]
		if k++; k < n && r.cpu[0] == 'S' {
			k++ // number of CPUs
		}
	}
	if n < k+5 {
		return r, false
	}
	r.count, r.unit, r.event, r.ran = f[k], f[k+1], f[k+2], f[k+3]
	_, ran := parseUint(r.ran)
	counted := bytes.HasPrefix(r.count, []byte("<not ")) || isDecimal(r.count)
	share := f[k+4]
	return r, counted && ran && len(r.event) > 0 && !digit(r.event[0]) && len(r.event) < 200 && len(share) >= 4 && share[len(share)-3] == '.' && isDecimal(share)
}

func isDecimal(word []byte) bool { _, ok := parseFloat(word); return ok }

// ReadPerfStat reads perf stat.
func ReadPerfStat(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "perf-stat", Pos: l.Pos()}
	head := l.Head(4096)
	if SniffPerfStat(head) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no perf stat begins here; \"Performance counter stats for\" or lines of -x were expected"}
	}
	p := perfStat{reports: newReports("perf-stat"), ledger: ledger}
	line, _ := firstLine(head)
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("Performance")):
		p.run(l)
	case line[0] == '#':
		p.intervals(l)
	default:
		p.rows(l)
	}
	out.Reported = p.reports.list
	return out, nil
}

type perfStat struct {
	reports *reports
	ledger  *source.Ledger
	last    float64 // when the interval began
	now     float64 // and ended
}

// text reads "507 context-switches # ..." into the count, its unit if it is a time, and the event.
func (p *perfStat) text(line []byte) (count float64, unit, event string, ok bool) {
	line, _, _ = bytes.Cut(line, []byte(" # "))
	words := bytes.Fields(line)
	if len(words) == 0 {
		return 0, "", "", false
	}
	digits := bytes.ReplaceAll(words[0], []byte(","), nil) // groups of thousands
	count, ok = parseFloat(digits)
	words = words[1:]
	if len(words) > 1 && !bytes.HasPrefix(words[1], []byte("(")) {
		unit, words = string(words[0]), words[1:]
	}
	if !ok || len(words) == 0 {
		return 0, "", "", false
	}
	return count, unit, string(words[0]), true
}

// run reads the text of a whole run: the time comes last.
func (p *perfStat) run(l *source.Lines) {
	type count struct {
		event, unit string
		value       float64
		pos         source.Pos
	}
	var counts []count
	elapsed := 0.0
	l.Next()
	blank := 0
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if rest, ok := bytes.CutSuffix(line, []byte("seconds time elapsed")); ok {
			elapsed, _ = parseFloat(bytes.TrimSpace(rest))
			break
		}
		if len(line) == 0 {
			if blank++; blank > 2 {
				break
			}
			continue
		}
		if l.Bytes()[0] != ' ' {
			l.Back()
			break
		}
		if v, unit, event, ok := p.text(line); ok && len(counts) < maxItems && l.Complete() {
			counts = append(counts, count{event, unit, v, l.Pos()})
		} else if !ok && line[0] != '<' && line[0] != '#' && line[0] != '(' {
			p.ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(line)+" is no count of perf stat; it is left out")
		}
	}
	if elapsed == 0 && atEnd(l) {
		cut(p.ledger, l.Pos(), "the input ends inside perf stat before the elapsed time: counts, but no rates")
	}
	for _, c := range counts {
		p.add("", c.event, c.unit, c.value, elapsed, c.pos)
	}
}

// add enters a count as a rate where the time is known, and a time as it is.
func (p *perfStat) add(subject, event, unit string, v, seconds float64, pos source.Pos) {
	switch {
	case unit != "":
		p.reports.add(subject, event, unit, v, pos)
	case seconds > 0:
		p.reports.add(subject, event, "/s", v/seconds, pos)
	default:
		p.reports.add(subject, event, "", v, pos)
	}
}

func (p *perfStat) intervals(l *source.Lines) {
	for l.Next() {
		line := l.Bytes()
		if bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		words := bytes.Fields(line)
		at, ok := 0.0, false
		if len(words) > 2 && line[0] == ' ' {
			at, ok = parseFloat(words[0])
		}
		if !ok {
			if len(words) > 0 {
				l.Back()
			}
			return
		}
		if !l.Complete() {
			cut(p.ledger, l.Pos(), "the input ends inside a line of perf stat -I; it is left out")
			return
		}
		p.interval(at)
		rest := bytes.TrimLeft(line, " ")[len(words[0]):]
		if v, unit, event, ok := p.text(rest); ok {
			p.add("", event, unit, v, p.now-p.last, l.Pos())
		}
	}
}

func (p *perfStat) interval(at float64) {
	if at != p.now {
		p.last, p.now = p.now, at
	}
}

func (p *perfStat) rows(l *source.Lines) {
	for l.Next() {
		line := l.Bytes()
		r, ok := parsePerfStatRow(line)
		switch {
		case len(line) > 0 && line[0] == '#':
			continue
		case !ok:
			if len(line) > 0 && l.Complete() {
				l.Back()
			} else if len(line) > 0 {
				cut(p.ledger, l.Pos(), "the input ends inside a line of perf stat -x; it is left out")
			}
			return
		}
		seconds := 0.0
		if r.time != nil {
			at, _ := parseFloat(r.time)
			p.interval(at)
			seconds = p.now - p.last
		}
		subject := ""
		if digits, isCPU := strings.CutPrefix(string(r.cpu), "CPU"); isCPU {
			subject = "CPU " + digits
		} else if len(r.cpu) > 0 {
			subject = string(r.cpu)
		}
		if v, counted := parseFloat(r.count); counted {
			p.add(subject, string(r.event), string(r.unit), v, seconds, l.Pos())
		}
	}
}

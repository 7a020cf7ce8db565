package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/source"
	"nettrace/tcp"
)

// observe gives the hosts the request/response rate that was measured beside them, against which the cost of moderation
// is judged: that of the slowest benchmark run or, without one, that of the busiest connection which only ever had one
// exchange outstanding.
func (a *analysis) observe() {
	m := &a.fresh.Models
	e := slowestRun(m.Runs)
	if e == nil {
		e = busiestExchange(m.Captures)
	}
	courses := courses(m.Runs)
	for _, h := range m.Hosts {
		h.Exchange, h.Courses = e, courses
	}
}

// courses returns the request/response runs whose intervals were reported.
func courses(runs []bench.Run) []*coalesce.Exchange {
	const most = 16
	var found []*coalesce.Exchange
	for _, r := range runs {
		if !strings.HasSuffix(r.Test, "_RR") || len(r.Interim) == 0 || r.Rate <= 0 || len(found) == most {
			continue
		}
		e := exchange(&r)
		for _, x := range r.Interim {
			e.Interim = append(e.Interim, x.Rate)
		}
		found = append(found, e)
	}
	return found
}

func exchange(r *bench.Run) *coalesce.Exchange {
	return &coalesce.Exchange{Rate: r.Rate, RequestBytes: r.Sizes.Request, ResponseBytes: r.Sizes.Response,
		Outstanding: 1 + burst(r), From: r.Tool + " " + r.Test, Pos: r.Pos}
}

// slowestRun returns the slowest request/response run, with the one after a change where it is the one before it.
func slowestRun(runs []bench.Run) *coalesce.Exchange {
	found := exchanges(runs)
	if len(found) == 0 {
		return nil
	}
	slowest := slices.MinFunc(found, func(a, b *coalesce.Exchange) int { return cmp.Compare(a.Rate, b.Rate) })
	if before := source.ParseName(slowest.Pos.Source); before.Phase == "before" {
		for _, e := range found {
			if after := source.ParseName(e.Pos.Source); after.Phase == "after" && after.Group == before.Group && after.Tool == before.Tool && e.Outstanding == slowest.Outstanding {
				slowest.After = e
				break
			}
		}
	}
	return slowest
}

func exchanges(runs []bench.Run) (found []*coalesce.Exchange) {
	for k := 0; k < len(runs); {
		if numbers := repeated(runs[k:]); numbers > 0 {
			found = append(found, meanOf(runs[k:k+numbers]))
			k += numbers
			continue
		}
		if r := &runs[k]; strings.HasSuffix(r.Test, "_RR") && r.Rate > 0 {
			found = append(found, exchange(r))
		}
		k++
	}
	return found
}

// repeated returns how many of the first runs are plain numbers in one file whose name says that they are rates of a
// request/response test: "tcp_rr-before.txt".
func repeated(runs []bench.Run) (n int) {
	for _, r := range runs {
		if r.Tool != "numbers" || !strings.Contains(strings.ToLower(r.Test), "_rr") || r.Rate <= 0 || r.Pos.Source != runs[0].Pos.Source {
			break
		}
		n++
	}
	return n
}

func meanOf(runs []bench.Run) *coalesce.Exchange {
	sum := 0.0
	for _, r := range runs {
		sum += r.Rate
	}
	return &coalesce.Exchange{Rate: sum / float64(len(runs)), Outstanding: 1, Pos: runs[0].Pos,
		From: fmt.Sprintf("mean of %d numbers of %s, taken for transactions/s with one outstanding", len(runs), runs[0].Test)}
}

// burst returns how many transactions netperf had outstanding beside the first.
func burst(r *bench.Run) int {
	for _, name := range []string{"first burst", "-- -b"} {
		if v, ok := r.Setting(name); ok {
			n, err := strconv.Atoi(v)
			if err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

func busiestExchange(captures []*tcp.Capture) *coalesce.Exchange {
	var busiest *coalesce.Exchange
	most := int64(0)
	for _, c := range captures {
		for i := range c.Connections {
			conn := &c.Connections[i]
			x := &conn.Exchanges
			if !x.Sequential() || x.Times.P50 <= 0 || x.Count <= most {
				continue
			}
			most = x.Count
			busiest = &coalesce.Exchange{Rate: 1 / x.Times.P50.Seconds(), RequestBytes: x.Usual.RequestBytes, ResponseBytes: x.Usual.ResponseBytes,
				Outstanding: 1, From: "capture", Pos: c.At(conn.Record, conn.Offset)}
		}
	}
	return busiest
}

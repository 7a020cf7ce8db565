package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"

	"nettrace/source"
	"nettrace/unit"
)

// iperf3 -J, 3.0 to 3.17 (esnet/iperf, src/iperf_api.c, iperf_json_finish and iperf_print_results), one object a run:
//
//	{ "start": { "version": "iperf 3.12", "connecting_to": {"host": "10.77.0.2", "port": 5201}, "test_start": {"protocol": "TCP", ...} },
//	  "intervals": [ { "streams": [...], "sum": { "start": 0, "end": 1.0, "bits_per_second": 7119329502.57, ... } }, ... ],
//	  "end": { "sum_sent": {...}, "sum_received": {...}, "cpu_utilization_percent": {...} } }
//
// The figure is sum_received: what arrived. Old versions print only sum for UDP. A bidirectional run has a second
// direction under *_bidir_reverse, or, in 3.7, under the same keys once more. {"error": ...} may stand alone or beside
// what was measured until then. Single streams are not kept: their sums are.

// SniffIperf3JSON recognises the JSON of iperf3: an object whose first member is "start", or the error of a failed run.
func SniffIperf3JSON(head []byte) source.Match {
	if len(head) == 0 || head[0] != '{' {
		return source.No
	}
	rest := bytes.TrimLeft(head[1:], " \t\r\n")
	if failed, ok := bytes.CutPrefix(rest, []byte(`"error"`)); ok {
		failed = bytes.TrimLeft(failed, " \t:")
		if bytes.HasPrefix(failed, []byte(`"error - `)) || bytes.HasPrefix(failed, []byte(`"unable to `)) || bytes.HasPrefix(failed, []byte(`"the server `)) {
			return source.Strong
		}
		return source.No
	}
	rest, ok := bytes.CutPrefix(rest, []byte(`"start"`))
	if !ok {
		return source.No
	}
	rest = bytes.TrimLeft(rest, " \t\r\n:{")
	if bytes.HasPrefix(rest, []byte(`"connected"`)) || bytes.HasPrefix(rest, []byte(`"version"`)) && bytes.Contains(rest[:min(len(rest), 64)], []byte("iperf 3")) {
		return source.Strong
	}
	return source.No
}

// ReadIperf3JSON reads one object as one run, or as two of a bidirectional test. It enters into the ledger: iperf3-error
// (what iperf3 said), cut-input, bad-json, not-a-number, implausible-jitter, result-missing, interim-merged.
func ReadIperf3JSON(l *source.Lines, ledger *source.Ledger) ([]Run, error) {
	pos := l.Pos()
	var o objectLines
	var offsets []int64 // of the lines
	done := false
	for !done && l.Next() {
		if begun := len(o.text) > 0; begun && bytes.HasPrefix(l.Bytes(), []byte("{")) { // the next object: this one has no end
			l.Back()
			break
		}
		var err error
		offsets = append(offsets, l.Pos().Offset)
		if done, err = o.add(l.Bytes()); err != nil {
			return nil, &source.SyntaxError{Pos: pos, Msg: "an object of iperf3 " + err.Error() + "; expected the result of one run"}
		}
	}
	p := parseTree(o.text)
	at := pos
	if p.line < len(offsets) {
		at.Line, at.Offset = pos.Line+p.line, offsets[p.line]
	}
	if p.notNumbers > 0 && p.err == nil {
		ledger.Add("not-a-number", source.Note, at, int64(p.notNumbers), "iperf3 printed nan or inf where a number should be (the loss of an interval without packets); these values are not defined and left out")
	}
	switch {
	case p.err != nil && (!done || cutShort(p.err)):
		ledger.Add("cut-input", source.Warning, pos, 1, "the object ends before its closing brace; the run is left out")
		return nil, nil
	case p.err != nil:
		ledger.Add("bad-json", source.Warning, at, 1, source.Excerpt(p.odd)+" is no JSON; the run that began in line "+strconv.Itoa(pos.Line)+" is left out, mend the line to have it read")
		return nil, nil
	}
	r := &iperf3{pos: pos, tree: p.tree, ledger: ledger}
	return r.runs(), nil
}

// iperf3 is one parsed object.
type iperf3 struct {
	pos    source.Pos
	tree   members
	ledger *source.Ledger
}

// direction is the one or the other of a run.
type direction struct {
	sent, received, sum members
	intervals           []members
	reverse             bool
}

func (r *iperf3) runs() []Run {
	message := r.tree.text("error")
	if message != "" {
		r.ledger.Add("iperf3-error", source.Warning, r.pos, 1, "the run failed: "+printable([]byte(message[:min(len(message), 300)])))
	}
	var runs []Run
	for _, d := range r.directions() {
		run, ok := r.run(d)
		if ok {
			run.Partial = run.Partial || message != ""
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 && message == "" {
		r.ledger.Add("result-missing", source.Warning, r.pos, 1, "the object has neither a result, nor intervals, nor an error")
	}
	return runs
}

// directions sorts the sums by the direction of their data.
func (r *iperf3) directions() []direction {
	forward := direction{reverse: r.tree.object("start").object("test_start").flag("reverse")}
	back := direction{reverse: true}
	end := r.tree.object("end")
	pick := func(to [2]*members, key string) {
		for i, v := range append(end.all(key), end.all(key+"_bidir_reverse")...) {
			if o, ok := v.(members); ok && i < 2 && len(o) > 0 {
				*to[i] = o
			}
		}
	}
	pick([2]*members{&forward.sent, &back.sent}, "sum_sent")
	pick([2]*members{&forward.received, &back.received}, "sum_received")
	pick([2]*members{&forward.sum, &back.sum}, "sum")
	for _, v := range r.tree.list("intervals") {
		interval, _ := v.(members)
		for i, s := range append(interval.all("sum"), interval.all("sum_bidir_reverse")...) {
			o, _ := s.(members)
			switch {
			case len(o) == 0 || o.flag("omitted"):
			case i == 0:
				forward.intervals = append(forward.intervals, o)
			case i == 1:
				back.intervals = append(back.intervals, o)
			}
		}
	}
	if len(back.sent)+len(back.received)+len(back.sum)+len(back.intervals) == 0 {
		return []direction{forward}
	}
	return []direction{forward, back}
}

// run makes the run of one direction.
func (r *iperf3) run(d direction) (Run, bool) {
	start := r.tree.object("start")
	test := start.object("test_start")
	run := Run{Pos: r.pos, Group: r.pos.Offset, Tool: "iperf3", Test: cmp.Or(printable([]byte(test.text("protocol"))), "TCP"), Unit: megabits,
		Host: printable([]byte(start.object("connecting_to").text("host")))}
	if d.reverse {
		run.Direction = "reverse"
	}
	streams, _ := test.number("num_streams")
	size, _ := test.number("blksize")
	run.Streams, run.Sizes.Message = int(max(0, min(streams, 1e6))), int64(max(0, size))
	run.Settings = r.settings(start, test)
	run.Interim = r.interim(d.intervals)
	figure, name := d.received, "sum_received"
	if _, ok := figure.number("bits_per_second"); !ok {
		figure, name = d.sum, "sum"
	}
	if _, ok := figure.number("bits_per_second"); !ok {
		figure, name = d.sent, "sum_sent"
	}
	rate, ok := figure.number("bits_per_second")
	seconds, _ := figure.number("seconds")
	if bytes, _ := figure.number("bytes"); !ok || rate == 0 && bytes == 0 && r.tree.text("error") != "" {
		if len(run.Interim) == 0 {
			return run, false
		}
		partial := series{points: run.Interim}
		run.Rate, run.Seconds = partial.mean()
		run.Partial = true
		return run, true
	}
	run.Rate, run.Seconds = max(0, rate)/1e6, max(0, seconds)
	if name != "sum_received" {
		run.Settings = append(run.Settings, Setting{"figure", name})
	}
	run.Details = r.details(d, figure)
	run.Receipt = receiptOf(d, figure)
	return run, true
}

func (r *iperf3) settings(start, test members) []Setting {
	var set []Setting
	for _, key := range [...]string{"duration", "omit", "bytes", "blocks", "tos", "target_bitrate"} {
		if v, ok := test.number(key); ok && v != 0 {
			set = append(set, Setting{key, unit.Number(v)})
		}
	}
	end := r.tree.object("end")
	if c := end.text("sender_tcp_congestion"); c != "" {
		set = append(set, Setting{"congestion", printable([]byte(c))})
	}
	if mss, ok := start.number("tcp_mss_default"); ok && mss > 0 {
		set = append(set, Setting{"mss", unit.Number(mss)})
	}
	return set
}

// maxJitterMillis is above any jitter: a minute. iperf3 prints garbage for an interval without packets.
const maxJitterMillis = 60_000

// maxRunSeconds is above the end of any interval: a century.
const maxRunSeconds = 100 * 365 * 86400

// began is when the run did, to the second: iperf3 takes the time when it connects. 0 if that is not told.
func (r *iperf3) began() int64 {
	t, _ := r.tree.object("start").object("timestamp").number("timesecs")
	if t < 0 || t > math.MaxInt32*100 {
		return 0
	}
	return int64(t)
}

// interim makes interim results of the intervals' sums.
func (r *iperf3) interim(intervals []members) []Interim {
	var s series
	began := r.began()
	for n, o := range intervals {
		rate, ok := o.number("bits_per_second")
		seconds, timed := o.number("seconds")
		if !ok || !timed || seconds <= 0 || rate < 0 {
			continue
		}
		moved, _ := o.number("bytes")
		point := Interim{Rate: rate / 1e6, Length: unit.FromSeconds(seconds), Bytes: int64(max(0, moved)), Pos: r.pos}
		if end, ok := o.number("end"); ok && began > 0 && end >= 0 && end < maxRunSeconds {
			whole := math.Floor(end)
			point.EndSeconds, point.EndNanos = began+int64(whole), unit.FromSeconds(end-whole)
		}
		r.datagrams(&point, o, n+1)
		if s.add(point) {
			r.ledger.Add("interim-merged", source.Note, r.pos, 1, "more than 4,096 intervals in one run; neighbours are merged, their mean is kept")
		}
	}
	return s.points
}

// datagrams reads what an interval of UDP tells of them.
func (r *iperf3) datagrams(point *Interim, o members, number int) {
	packets, counted := o.number("packets")
	if !counted {
		return
	}
	lost, _ := o.number("lost_packets")
	point.Datagrams, point.Lost = int64(max(0, packets)), int64(max(0, lost))
	if packets <= 0 {
		r.ledger.Add("loss-not-defined", source.Note, r.pos, 1, fmt.Sprintf("interval %d has 0 of 0 packets: its loss is not defined", number))
	}
	jitter, _ := o.number("jitter_ms")
	if jitter > maxJitterMillis {
		r.ledger.Add("implausible-jitter", source.Note, r.pos, 1, fmt.Sprintf("a jitter of %s s in interval %d of %s: not plausible, left out of any mean or maximum", unit.Number(math.Round(jitter/1000)), number, point.Length))
		return
	}
	point.Jitter = unit.Nanos(max(0, jitter) * 1e6)
}

// details keeps what is printed beside the figure. CPU utilisation is of one CPU, unlike netperf's.
func (r *iperf3) details(d direction, figure members) []Detail {
	var list []Detail
	add := func(name string, o members, key string, scale float64) {
		if v, ok := o.number(key); ok {
			list = append(list, Detail{name, v * scale})
		}
	}
	add("sent_megabits_per_second", d.sent, "bits_per_second", 1e-6)
	add("sent_bytes", d.sent, "bytes", 1)
	add("received_bytes", d.received, "bytes", 1)
	add("retransmits", d.sent, "retransmits", 1)
	if jitter, ok := figure.number("jitter_ms"); ok && jitter <= maxJitterMillis {
		add("jitter_ms", figure, "jitter_ms", 1)
	}
	add("lost_packets", figure, "lost_packets", 1)
	cpu := r.tree.object("end").object("cpu_utilization_percent")
	add("local_percent_of_one_cpu", cpu, "host_total", 1)
	add("remote_percent_of_one_cpu", cpu, "remote_total", 1)
	return list
}

// receiptOf tells what arrived of UDP datagrams.
func receiptOf(d direction, figure members) *Receipt {
	packets, ok := figure.number("packets")
	lost, counted := figure.number("lost_packets")
	if !ok || !counted {
		return nil
	}
	rate, _ := figure.number("bits_per_second")
	seconds, _ := figure.number("seconds")
	return &Receipt{SentMessages: int64(max(0, packets)), ReceivedMessages: int64(max(0, packets-lost)), Rate: max(0, rate) / 1e6, Seconds: max(0, seconds)}
}

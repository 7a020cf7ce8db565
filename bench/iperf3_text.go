package bench

import (
	"bytes"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// iperf3's text, 3.0 to 3.17 (esnet/iperf, src/iperf_locale.c):
//
//	Connecting to host 10.77.0.2, port 5201
//	[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
//	[  5]   0.00-0.50   sec   376 MBytes  6.30 Gbits/sec  1532    337 KBytes
//	[  5]   0.00-2.00   sec  1.36 GBytes  5.84 Gbits/sec                  receiver
//
// Bits have prefixes of 1,000, bytes of 1,024. The rows of [SUM] count where there are several streams, [TX-C] and
// [RX-C] name the directions of a bidirectional test. The figure is the receiver's. Cwnd, Retr and Transfer are not kept.

// SniffIperf3 recognises the text of iperf3's client: its first line, the heads of its table, or its error.
func SniffIperf3(head []byte) source.Match {
	if len(head) == 0 {
		return source.No
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case head[0] == 'C' && bytes.HasPrefix(line, []byte("Connecting to host ")) && bytes.Contains(line, []byte(", port ")),
		head[0] == '[' && iperfHead(line),
		head[0] == 'i' && bytes.HasPrefix(line, []byte("iperf3: error")):
		return source.Strong
	}
	return source.No
}

func iperfHead(line []byte) bool {
	return bytes.HasPrefix(line, []byte("[ ID]")) && bytes.Contains(line, []byte("Interval")) && bytes.Contains(line, []byte("Transfer"))
}

// iperfText is one output being read.
type iperfText struct {
	begin     source.Pos
	ledger    *source.Ledger
	host      string
	protocol  string
	reverse   bool
	parallel  bool // a [SUM] row was seen
	streams   map[string]bool
	sides     [2]iperfSide // forward, reverse
	failed    bool
	cut, seen bool
}

// iperfSide is what is known of a direction.
type iperfSide struct {
	interim        series
	single         series // of the one stream, where no sum is printed
	sent, received *iperfRow
}

// iperfRow is one row of the table.
type iperfRow struct {
	id, role    string // "5", "SUM"; "TX-C", "RX-C" or ""
	from, to    float64
	rate        float64 // 10^6 bits/s
	end         string  // "sender", "receiver" or ""
	lost, total float64 // datagrams, -1 where not printed
	jitter      float64 // ms
	pos         source.Pos
}

// ReadIperf3 reads the text of one run. It enters into the ledger: iperf3-error, cut-input, result-missing, interim-merged.
func ReadIperf3(l *source.Lines, ledger *source.Ledger) ([]Run, error) {
	r := &iperfText{begin: l.Pos(), ledger: ledger, streams: map[string]bool{}}
	for l.Next() {
		if !r.line(l.Bytes(), l.Pos()) {
			l.Back()
			break
		}
	}
	r.cut = !l.Complete()
	return r.runs(), nil
}

// line takes a line and reports whether it is iperf3's.
func (r *iperfText) line(line []byte, pos source.Pos) bool {
	text := string(bytes.TrimSpace(line[:min(len(line), 400)]))
	switch {
	case strings.HasPrefix(text, "Connecting to host "):
		if r.seen {
			return false // the next run
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(text, "Connecting to host "), ", port ")
		r.host = printable([]byte(host))
	case strings.HasPrefix(text, "iperf3: "):
		if message, ok := strings.CutPrefix(text, "iperf3: error - "); ok {
			r.ledger.Add("iperf3-error", source.Warning, pos, 1, "the run failed: "+printable([]byte(message)))
			r.failed = true
		}
	case strings.HasPrefix(text, "Reverse mode"):
		r.reverse = true
	case strings.HasPrefix(text, "[ ID]"):
		if strings.Contains(text, "Datagrams") {
			r.protocol = "UDP"
		}
	case strings.HasPrefix(text, "["):
		return r.row(text, pos)
	case text == "", text == "iperf Done.", strings.HasPrefix(text, "- - -"), strings.HasPrefix(text, "CPU Utilization"),
		strings.HasPrefix(text, "snd_tcp_congestion"), strings.HasPrefix(text, "rcv_tcp_congestion"), text == "Test Complete. Summary Results:",
		strings.HasPrefix(text, "Starting Test"), strings.HasPrefix(text, "Time: "), strings.HasPrefix(text, "Cookie: "), strings.HasPrefix(text, "TCP MSS: "),
		strings.HasPrefix(text, "Server output:"), strings.HasPrefix(text, "Accepted connection"):
	default:
		return false
	}
	r.seen = true
	return true
}

// row takes a row in brackets.
func (r *iperfText) row(text string, pos source.Pos) bool {
	row, ok := parseIperfRow(text)
	if !ok {
		return strings.Contains(text, " connected to ") || strings.Contains(text, " port ")
	}
	row.pos = pos
	r.seen = true
	side := &r.sides[0]
	if row.role == "RX-C" || row.role == "RX-S" {
		side = &r.sides[1]
	}
	if row.id == "SUM" {
		r.parallel = true
	} else {
		r.streams[row.role+row.id] = true
	}
	sum := row.id == "SUM"
	switch {
	case row.end == "sender" && (sum || side.sent == nil):
		side.sent = &row
	case row.end == "receiver" && (sum || side.received == nil):
		side.received = &row
	case row.end == "" && row.to > row.from:
		to := &side.single
		if sum {
			to = &side.interim
		}
		if to.add(Interim{Rate: row.rate, Length: unit.FromSeconds(row.to - row.from), Pos: pos}) && sum {
			r.ledger.Add("interim-merged", source.Note, pos, 1, "more than 4,096 intervals in one run; neighbours are merged, their mean is kept")
		}
	}
	return true
}

// parseIperfRow reads "[  5][TX-C]   0.00-0.50   sec   376 MBytes  6.30 Gbits/sec ...  sender".
func parseIperfRow(text string) (row iperfRow, ok bool) {
	id, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	if !ok || len(id) > 8 {
		return row, false
	}
	row.id, row.lost, row.jitter = strings.TrimSpace(id), -1, -1
	if strings.HasPrefix(rest, "[") {
		if row.role, rest, ok = strings.Cut(rest[1:], "]"); !ok {
			return row, false
		}
	}
	words := strings.Fields(rest)
	if len(words) < 6 || words[1] != "sec" || kindOf([]byte(words[2])) == notNumber || kindOf([]byte(words[4])) == notNumber {
		return row, false
	}
	from, to, ok := strings.Cut(words[0], "-")
	scale := bitsScale(words[5])
	if !ok || kindOf([]byte(from)) == notNumber || kindOf([]byte(to)) == notNumber || scale == 0 {
		return row, false
	}
	row.from, row.to = number([]byte(from)), number([]byte(to))
	row.rate = number([]byte(words[4])) * scale
	for i, w := range words[6:] {
		switch lost, total, isLoss := strings.Cut(w, "/"); {
		case w == "sender" || w == "receiver":
			row.end = w
		case w == "ms" && kindOf([]byte(words[5+i])) != notNumber:
			row.jitter = number([]byte(words[5+i]))
		case isLoss && kindOf([]byte(lost)) == integer && kindOf([]byte(total)) == integer:
			row.lost, row.total = number([]byte(lost)), number([]byte(total))
		case w == "(omitted)":
			return row, false
		}
	}
	return row, true
}

// bitsScale returns by what a rate is to be multiplied to be 10^6 bits/s, 0 for another unit. iperf3's bytes are of 1,024.
func bitsScale(name string) float64 {
	switch name {
	case "bits/sec":
		return 1e-6
	case "Kbits/sec":
		return 1e-3
	case "Mbits/sec":
		return 1
	case "Gbits/sec":
		return 1e3
	case "Tbits/sec":
		return 1e6
	case "Bytes/sec":
		return 8e-6
	case "KBytes/sec":
		return 8e-6 * (1 << 10)
	case "MBytes/sec":
		return 8e-6 * (1 << 20)
	case "GBytes/sec":
		return 8e-6 * (1 << 30)
	}
	return 0
}

// runs makes the runs of what was read.
func (r *iperfText) runs() []Run {
	var runs []Run
	for i := range r.sides {
		if run, ok := r.run(i); ok {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 && !r.failed {
		name, text := "result-missing", "an output of iperf3 without rows"
		if r.cut {
			name, text = "cut-input", "the input ends at the beginning of an output of iperf3"
		}
		r.ledger.Add(name, source.Warning, r.begin, 1, text)
	}
	return runs
}

func (r *iperfText) run(i int) (Run, bool) {
	side := &r.sides[i]
	run := Run{Pos: r.begin, Group: r.begin.Offset, Tool: "iperf3", Test: "TCP", Host: r.host, Unit: megabits, Interim: side.interim.points}
	if r.protocol != "" {
		run.Test = r.protocol
	}
	if r.reverse != (i == 1) {
		run.Direction = "reverse"
	}
	run.Streams = max(1, len(r.streams))
	if r.sides[0].sent != nil && r.sides[1].sent != nil {
		run.Streams = max(1, len(r.streams)/2)
	}
	if !r.parallel {
		run.Interim = side.single.points
	}
	row := side.received
	switch {
	case row == nil && side.sent != nil:
		row = side.sent
		run.Settings = append(run.Settings, Setting{"figure", "sender"})
	case row == nil && len(run.Interim) > 0:
		partial := series{points: run.Interim}
		run.Rate, run.Seconds = partial.mean()
		run.Partial = true
		name := "result-missing"
		if r.cut {
			name = "cut-input"
		}
		r.ledger.Add(name, source.Warning, r.begin, 1, "intervals without the row of the receiver; their mean stands for it")
		return run, true
	case row == nil:
		return run, false
	}
	run.Pos, run.Rate, run.Seconds = row.pos, row.rate, row.to-row.from
	if side.sent != nil {
		run.Details = append(run.Details, Detail{"sent_megabits_per_second", side.sent.rate})
	}
	if row.lost >= 0 {
		run.Test = "UDP"
		run.Receipt = &Receipt{SentMessages: int64(row.total), ReceivedMessages: int64(max(0, row.total-row.lost)), Rate: row.rate, Seconds: run.Seconds}
		run.Details = append(run.Details, Detail{"lost_packets", row.lost})
		if row.jitter >= 0 && row.jitter <= maxJitterMillis {
			run.Details = append(run.Details, Detail{"jitter_ms", row.jitter})
		}
	}
	return run, true
}

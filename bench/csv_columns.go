package bench

import (
	"slices"
	"strings"
)

// columnRole is what a column of a table holds.
type columnRole uint8

const (
	conditionColumn columnRole = iota // a number that is none of the following
	labelColumn                       // words
	sizeColumn                        // bytes of one request, response or message
	streamsColumn                     // how many send at a time
	secondsColumn                     // length of the run
	orderColumn                       // a counter, or a time of day: passed over
	figureColumn                      // what was measured
	utilColumn                        // CPU utilisation
	costColumn                        // CPU time for each KB or transaction
	variantColumn                     // a column of a wide table
)

// tableColumn is one column of a table.
type tableColumn struct {
	name   string
	role   columnRole
	axis   axis   // of a size
	unit   string // of a figure or cost
	figure string // name without the unit
	side   int    // of a cost: 0 local, 1 remote
}

// columnOf tells by its name what a column of numbers holds:
//
//	message_bytes, request_size    size (one of both words; "message" where neither request nor response is named)
//	threads, num_netperf           streams
//	elapsed_s, duration            length of the run
//	n, run, time, date             order
//	local_us_per_KB                cost; local_cpu_pct: utilisation
//	trans_per_s, rate, latency_us  figure
func columnOf(name string) tableColumn {
	words := nameWords(name)
	c := tableColumn{name: name}
	has := func(any ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, strings.ToLower(w)) })
	}
	if has("remote", "recv", "receiver", "rmt") {
		c.side = 1
	}
	at := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, "per") })
	if cut := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "/") }); at < 0 && cut >= 0 {
		left, right, _ := strings.Cut(words[cut], "/")
		words = append(append(slices.Clone(words[:cut]), left, "per", right), words[cut+1:]...)
		at = cut + 1
	}
	switch {
	case at > 0 && at+1 < len(words):
		c.unit = perUnit(words[at-1], words[at+1])
		c.figure = strings.Join(words[:at-1], " ")
		c.role = figureColumn
		if c.figure == "" && strings.HasSuffix(c.unit, "/s") {
			c.figure = "rate"
		}
		if strings.HasPrefix(c.unit, "us/") {
			c.role = costColumn
		}
	case has("cpu") && has("pct", "percent", "util", "%"):
		c.role = utilColumn
	case has("socket", "sockbuf"):
	case has("bytes", "size", "length", "len"):
		c.role, c.axis = sizeColumn, sizeAxis(has)
	case has("netperf", "netperfs", "iperf", "uperf", "threads", "thread", "senders", "streams", "connections", "clients", "copies", "procs", "processes", "flows", "parallel", "workers", "jobs"):
		c.role = streamsColumn
	case has("elapsed", "duration", "seconds", "secs", "interval"):
		c.role = secondsColumn
	case len(words) == 1 && has("n", "i", "no", "run", "iteration", "index", "time", "date", "timestamp"), has("order", "unix", "timestamp"):
		c.role = orderColumn
	default:
		c.unit, c.figure = wordUnit(words)
		if c.unit != "" || has("rate", "throughput", "latency", "rtt", "bandwidth", "value", "result", "score", "goodput") {
			c.role = figureColumn
			if c.figure == "" {
				c.figure = strings.Join(words, " ")
			}
		}
	}
	return c
}

func sizeAxis(has func(...string) bool) axis {
	switch {
	case has("request", "req"):
		return requestAxis
	case has("response", "resp"):
		return responseAxis
	}
	return messageAxis
}

// size enters a size.
func (c *tableColumn) size(s *Sizes, bytes int64) { *c.axis.in(s) = max(0, bytes) }

// nameWords splits "throughput_Mbit_per_s" and "Throughput (Mbit/s)".
func nameWords(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool {
		return r == '_' || r == ' ' || r == '-' || r == '(' || r == ')' || r == '[' || r == ']' || r == '.' || r == ':'
	})
}

// perUnit spells "trans per s" as the importers of outputs do.
func perUnit(of, per string) string {
	switch strings.ToLower(per) {
	case "s", "sec", "second":
		return rateOf(of)
	}
	switch {
	case of == "us" && strings.HasPrefix(strings.ToLower(per), "tran"), of == "us" && strings.EqualFold(per, "tr"):
		return "us/transaction"
	}
	return of + "/" + per
}

// rateOf is the unit of what is counted each second. Bits and bytes are told apart by the letter's case.
func rateOf(of string) string {
	switch of {
	case "Mb", "Mbit", "Mbits", "mbit", "mbits":
		return megabits
	case "Gb", "Gbit", "Gbits", "gbit", "gbits":
		return "10^9 bits/s"
	case "Kb", "kb", "Kbit", "kbit", "kbits":
		return "10^3 bits/s"
	case "bit", "bits":
		return "bits/s"
	case "KBytes", "MBytes", "GBytes": // as netperf spells its powers of 1,024; what GB means nothing tells
		return of + "/s"
	}
	switch lower := strings.ToLower(of); {
	case strings.HasPrefix(lower, "trans"):
		return transactions
	case lower == "op", lower == "ops", strings.HasPrefix(lower, "operation"):
		return operationsUnit
	case strings.HasPrefix(lower, "packet"), lower == "pkts", lower == "pkt":
		return "packets/s"
	}
	return of + "/s"
}

// wordUnit knows units that are one word, and returns the name without it.
func wordUnit(words []string) (name, figure string) {
	if len(words) == 0 {
		return "", ""
	}
	last := len(words) - 1
	switch strings.ToLower(words[last]) {
	case "pps":
		name = "packets/s"
	case "mbps":
		name = megabits
	case "gbps":
		name = "10^9 bits/s"
	case "kbps":
		name = "10^3 bits/s"
	case "bps":
		name = "bits/s"
	case "tps":
		name = transactions
	case "us", "usec", "ms", "ns":
		measured := func(w string) bool {
			return slices.Contains([]string{"latency", "rtt", "delay", "time", "mean", "median", "p50", "p90", "p99", "max", "min"}, strings.ToLower(w))
		}
		if last > 0 && !slices.ContainsFunc(words, measured) { // rx_usecs is a setting
			return "", ""
		}
		name = strings.TrimSuffix(strings.ToLower(words[last]), "ec")
	default:
		return "", ""
	}
	return name, strings.Join(words[:last], " ")
}

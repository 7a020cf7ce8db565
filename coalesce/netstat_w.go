package coalesce

import (
	"bytes"
	"math"

	"nettrace/source"
	"nettrace/unit"
)

// FreeBSD netstat -w: what an interface, or all, received and sent in each interval.
//
//	            input        (Total)           output
//	   packets  errs idrops      bytes    packets  errs      bytes colls
//	      387k  983k     0        22M       387k     0        15M     0
//
// Written by FreeBSD (usr.bin/netstat/if.c, sidewaysintpr) with -I or without, -d adds drops, -h scales by 1000 with k, M
// and G, which leaves two or three digits. Heads come again every 21 lines. The length of the interval is not printed:
// the figures are those of one report, which is a second with -w 1.

// SniffTraffic recognises netstat -w by its two lines of heads.
func SniffTraffic(head []byte) source.Match {
	line, rest := firstLine(head)
	if trafficTitle(line) == nil {
		return source.No
	}
	if next, _ := firstLine(rest); isTrafficHead(next) {
		return source.Strong
	}
	return source.No
}

// trafficTitle returns what stands in brackets in "input (Total) output".
func trafficTitle(line []byte) []byte {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " "), []byte("input "))
	rest, out := bytes.CutSuffix(bytes.TrimRight(rest, " "), []byte("output"))
	name := bytes.TrimSpace(rest)
	if !ok || !out || len(name) == 0 || len(name) > 40 || bytes.IndexByte(name, ' ') >= 0 {
		return nil
	}
	return bytes.Trim(name, "()")
}

func isTrafficHead(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("packets ")) && bytes.Contains(line, []byte("errs"))
}

// ReadTraffic reads netstat -w.
func ReadTraffic(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "netstat-w", Pos: l.Pos()}
	if SniffTraffic(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no netstat -w begins here; \"input (IFACE) output\" and \"packets errs\" were expected"}
	}
	r := newReports("netstat-w")
	subject, columns := "", []string(nil)
	for l.Next() {
		line := l.Bytes()
		words := bytes.Fields(line)
		switch {
		case trafficTitle(line) != nil:
			if subject = string(trafficTitle(line)); subject == "Total" {
				subject = ""
			}
		case isTrafficHead(line):
			columns = trafficColumns(words)
		case len(words) != len(columns) || !digit(words[0][0]):
			if len(words) > 0 && !l.Complete() {
				cut(ledger, l.Pos(), "the input ends inside a line of netstat -w; it is left out")
			} else if len(words) > 0 {
				l.Back()
			}
			out.Reported = r.list
			return out, nil
		default:
			for k, w := range words {
				if v, ok := parseScaled(w); ok {
					r.add(subject, columns[k], "", v, l.Pos())
				}
			}
		}
	}
	out.Reported = r.list
	return out, nil
}

// trafficColumns names the columns: the second "packets" begins what was sent.
func trafficColumns(words [][]byte) []string {
	var names []string
	way, seen := "input ", false
	for _, w := range words {
		if string(w) == "packets" {
			if seen {
				way = "output "
			}
			seen = true
		}
		names = append(names, way+string(w))
	}
	return names
}

// parseScaled reads "387k", "22M", "1.4G".
func parseScaled(word []byte) (float64, bool) {
	power := 0
	if n := len(word); n > 1 {
		if power = unit.Prefix(word[n-1]); power > 0 {
			word = word[:n-1]
		}
	}
	v, ok := parseFloat(word)
	return v * math.Pow10(3*power), ok
}

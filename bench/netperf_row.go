package bench

import (
	"math"

	"nettrace/source"
)

// verdict is what a piece of grammar says to the words before it.
type verdict uint8

const (
	foreign verdict = iota // not mine
	taken                  // mine
	more                   // could be mine; the words after the line end decide
)

// shape returns the kinds of the leading numbers of words, 'i' and 'f', at most len(buf) of them.
func shape(words []word, buf []byte) string {
	n := 0
	for n < len(buf) && n < len(words) {
		switch kindOf(words[n].text) {
		case integer:
			buf[n] = 'i'
		case decimal:
			buf[n] = 'f'
		default:
			return string(buf[:n])
		}
		n++
	}
	return string(buf[:n])
}

// spans are where the parts of a result row are among its words.
type spans struct {
	cpu, peer, receipt bool
	n                  int
}

// fit tells whether numbers of the given shape begin with a result row of this layout. open says that the shape may go
// on behind a line end. No layout needs to know the line ends: a row of one begins with two integers, and its rate, the
// first decimal but one, is followed either by four decimals (CPU columns), or by integers.
func (l layout) fit(s string, open bool) (spans, verdict) {
	switch l {
	case layoutStream:
		return fitParts(s, open, "iiiff", "ffff")
	case layoutRR:
		sp, v := fitParts(s, open, "iiiiff", "ffff")
		if v != taken {
			return sp, v
		}
		return fitPeer(s, open, sp)
	case layoutUDPStream:
		return fitUDP(s, open)
	}
	return spans{}, foreign
}

// fitParts fits a row and its optional CPU columns.
func fitParts(s string, open bool, row, cpu string) (spans, verdict) {
	if len(s) < len(row) {
		return spans{}, unfinished(row[:len(s)] == s, open)
	}
	if s[:len(row)] != row {
		return spans{}, foreign
	}
	rest := s[len(row):]
	switch {
	case len(rest) >= len(cpu) && rest[:len(cpu)] == cpu:
		return spans{cpu: true, n: len(row) + len(cpu)}, taken
	case len(rest) < len(cpu) && rest == cpu[:len(rest)] && open:
		return spans{}, more
	case rest == "" || rest[0] == 'i':
		return spans{n: len(row)}, taken
	}
	return spans{}, foreign
}

func unfinished(prefix, open bool) verdict {
	if prefix && open {
		return more
	}
	return foreign
}

// fitPeer tells the peer's two sockets, which stand on a line of their own, from the four integers that begin the next
// row.
func fitPeer(s string, open bool, sp spans) (spans, verdict) {
	integers := 0
	rest := s[sp.n:]
	for integers < len(rest) && rest[integers] == 'i' {
		integers++
	}
	if integers == len(rest) && open && integers < 6 {
		return spans{}, more
	}
	if integers == 2 || integers == 3 || integers >= 6 {
		sp.peer, sp.n = true, sp.n+2
	}
	return sp, taken
}

func fitUDP(s string, open bool) (spans, verdict) {
	sp, v := fitParts(s, open, "iifiif", "ff")
	if v != taken {
		return sp, v
	}
	second := "ifif"
	if sp.cpu {
		second = "ififff"
	}
	rest := s[sp.n:]
	switch {
	case len(rest) >= len(second) && rest[:len(second)] == second:
		sp.receipt, sp.n = true, sp.n+len(second)
	case len(rest) < len(second) && rest == second[:len(rest)] && open:
		return spans{}, more
	}
	return sp, taken
}

// row takes one result row.
func (r *netperf) row(words []word) (int, verdict) {
	var buf [24]byte
	s := shape(words, buf[:])
	open := len(s) == len(words) && !r.final
	layout := layoutOf(r.about.test)
	if layout == layoutUnknown {
		layout = guessLayout(s)
	}
	sp, v := layout.fit(s, open)
	if v == more && !(open && len(s) < len(buf)) {
		v = foreign
	}
	if v != taken {
		return 0, v
	}
	words = words[:sp.n]
	if r.final && !r.lines.Complete() && !r.whole(words, sp, layout) {
		return 0, foreign
	}
	r.add(r.result(words, sp, layout))
	return sp.n, taken
}

// guessLayout names the layout of a row of which nothing tells the test.
func guessLayout(s string) layout {
	for _, l := range [...]layout{layoutRR, layoutUDPStream, layoutStream} {
		if _, v := l.fit(s, true); v != foreign {
			return l
		}
	}
	return layoutUnknown
}

// whole reports whether the last number of a row that ends the input without a line end is all there: netperf prints
// rates with two decimals (UDP_STREAM with CPU: one) and demands with three.
func (r *netperf) whole(words []word, sp spans, layout layout) bool {
	last := words[len(words)-1].text
	switch {
	case kindOf(last) == integer:
		return true
	case sp.cpu:
		return decimals(last) >= 3
	}
	return decimals(last) >= 2
}

// result makes a run of the words of a row.
func (r *netperf) result(words []word, sp spans, layout layout) Run {
	run := r.about.run()
	run.Pos = r.pos(words[0])
	run.Group = r.group
	run.Seconds = number(words[layout.rateAt()-1].text)
	switch layout {
	case layoutStream:
		run.Seconds = number(words[3].text)
		run.Sizes.Message = count(words[2].text)
		run.Sockets = Sockets{RemoteRecv: count(words[0].text), LocalSend: count(words[1].text)}
		if run.Test == "TCP_MAERTS" || run.Test == "SDP_MAERTS" {
			run.Sockets = Sockets{LocalRecv: count(words[0].text), RemoteSend: count(words[1].text)}
		}
	case layoutRR:
		run.Sizes.Request, run.Sizes.Response = count(words[2].text), count(words[3].text)
		run.Sockets = Sockets{LocalSend: count(words[0].text), LocalRecv: count(words[1].text)}
		if sp.peer && !(r.final && !r.lines.Complete()) {
			run.Sockets.RemoteSend, run.Sockets.RemoteRecv = count(words[sp.n-2].text), count(words[sp.n-1].text)
		}
	case layoutUDPStream:
		run.Seconds = number(words[2].text)
		run.Sizes.Message = count(words[1].text)
		run.Sockets.LocalSend = count(words[0].text)
		run.Receipt = receipt(words, sp)
		if sp.receipt {
			run.Sockets.RemoteRecv = count(words[sp.second()].text)
		}
	}
	run.Rate = number(words[layout.rateAt()].text)
	if sp.cpu {
		r.costs(&run, words, sp, layout)
	}
	return run
}

// rateAt is the index of the rate in a row.
func (l layout) rateAt() int {
	if l == layoutStream {
		return 4
	}
	return 5
}

// second is where the second line of a UDP_STREAM result begins.
func (s spans) second() int {
	if s.cpu {
		return 8
	}
	return 6
}

func receipt(words []word, sp spans) *Receipt {
	c := &Receipt{SentMessages: count(words[3].text), SendErrors: count(words[4].text)}
	if sp.receipt {
		i := sp.second()
		c.Seconds, c.ReceivedMessages, c.Rate = number(words[i+1].text), count(words[i+2].text), number(words[i+3].text)
	}
	return c
}

// costs reads the CPU columns.
func (r *netperf) costs(run *Run, words []word, sp spans, layout layout) {
	rate := words[layout.rateAt()].text
	util, demand := words[layout.rateAt()+1].text, words[layout.rateAt()+2].text
	if layout == layoutUDPStream {
		run.Local = cost(r.ledger, run, r.about.method, rate, util, demand)
		if i := sp.second(); sp.receipt {
			run.Remote = cost(r.ledger, run, r.about.method, words[i+3].text, words[i+4].text, words[i+5].text)
		}
		return
	}
	peer := words[layout.rateAt()+2].text
	demand = words[layout.rateAt()+3].text
	run.Local = cost(r.ledger, run, r.about.method, rate, util, demand)
	run.Remote = cost(r.ledger, run, r.about.method, rate, peer, words[layout.rateAt()+4].text)
}

// cost makes the cost of one side and checks it: demand = utilisation x CPUs / rate, so that a whole number of CPUs must
// come out. Negative values stand for "not measured".
func cost(ledger *source.Ledger, run *Run, method string, rate, util, demand []byte) *CPU {
	c := &CPU{UtilPercent: number(util), DemandMicros: number(demand), DemandPer: "KB", Method: method}
	if c.UtilPercent < 0 || c.DemandMicros < 0 {
		return nil
	}
	if layoutOf(run.Test) == layoutRR || run.Unit == transactions {
		c.DemandPer = "transaction"
	}
	per := perSecond(run.Unit)
	if per == 0 || c.UtilPercent == 0 {
		return c
	}
	implied := c.DemandMicros * number(rate) * per / (c.UtilPercent * 1e4)
	slack := rounding(rate) + rounding(util) + rounding(demand) + demandSlack
	whole := math.Round(implied)
	if whole < 1 || math.Abs(implied-whole) > slack*implied {
		ledger.Add("service-demand-identity", source.Note, run.Pos, 1,
			"utilisation, service demand and rate do not belong together (averaged iterations do not; nor does the receiver of UDP_STREAM); they are kept as printed")
		return c
	}
	c.CPUs = int(min(whole, 1<<20))
	return c
}

// demandSlack is how far the identity may be off beyond rounding: netperf measures the time of the CPU counters and that
// of the rate apart; the 24 published values of the SDP thread agree within 0.2 %.
const demandSlack = 0.01

// perSecond is how many units of demand (KB of 1,024 bytes, or transactions) a rate of 1 moves in a second.
func perSecond(rateUnit string) float64 {
	switch rateUnit {
	case transactions, "KBytes/s":
		return 1
	case "10^6 bits/s":
		return 1e6 / 8 / 1024
	case "10^3 bits/s":
		return 1e3 / 8 / 1024
	case "10^9 bits/s":
		return 1e9 / 8 / 1024
	case "bytes/s":
		return 1.0 / 1024
	case "MBytes/s":
		return 1024
	case "GBytes/s":
		return 1024 * 1024
	}
	return 0
}

// rounding is the relative error that the digits of a printed number leave.
func rounding(text []byte) float64 {
	v := math.Abs(number(text))
	if v == 0 {
		return 1
	}
	return 0.5 * math.Pow10(-decimals(text)) / v
}

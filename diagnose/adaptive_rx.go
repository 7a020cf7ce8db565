package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/tcp"
	"nettrace/unit"
)

// adaptiveRX finds request/response traffic that a driver's adaptive interrupt moderation takes for bulk traffic because
// a request is a few bytes longer than a multiple of the MSS.
func adaptiveRX() rule {
	return rule{adaptiveRXRule(), diagnoseAdaptiveRX}
}

func adaptiveRXRule() finding.Rule {
	return finding.Rule{
		Name:  "cross/adaptive-rx",
		Title: "adaptive interrupt moderation takes request/response traffic for bulk traffic and delays every request",
		Method: "Four things have to come together. A transaction rate falls off from one size to the next (bench/cliff). The larger size is a multiple of the MSS and a small rest, so that the rest is a packet of its own: " +
			"seen in a capture (tcp/tso-split, tcp/just-over-mss, or the packets of each exchange), or computed from the size. Adaptive moderation of receive interrupts is on, with a value for high rates that is long against a transaction. " +
			"And packets received and sent are on or over the ratio of 3 to 2 from which the driver assumes bulk traffic: counted by the interface (nic/adaptive-unbalanced), in the capture, or computed from the size. " +
			"Settings and a cliff that the sizes explain are required; each further piece raises the confidence. The time that a transaction became longer must be of the size of the setting: one to two delayed arrivals." + maxApartMethod,
		Params: []finding.Param{
			{Name: "min-delays", Default: 0.5, Unit: "", Doc: "least number of times the high setting that a transaction became longer by; measured in the thread: 1.5 times 128 us, 1.3 times 64 us"},
			{Name: "max-delays", Default: 4, Unit: "", Doc: "most times the high setting: two arrivals on each of two hosts"},
			{Name: "max-rest", Default: 0.125, Unit: "ratio", Doc: "largest rest, in parts of the MSS, that counts as a small tail of a request"},
			apartParam(),
		},
		FalsePositives: "An application that pauses at the same size looks alike; a capture on the server shows the pause between request and response, and fixed moderation does not take it away. " +
			"Delayed ACKs and Nagle's algorithm cost 40 ms or a round trip, not the value of rx-usecs-high. Drivers with other adaptive rules (net_dim, Intel's ITR) switch at other rates; the cliff is then elsewhere.",
		References: []string{
			"netdev, July 2011: Just one more byte, it is wafer thin",
			"Linux 2.6.38, drivers/net/mlx4/en_netdev.c, mlx4_en_auto_moderation",
			"ethtool(8), options -c and -C",
		},
	}
}

// adaptive is an interface with adaptive receive moderation.
type adaptive struct {
	host *coalesce.Host
	nic  *coalesce.Interface
	on   coalesce.Setting
	high coalesce.Setting // rx-usecs-high
}

// clue is the setting as a fact that ties like a finding.
func (a *adaptive) clue() clue {
	return clue{Subject: finding.Subject{Kind: "interface", Key: a.nic.Name}, Evidence: []finding.Evidence{finding.At(a.on.Pos, "adaptive-rx %s", a.on.Value), finding.At(a.high.Pos, "rx-usecs-high %s", a.high.Value)}}
}

// delay is how long an arrival may wait at the high setting.
func (a *adaptive) delay() unit.Nanos {
	n, _ := a.high.Value.Number()
	return unit.Nanos(min(n, 1e6)) * unit.Microsecond
}

// key names the interface in the same way from run to run.
func (a *adaptive) key() string { return "interface/" + a.nic.Name }

// fixedUsecs is the fixed value to advise: rx-usecs as it is set, unless that is long itself.
func (a *adaptive) fixedUsecs() uint64 {
	const usual = 16 // mlx4_en's default
	s, _ := a.nic.Setting("ethtool-c", "rx-usecs")
	if n, known := s.Value.Number(); known && n > 0 && n <= 2*usual {
		return n
	}
	return usual
}

// cliff is a fall of a transaction rate between two sizes.
type cliff struct {
	finding         *finding.Finding
	sizes           [2]int64
	rates           [2]float64
	mss, full, rest int64 // the larger size is full segments of mss bytes and the rest
}

// longer is how much longer a transaction takes.
func (c *cliff) longer() unit.Nanos { return unit.FromSeconds(1/c.rates[1] - 1/c.rates[0]) }

// ratio returns the packets received and sent for each transaction at the server: the segments of the request, against
// a pure ACK and the response.
func (c *cliff) ratio() (received, sent int64) { return c.full + 1, 2 }

// bulk is mlx4's test for bulk traffic: 2 x received > 3 x sent.
func bulk(received, sent int64) bool { return 2*received > 3*sent }

func diagnoseAdaptiveRX(r *analyze.Result, p finding.Params) []diagnosis {
	var found []diagnosis
	all := &told{result: r, params: p, places: newPlaces(r)}
	for _, a := range adaptives(r) {
		l := all.linksTo(a.clue())
		cliffs := explainable(l, &a)
		if len(cliffs) == 0 {
			continue
		}
		found = append(found, diagnosisOf(l, &a, cliffs))
	}
	return found
}

// adaptives returns the interfaces whose adaptive receive moderation is on and can delay.
func adaptives(r *analyze.Result) []adaptive {
	var list []adaptive
	for _, h := range r.Models.Hosts {
		for _, nic := range h.Interfaces {
			on, _ := nic.Setting("ethtool-c", "adaptive-rx")
			high, _ := nic.Setting("ethtool-c", "rx-usecs-high")
			if n, known := high.Value.Number(); on.Value.On() && known && n > 0 {
				list = append(list, adaptive{h, nic, on, high})
			}
		}
	}
	return list
}

// explainable returns the cliffs that the setting explains, the worst first.
func explainable(l *links, a *adaptive) []cliff {
	var list []cliff
	r, p := l.result, l.params
	for i := range r.Findings {
		c, ok := readCliff(&r.Findings[i], r.Models.Captures, p)
		if !ok || bulk(c.full, 2) || !bulk(c.ratio()) || !l.tie(c.finding) {
			continue
		}
		delays := float64(c.longer()) / float64(a.delay())
		if delays >= p["min-delays"] && delays <= p["max-delays"] {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(x, y cliff) int {
		return int(math.Copysign(1, x.rates[1]/x.rates[0]-y.rates[1]/y.rates[0]))
	})
	return list
}

// readCliff takes the numbers out of a bench/cliff of transactions whose larger size is a few bytes over a multiple of an MSS:
// that of a captured connection if there is one, else the one that the sizes suggest.
func readCliff(f *finding.Finding, captures []*tcp.Capture, p finding.Params) (cliff, bool) {
	c := cliff{finding: f}
	for name, to := range map[string]*float64{"rate_before": &c.rates[0], "rate_after": &c.rates[1]} {
		*to, _ = f.Measure(name)
	}
	before, _ := f.Measure("size_before")
	after, known := f.Measure("size_after")
	if f.Rule != "bench/cliff" || !known || !transactions(f) || c.rates[0] <= 0 || c.rates[1] <= 0 {
		return c, false
	}
	c.sizes = [2]int64{int64(before), int64(after)}
	suggested, _ := f.Measure("mss")
	for _, mss := range append(effectiveMSSs(captures), int64(suggested)) {
		if mss <= 0 || c.sizes[1] <= mss {
			continue
		}
		full, rest := c.sizes[1]/mss, c.sizes[1]%mss
		if rest > 0 && float64(rest) <= p["max-rest"]*float64(mss) && (c.sizes[0]+mss-1)/mss == full {
			c.mss, c.full, c.rest = mss, full, rest
			return c, true
		}
	}
	return c, false
}

func transactions(f *finding.Finding) bool {
	return slices.ContainsFunc(f.Measures, func(m finding.Measure) bool { return m.Name == "rate_after" && m.Unit == "transactions/s" })
}

// effectiveMSSs returns the effective MSSs of captured data, each once, in ascending order.
func effectiveMSSs(captures []*tcp.Capture) []int64 {
	var list []int64
	for _, c := range captures {
		for i := range c.Connections {
			for d := range c.Connections[i].Directions {
				if dir := &c.Connections[i].Directions[d]; dir.DataPackets > 0 && dir.MSSSource != tcp.MSSAssumed {
					list = append(list, int64(dir.EffectiveMSS))
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// diagnosisOf puts the pieces together.
func diagnosisOf(l *links, a *adaptive, cliffs []cliff) diagnosis {
	worst := &cliffs[0]
	packets := capturedPackets(l, worst)
	counters := countedRatio(l)
	d := diagnosis{cause: finding.Finding{
		Severity:   finding.Warning,
		Confidence: finding.Medium,
		Effect:     finding.Effect{Share: 1 - worst.rates[1]/worst.rates[0], Lost: worst.finding.Effect.Lost},
		Subject:    finding.Subject{Kind: "interface", Key: a.key(), Name: interfaceName(a.nic.Name) + driver(a.nic)},
		Summary: fmt.Sprintf("adaptive interrupt moderation delays each request that is %s over %d MSS: %s to %s transactions/s from %s to %s bytes (-%s)", amount(worst.rest), worst.full,
			unit.Number(worst.rates[0]), unit.Number(worst.rates[1]), unit.Count(worst.sizes[0]), unit.Count(worst.sizes[1]), unit.Percent(1-worst.rates[1]/worst.rates[0])),
		Measures: measures(a, worst, l.params),
		Advice:   adaptiveAdvice(a, worst),
		Caveats: []string{"an application that pauses at this size would look alike: a capture on the server then shows a gap between request and response that stays with adaptive-rx off",
			"which form of the rule the driver has is not recorded; the older one looks at both directions, that of Linux 2.6.38 only at received packets"},
	}}
	f := &d.cause
	if f.Effect.Share >= 0.5 {
		f.Severity = finding.Critical
	}
	f.Reasons = append(f.Reasons, arithmetic(a, worst))
	f.Reasons = append(f.Reasons, fmt.Sprintf("a transaction takes %s longer, %.1f times rx-usecs-high", worst.longer(), float64(worst.longer())/float64(a.delay())))
	for _, c := range cliffs {
		f.Evidence = append(f.Evidence, c.finding.Evidence...)
		d.symptoms = append(d.symptoms, c.finding.ID)
	}
	f.Evidence = append(f.Evidence, l.to.Evidence...)
	f.Evidence = append(f.Evidence, packets.evidence...)
	f.Evidence = append(f.Evidence, counters.evidence...)
	f.Reasons = append(f.Reasons, missing(packets, counters)...)
	if gap := l.apart(f.Evidence); gap > clockSlack {
		f.Reasons = append(f.Reasons, apartReason(gap))
	} else if packets.found() && counters.found() {
		f.Confidence = finding.High
	}
	d.symptoms = append(d.symptoms, packets.findings...)
	d.symptoms = append(d.symptoms, counters.findings...)
	d.symptoms = append(d.symptoms, flapping(l, worst)...)
	return d
}

// amount says how many bytes, "one byte" for the story's case.
func amount(n int64) string {
	if n == 1 {
		return "one byte"
	}
	return unit.Count(n) + " bytes"
}

func driver(nic *coalesce.Interface) string {
	if nic.Driver == nil {
		return ""
	}
	return " (" + strings.TrimSpace(nic.Driver.Name+" "+nic.Driver.Version) + ")"
}

// arithmetic explains why the driver sees bulk traffic.
func arithmetic(a *adaptive, c *cliff) string {
	received, sent := c.ratio()
	text := fmt.Sprintf("%s = %d x %s + %s: the rest is a packet of its own, so that each transaction has %d packets in for %d out (the ACK and the response), which counts as bulk traffic (2 x %d > 3 x %d); adaptive-rx then applies rx-usecs-high = %s us",
		unit.Count(c.sizes[1]), c.full, unit.Count(c.mss), unit.Count(c.rest), received, sent, received, sent, a.high.Value)
	if 2*c.full == 3*sent {
		text += fmt.Sprintf("; at %s bytes the %d for %d packets are exactly on the threshold, where each sample decides anew", unit.Count(c.sizes[0]), c.full, sent)
	}
	return text
}

func measures(a *adaptive, c *cliff, p finding.Params) []finding.Measure {
	received, sent := c.ratio()
	return []finding.Measure{
		{Name: "rate_before", Value: c.rates[0], Unit: "transactions/s"},
		{Name: "rate_after", Value: c.rates[1], Unit: "transactions/s"},
		{Name: "size_before", Value: float64(c.sizes[0]), Unit: "bytes"},
		{Name: "size_after", Value: float64(c.sizes[1]), Unit: "bytes"},
		{Name: "mss", Value: float64(c.mss), Unit: "bytes"},
		{Name: "packets_in_per_transaction", Value: float64(received), Unit: "packets", Threshold: finding.Threshold(1.5 * float64(sent))},
		{Name: "packets_out_per_transaction", Value: float64(sent), Unit: "packets"},
		{Name: "rx_usecs_high", Value: float64(a.delay()), Unit: "ns"},
		{Name: "delays_per_transaction", Value: float64(c.longer()) / float64(a.delay()), Threshold: finding.Threshold(p["min-delays"])},
	}
}

func adaptiveAdvice(a *adaptive, c *cliff) []finding.Advice {
	iface := interfaceOr(a.nic.Name)
	return []finding.Advice{
		{Text: fmt.Sprintf("ethtool -C %s adaptive-rx off rx-usecs %d on both hosts", iface, a.fixedUsecs()), Reference: "ethtool(8); in the thread this brings 10,460 instead of 3,407 transactions/s"},
		{Text: fmt.Sprintf("or keep requests at %s bytes or fewer", unit.Count(c.full*c.mss)), Reference: "RFC 6691"},
		{Text: fmt.Sprintf("to check: ethtool -C %s rx-usecs-high %d must shorten a transaction of %s bytes, and change little at %s", iface, a.delay()/unit.Microsecond/2, unit.Count(c.sizes[1]), unit.Count(c.full*c.mss)), Reference: "cross/adaptive-rx"},
	}
}

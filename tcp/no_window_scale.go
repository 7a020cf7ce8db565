package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// NoWindowScale finds bulk transfers whose window cannot grow beyond 64 KiB.
func NoWindowScale() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/no-window-scale",
			Title: "window scaling is not in use",
			Method: "Both SYN packets were captured with all of their options, and one of them has no window scale, so that no window is above 65,535 bytes (RFC 7323 section 2.2); and one direction carried more than that. " +
				"The rate is then at most 65,535 bytes per round trip. It is info unless the window was full for a part of the time.",
			Params: []finding.Param{
				{Name: "notice-time", Default: 0.05, Unit: "ratio", Doc: "part of the time with a full window from which the finding is a notice; own choice"},
				{Name: "warning-time", Default: 0.50, Unit: "ratio", Doc: "and a warning: most of the time"},
			},
			FalsePositives: "A middlebox that strips the option from one SYN behind the capture makes both ends believe different scales: then the capture at the other end differs. Nothing is said of connections whose SYN packets are not in the capture.",
			References:     []string{"RFC 7323 sections 1.1 and 2.2", "tcp(7) tcp_window_scaling"},
		},
		Judge: perServer(byCut, judgeNoWindowScale),
	}
}

func judgeNoWindowScale(s *trial) (f finding.Finding, ok bool) {
	n := s.Openings.Unscaled
	if n == 0 {
		return f, false
	}
	var roundTrip, full unit.Nanos
	for _, k := range s.connections() {
		if k.Opening.Unscaled > 0 && (roundTrip == 0 || k.RoundTrip < roundTrip) {
			roundTrip = k.RoundTrip
		}
	}
	for i := range s.Directions {
		full += s.Directions[i].Waits.WindowFullTime
	}
	part := min(1, share(full, s.End-s.Start))
	f.Effect = finding.Effect{Share: part, Lost: full}
	f.Severity = graded(part, s.params["notice-time"], s.params["warning-time"])
	f.Confidence, f.Reasons = finding.High, []string{"both SYN packets were captured with all of their options"}
	f.Summary = fmt.Sprintf("%s without window scaling: no window above 65,535 bytes", count(n, "bulk connection"))
	f.Measures = []finding.Measure{
		{Name: "connections", Value: float64(n), Unit: "connections"},
		{Name: "window_full_share", Value: part, Unit: "ratio", Threshold: finding.Threshold(s.params["notice-time"])},
	}
	if roundTrip > 0 {
		rate := unscaledWindow / roundTrip.Seconds()
		f.Summary += fmt.Sprintf(", at %v round trip at most %s/s", roundTrip, unit.Bytes(int64(rate)))
		f.Measures = append(f.Measures, finding.Measure{Name: "rate_limit", Value: rate, Unit: "bytes/s"})
	}
	f.Evidence = s.examples(func(k *Connection) (source.Pos, string) {
		without := ""
		for i, offer := range k.Handshake.Ends {
			if offer.Scale < 0 {
				without = join(without, endNames[i])
			}
		}
		if k.Opening.Unscaled == 0 {
			without = ""
		} else {
			without = "the SYN of the " + without + " has no window scale"
		}
		return k.first(), without
	})
	f.Advice = []finding.Advice{
		{Text: "turn it on at both ends (sysctl net.ipv4.tcp_window_scaling=1), and look for a middlebox that strips the option", Reference: "tcp(7) tcp_window_scaling; RFC 7323"},
		s.show("tcp.flags.syn == 1 && !tcp.options.wscale"),
	}
	return f, true
}

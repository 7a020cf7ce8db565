package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// Timeout finds silences that only the retransmission timer ended.
func Timeout() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:   "tcp/timeout",
			Title:  "the retransmission timer ended a silence",
			Method: "A timeout is a retransmission of the first unacknowledged byte after at least 200 ms without data from this end. Time lost is that silence. Repeated SYN packets are tcp/handshake's, probes of a closed window tcp/zero-window's.",
			Params: []finding.Param{
				{Name: "warning-time", Default: 0.01, Unit: "ratio", Doc: "part of the time of the connections from which the finding is a warning; own choice"},
			},
			FalsePositives: "Shorter timers (a tail-loss probe, a minimum set below 200 ms with ip route ... rto_min) are not counted. Seen at the receiver or on the way, a retransmission that was lost too makes one long silence of several timeouts, and a flight that was lost whole looks like a pause of the sender. " +
				"tshark has no such mark; tcptrace counts only in its own way (-l: rtt from 3WHS, triple dupacks).",
			References: []string{"RFC 6298", "Linux include/net/tcp.h: TCP_RTO_MIN (HZ/5)", "RFC 8985 (tail-loss probe)"},
		},
		Judge: perServer(byClock|byLoss, judgeTimeout),
	}
}

func judgeTimeout(s *trial) (f finding.Finding, ok bool) {
	var sum Loss
	sender := ""
	for dir := range s.Directions {
		if l := s.Directions[dir].Loss; l.Timeouts > 0 {
			sum.add(&l)
			sender = join(sender, senders[dir])
			f.Evidence = append(f.Evidence, s.evidence(dir, timeoutText, timeout)...)
		}
	}
	if sum.Timeouts == 0 {
		return f, false
	}
	f.Effect = finding.Effect{Lost: sum.TimeoutTime, Share: min(1, share(sum.TimeoutTime, s.End-s.Start))}
	f.Severity = graded(f.Effect.Share, 0, s.params["warning-time"])
	f.Confidence, f.Reasons = s.order()
	f.Summary = fmt.Sprintf("the %s ran into %s, silent for %v in all", sender, count(sum.Timeouts, "retransmission timeout"), sum.TimeoutTime)
	f.Measures = []finding.Measure{
		{Name: "timeouts", Value: float64(sum.Timeouts), Unit: "timeouts"},
		{Name: "time_lost", Value: float64(sum.TimeoutTime), Unit: "ns"},
		{Name: "time_share", Value: f.Effect.Share, Unit: "ratio", Threshold: finding.Threshold(s.params["warning-time"])},
	}
	f.Advice = []finding.Advice{
		{Text: "a timeout means that too little came back for fast recovery: the end of a message or a whole flight was lost, or ACKs were; find the loss (tcp/retransmission), and see that SACK and tail-loss probes are on: sysctl net.ipv4.tcp_sack net.ipv4.tcp_early_retrans", Reference: "RFC 8985; ip-sysctl"},
		{Text: "within one site, a shorter minimum helps: ip route change ... rto_min 20ms", Reference: "ip-route(8)"},
		s.show("tcp.analysis.retransmission"),
	}
	return f, true
}

func timeoutText(_ *Connection, e *Event) string {
	return fmt.Sprintf("sends the first unacknowledged byte again after %v of silence", unit.Nanos(e.Value))
}

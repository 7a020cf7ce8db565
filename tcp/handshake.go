package tcp

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// SlowHandshake finds connections that took long to begin, or did not.
func SlowHandshake() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/handshake",
			Title: "connections begin late, or not at all",
			Method: "SYN and SYN-ACK packets that came again with the same number are repeated. A handshake is slow if it took at least 100 ms and more than four times the shortest round trip that its own data shows, without a repetition. " +
				"A SYN that had no answer for a second until the capture ended is unanswered. All ports of an address are judged together, so that a scan is one finding.",
			Params: []finding.Param{
				{Name: "warning-share", Default: 0.01, Unit: "ratio", Doc: "part of the connections that began late from which the finding is a warning; own choice. Below it is a notice"},
			},
			FalsePositives: "A capture of one direction, or one that drops packets, has no answers to show. A scan or a health check of a host that is down is unanswered by nature. The time that a repeated SYN costs is nearly all the timer's (1, 3, 7 s), not the path's.",
			References:     []string{"RFC 9293 section 3.5", "RFC 6298 section 2 (1 s)", "Linux net/ipv4/tcp_input.c: tcp_conn_request (SYN queue, tcp_max_syn_backlog)", "listen(2)"},
		},
		Judge: perHost(byLoss|byClock, judgeHandshake),
	}
}

func judgeHandshake(s *trial) (f finding.Finding, ok bool) {
	o := &s.Openings
	late := o.Repeated + o.Slow
	if late+o.Unanswered == 0 {
		return f, false
	}
	part := share(late, s.Connections)
	f.Severity = finding.Notice
	if late > 0 && part >= s.params["warning-share"] { // where nobody answers at all there is no service to make fast
		f.Severity = finding.Warning
	}
	f.Effect = finding.Effect{Lost: o.TimeLost}
	f.Confidence, f.Reasons = finding.High, []string{"SYN packets with equal numbers are repetitions"}
	var parts []string
	for _, p := range []struct {
		n    int64
		text string
	}{{o.Repeated, fmt.Sprintf("on %s SYN packets were sent again (%s)", count(o.Repeated, "connection"), count(o.RepeatedSYNs, "repetition"))}, {o.Slow, fmt.Sprintf("%s took far longer than the round trip", count(o.Slow, "handshake"))}, {o.Unanswered, count(o.Unanswered, "SYN") + " had no answer"}} {
		if p.n > 0 {
			parts = append(parts, p.text)
		}
	}
	f.Summary = fmt.Sprintf("of %s: %s", count(s.Connections, "connection"), strings.Join(parts, ", "))
	if o.TimeLost > 0 {
		f.Summary += fmt.Sprintf("; %v lost before the first data", o.TimeLost)
	}
	f.Measures = []finding.Measure{
		{Name: "repeated_syns", Value: float64(o.RepeatedSYNs), Unit: "packets"},
		{Name: "slow_handshakes", Value: float64(o.Slow), Unit: "connections"},
		{Name: "unanswered", Value: float64(o.Unanswered), Unit: "connections"},
		{Name: "time_lost", Value: float64(o.TimeLost), Unit: "ns"},
		{Name: "late_share", Value: part, Unit: "ratio", Threshold: finding.Threshold(s.params["warning-share"])},
	}
	f.Evidence = s.examples(handshakeText)
	f.Advice = []finding.Advice{
		{Text: "on the server: nstat -az TcpExtListenOverflows TcpExtListenDrops TcpExtTCPReqQFullDrop; ss -ltn (Recv-Q against Send-Q); then raise the backlog of listen() and net.core.somaxconn", Reference: "listen(2), ss(8), nstat(8)"},
		{Text: "on the way: look for a firewall or a conntrack table that drops SYN packets: conntrack -S, nft list ruleset", Reference: "conntrack(8)"},
		s.show("tcp.flags.syn == 1"),
	}
	return f, true
}

func handshakeText(k *Connection) (source.Pos, string) {
	o := &k.Opening
	switch {
	case o.Unanswered > 0 && o.Repeated > 0:
		return k.first(), fmt.Sprintf("SYN, sent again %s, never answered", times(o.RepeatedSYNs))
	case o.Unanswered > 0:
		return k.first(), "SYN, never answered"
	case o.Repeated > 0:
		return k.first(), fmt.Sprintf("SYN or SYN-ACK sent again %s, %v lost", times(o.RepeatedSYNs), o.TimeLost)
	case o.Slow > 0:
		return k.first(), fmt.Sprintf("the handshake took %v longer than a round trip", unit.Nanos(o.TimeLost))
	}
	return source.Pos{}, ""
}

package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// KeepAliveOnly finds connections that are mostly silence, kept alive by probes.
func KeepAliveOnly() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:           "tcp/keepalive-only",
			Title:          "the connection is idle, and kept alive by probes",
			Method:         "A keep-alive has no byte, or one, below the next sequence number while all data is acknowledged. Reported are connections with at least three of them, and at least as many as data packets. The silences before them are idle time, neither loss nor stalls: nothing was in flight.",
			FalsePositives: "tshark marks keep-alives in the same way; older tools count them as retransmissions, and the byte of the old kind as data.",
			References:     []string{"RFC 9293 section 3.8.4", "tcp(7) tcp_keepalive_time"},
		},
		Judge: perServer(byLoss, judgeKeepAliveOnly),
	}
}

func judgeKeepAliveOnly(s *trial) (f finding.Finding, ok bool) {
	if s.Openings.KeptAlive == 0 {
		return f, false
	}
	var probes, data int64
	var quiet unit.Nanos
	for dir := range s.Directions {
		d := &s.Directions[dir]
		probes, data, quiet = probes+d.KeepAlives, data+d.DataPackets, quiet+d.Waits.KeepAliveTime
		f.Evidence = append(f.Evidence, s.evidence(dir, keepAliveText, keepAlive)...)
	}
	f.Confidence, f.Reasons = finding.High, []string{"nothing was in flight when the probes were sent"}
	f.Summary = fmt.Sprintf("%s idle: %s in %v of silence, %s", count(s.Openings.KeptAlive, "connection"), count(probes, "keep-alive"), quiet, count(data, "data packet"))
	f.Measures = []finding.Measure{
		{Name: "keep_alives", Value: float64(probes), Unit: "packets"},
		{Name: "idle_time", Value: float64(quiet), Unit: "ns"},
		{Name: "data_packets", Value: float64(data), Unit: "packets"},
	}
	f.Advice = []finding.Advice{
		{Text: "nothing to change, unless the probes are frequent for a reason that is gone: sysctl net.ipv4.tcp_keepalive_time, or TCP_KEEPIDLE of the socket", Reference: "tcp(7)"},
		s.show("tcp.analysis.keep_alive"),
	}
	return f, true
}

func keepAliveText(_ *Connection, e *Event) string {
	return fmt.Sprintf("keep-alive after %v of silence", unit.Nanos(e.Value))
}

package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// ZeroWindow finds receivers that close their window.
func ZeroWindow() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:   "tcp/zero-window",
			Title:  "the receiver closed its window",
			Method: "An episode lasts from the first packet of one end that offers a window of 0 to the next one that offers more, or to the end of the connection. SYN, FIN and RST packets do not count. Zero is zero under any window scale, so that no handshake is needed.",
			Params: []finding.Param{
				{Name: "notice-time", Default: 0.01, Unit: "ratio", Doc: "part of the time of the connections from which the finding is a notice; own choice"},
				{Name: "warning-time", Default: 0.10, Unit: "ratio", Doc: "and a warning; own choice"},
			},
			FalsePositives: "Whether the sender had more to send is not known: a window that is closed while nothing waits costs nothing. A reader that stops reading on purpose (flow control of an application) looks the same. " +
				"tshark marks each packet that offers 0 (zero_window); an episode may have many.",
			References: []string{"RFC 9293 section 3.8.6.1", "RFC 1122 section 4.2.2.17", "Linux net/ipv4/tcp_output.c: __tcp_select_window"},
		},
		Judge: perServer(byLoss|byClock, judgeZeroWindow),
	}
}

func judgeZeroWindow(s *trial) (f finding.Finding, ok bool) {
	var sum Waits
	receiver := ""
	for dir := range s.Directions {
		w := s.Directions[dir].Waits
		if w.ZeroWindowEpisodes > 0 {
			sum.add(&w)
			receiver = join(receiver, senders[1-dir])
			f.Evidence = append(f.Evidence, s.evidence(dir, zeroWindowText, zeroWindow)...)
		}
	}
	if sum.ZeroWindowEpisodes == 0 {
		return f, false
	}
	f.Effect = finding.Effect{Lost: sum.ZeroWindowTime, Share: min(1, share(sum.ZeroWindowTime, s.End-s.Start))}
	f.Severity = graded(f.Effect.Share, s.params["notice-time"], s.params["warning-time"])
	f.Confidence, f.Reasons = finding.High, []string{"a window of 0 is one under any scale"}
	f.Summary = fmt.Sprintf("the %s closed its window %s, for %v in all", receiver, times(sum.ZeroWindowEpisodes), sum.ZeroWindowTime)
	f.Measures = []finding.Measure{
		{Name: "episodes", Value: float64(sum.ZeroWindowEpisodes), Unit: "episodes"},
		{Name: "time_lost", Value: float64(sum.ZeroWindowTime), Unit: "ns"},
		{Name: "probes", Value: float64(sum.ZeroWindowProbes), Unit: "packets"},
		{Name: "time_share", Value: f.Effect.Share, Unit: "ratio", Threshold: finding.Threshold(s.params["warning-time"])},
	}
	f.Advice = []finding.Advice{
		{Text: fmt.Sprintf("the %s's application does not read fast enough: look at what it does meanwhile (perf record -g, pidstat -t), and at its queue with ss -tmi (Recv-Q)", receiver), Reference: "ss(8)"},
		{Text: "a larger receive buffer only delays this: sysctl net.ipv4.tcp_rmem, SO_RCVBUF", Reference: "tcp(7) tcp_rmem"},
		s.show("tcp.window_size_value == 0 && !tcp.flags.reset == 1"),
	}
	return f, true
}

func zeroWindowText(_ *Connection, e *Event) string {
	if e.With == 0 {
		return fmt.Sprintf("closes the window, which stays closed to the end, %v", unit.Nanos(e.Value))
	}
	return fmt.Sprintf("closes the window for %v, until #%d", unit.Nanos(e.Value), e.With)
}

// graded is info below a first limit, and a warning from a second one on.
func graded(v, notice, warning float64) finding.Severity {
	switch {
	case v >= warning:
		return finding.Warning
	case v >= notice:
		return finding.Notice
	default:
		return finding.Info
	}
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return unit.Count(n) + " times"
}

// join names both ends.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + " and the " + b
}

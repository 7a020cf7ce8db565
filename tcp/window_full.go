package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// WindowFull finds senders that stop at the edge of the receiver's window.
func WindowFull() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/window-full",
			Title: "the receiver's window is used up",
			Method: "The window's edge is the highest sum of ACK number and scaled window that the receiver sent. It is full from a data packet behind which no full-sized segment fits below the edge until the edge moves by enough. " +
				"Where the scale is not known (no handshake in the capture, or options cut), nothing is judged. Reported are windows that are full for a noticeable part of the time, at least min-packets times; a closed window is tcp/zero-window's.",
			Params: []finding.Param{
				{Name: "min-packets", Default: 8, Unit: "packets", Doc: "data packets that must fill the window; own choice, so that the one that a slow start meets is none"},
				{Name: "min-time", Default: 1e7, Unit: "ns", Doc: "time that the window must be full; own choice: less is not felt"},
				{Name: "notice-time", Default: 0.10, Unit: "ratio", Doc: "part of the time of the connections that the window must be full, and from which the finding is a notice; own choice"},
				{Name: "warning-time", Default: 0.50, Unit: "ratio", Doc: "and a warning: most of the time"},
			},
			FalsePositives: "Seen at the receiver, ACKs count before they have reached the sender, so that the window is full at least as often as it seems. A full window is no loss if the path is full as well: then a larger one only makes a queue (tcp/limited-by says). " +
				"tshark's window_full wants the edge met to the byte in file order: 63 marks at the sender and 15 at the receiver of the same connection.",
			References: []string{"RFC 9293 section 3.8.6", "RFC 7323 section 2", "Linux net/ipv4/tcp_output.c: tcp_snd_wnd_test"},
		},
		Judge: perServer(byCut|byLoss|byClock, judgeWindowFull),
	}
}

func judgeWindowFull(s *trial) (f finding.Finding, ok bool) {
	dir := ClientToServer
	if s.Directions[ServerToClient].Waits.WindowFullTime > s.Directions[dir].Waits.WindowFullTime {
		dir = ServerToClient
	}
	w := s.Directions[dir].Waits
	full := max(0, w.WindowFullTime-w.ZeroWindowTime) // a closed window is tcp/zero-window's
	part := min(1, share(full, s.End-s.Start))
	if float64(w.WindowFullPackets) < s.params["min-packets"] || part < s.params["notice-time"] || float64(full) < s.params["min-time"] {
		return f, false
	}
	f.Effect = finding.Effect{Lost: full, Share: part}
	f.Severity = graded(part, s.params["notice-time"], s.params["warning-time"])
	f.Confidence, f.Reasons = finding.High, []string{"the window scale is known from both SYN packets"}
	f.Summary = fmt.Sprintf("the %s's window was full behind %s of %s, for %v in all", senders[1-dir], count(w.WindowFullPackets, "data packet"), unit.Count(s.Directions[dir].DataPackets), full)
	f.Measures = []finding.Measure{
		{Name: "window_full_packets", Value: float64(w.WindowFullPackets), Unit: "packets", Threshold: finding.Threshold(s.params["min-packets"])},
		{Name: "time_lost", Value: float64(full), Unit: "ns"},
		{Name: "time_share", Value: part, Unit: "ratio", Threshold: finding.Threshold(s.params["notice-time"])},
	}
	f.Evidence = s.evidence(dir, func(*Connection, *Event) string { return "no full-sized segment fits behind this one" }, windowFull)
	f.Advice = []finding.Advice{
		{Text: fmt.Sprintf("raise the %s's receive buffer if the path has room: sysctl net.ipv4.tcp_rmem (last value) and net.ipv4.tcp_window_scaling, and leave SO_RCVBUF unset, as it turns autotuning off", senders[1-dir]), Reference: "tcp(7) tcp_rmem, SO_RCVBUF"},
		s.show("tcp.analysis.window_full"),
	}
	return f, true
}

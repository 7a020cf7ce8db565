package tcp

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// DelayedACKStall finds senders that wait for an acknowledgement which the receiver delays.
func DelayedACKStall() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/delayed-ack-stall",
			Title: "data waits for a delayed acknowledgement",
			Method: "An ACK is delayed if it is a packet of its own, acknowledges the only packet in flight, and takes 35 to 600 ms longer than the shortest round trip seen from the same place. It is a stall if new data leaves within 1 ms of it " +
				"(and of the other leg of the path): by Nagle's algorithm if both segments are smaller than the MSS (the second was held while the first was unacknowledged), for lack of window if both are full-sized. " +
				"A rest smaller than the MSS that follows full-sized segments without PSH after 190 to 240 ms, released neither by an ACK nor by an answer, was held by TCP_CORK or MSG_MORE. " +
				"Time lost is that from the segment to its ACK; less the round trip for lack of window. Delayed ACKs that nothing waited for cost nothing and are info.",
			Params: []finding.Param{
				{Name: "warning-share", Default: 0.10, Unit: "ratio", Doc: "part of the time of all exchanges (of the connections, where there are none) from which the stalls are a warning; own choice"},
				{Name: "min-acks", Default: 3, Unit: "packets", Doc: "delayed ACKs from which they are mentioned though nothing waited for them; own choice: nearly every connection has one"},
			},
			FalsePositives: "An application that happens to write within 1 ms of a delayed ACK; the more stalls, the less likely. An ACK that is late because a queue on the path grew to 35 ms while one packet was in flight holds a small segment back all the same. " +
				"A connection whose first ACK is already late, in a capture without handshake, has no round trip to compare with and is not judged. tshark and tcptrace do not know this stall.",
			References: []string{"RFC 896", "RFC 9293 sections 3.7.4 and 3.8.6.3", "RFC 1122 section 4.2.3.4", "Linux net/ipv4/tcp_output.c: tcp_nagle_check, tcp_send_delayed_ack (TCP_DELACK_MIN 40 ms)"},
		},
		Judge: perServer(byClock|byLoss, judgeDelayedACKStall),
	}
}

func judgeDelayedACKStall(s *trial) (f finding.Finding, ok bool) {
	var sum Waits
	main := ClientToServer
	for dir := range s.Directions {
		w := s.Directions[dir].Waits
		sum.add(&w)
		if w.Stalls() > s.Directions[main].Waits.Stalls() || w.Stalls() == s.Directions[main].Waits.Stalls() && w.DelayedACKs > s.Directions[main].Waits.DelayedACKs {
			main = dir
		}
	}
	if sum.Stalls() == 0 && float64(sum.DelayedACKs) < s.params["min-acks"] {
		return f, false
	}
	for dir := range s.Directions {
		kinds := []kind{nagleStall, ackStall, corkStall}
		if sum.Stalls() == 0 {
			kinds = []kind{delayedACK}
		}
		f.Evidence = append(f.Evidence, s.evidence(dir, stallText, kinds...)...)
	}
	f.Confidence, f.Reasons = stallConfidence(&sum)
	f.Effect = s.loses(sum.StallTime)
	if sum.Stalls() > 0 {
		f.Severity = finding.Notice
		if f.Effect.Share >= s.params["warning-share"] {
			f.Severity = finding.Warning
		}
	}
	f.Summary = stallSummary(&sum, main)
	f.Measures = []finding.Measure{
		{Name: "stalls", Value: float64(sum.Stalls()), Unit: "stalls"},
		{Name: "time_lost", Value: float64(sum.StallTime), Unit: "ns"},
		{Name: "nagle_stalls", Value: float64(sum.NagleStalls), Unit: "stalls"},
		{Name: "window_stalls", Value: float64(sum.WindowStalls), Unit: "stalls"},
		{Name: "cork_stalls", Value: float64(sum.CorkStalls), Unit: "stalls"},
		{Name: "delayed_acks", Value: float64(sum.DelayedACKs), Unit: "packets"},
		{Name: "time_share", Value: f.Effect.Share, Unit: "ratio", Threshold: finding.Threshold(s.params["warning-share"])},
	}
	f.Advice = append(stallAdvice(&sum, main), s.show(fmt.Sprintf("tcp.len == 0 && tcp.time_delta >= %.3f", delayedAfter.Seconds())))
	return f, true
}

// loses is the effect of time lost: its share of the time of the exchanges, or of the server's connections where there are
// no exchanges.
func (s *trial) loses(lost unit.Nanos) finding.Effect {
	whole := s.ExchangeTime
	if whole < lost {
		whole = s.End - s.Start
	}
	return finding.Effect{Lost: lost, Share: min(1, share(lost, whole))}
}

func stallConfidence(sum *Waits) (finding.Level, []string) {
	const habit = 3
	if sum.Stalls() == 0 || sum.Stalls() >= habit {
		return finding.High, []string{"the ACKs are later than a round trip and any that came before by a delayed-ACK timer"}
	}
	return finding.Medium, []string{"so few could be writes that happen to follow a late ACK"}
}

func stallSummary(sum *Waits, main int) string {
	if sum.Stalls() == 0 {
		return fmt.Sprintf("the %s delays %s by its timer; nothing waited for them", senders[1-main], count(sum.DelayedACKs, "acknowledgement"))
	}
	var parts []string
	if n := sum.NagleStalls; n > 0 {
		parts = append(parts, fmt.Sprintf("Nagle's algorithm at the %s held %s until the %s's delayed acknowledgement", senders[main], count(n, "small segment"), senders[1-main]))
	}
	if n := sum.WindowStalls; n > 0 {
		parts = append(parts, fmt.Sprintf("%s waited for a delayed acknowledgement because the window was used up", count(n, "full segment")))
	}
	if n := sum.CorkStalls; n > 0 {
		parts = append(parts, fmt.Sprintf("%s left only when the 200 ms of TCP_CORK or MSG_MORE ran out", count(n, "corked rest")))
	}
	return fmt.Sprintf("%s; %v in all", strings.Join(parts, ", "), sum.StallTime)
}

func stallAdvice(sum *Waits, main int) []finding.Advice {
	var list []finding.Advice
	if sum.NagleStalls > 0 {
		list = append(list, finding.Advice{
			Text:      fmt.Sprintf("set TCP_NODELAY on the %s's sockets, or hand over the whole message with one call (writev, or MSG_MORE on all parts but the last); quick ACKs at the %s (ip route change ... quickack 1) are second best", senders[main], senders[1-main]),
			Reference: "tcp(7) TCP_NODELAY, TCP_QUICKACK; RFC 9293 section 3.7.4",
		})
	}
	if sum.WindowStalls > 0 {
		list = append(list, finding.Advice{Text: fmt.Sprintf("on the %s, look at the window in use: ss -ti (cwnd, snd_wnd); one segment in flight meets every delayed ACK", senders[main]), Reference: "ss(8); RFC 5681 section 4.2"})
	}
	if sum.CorkStalls > 0 {
		list = append(list, finding.Advice{Text: fmt.Sprintf("on the %s, take TCP_CORK off after the last write of a message, and send it without MSG_MORE", senders[main]), Reference: "tcp(7) TCP_CORK"})
	}
	if len(list) == 0 {
		list = append(list, finding.Advice{Text: "nothing to change; an answer that leaves before the timer carries the acknowledgement", Reference: "RFC 9293 section 3.8.6.3"})
	}
	return list
}

func stallText(_ *Connection, e *Event) string {
	switch e.Kind {
	case kindNames[delayedACK]:
		return fmt.Sprintf("acknowledges #%d after %v; nothing waited for it", e.With, unit.Nanos(e.Value))
	case kindNames[corkStall]:
		return fmt.Sprintf("the rest of #%d, %v later, released by nothing but a timer", e.Before, unit.Nanos(e.Value))
	case kindNames[ackStall]:
		return fmt.Sprintf("a full segment, sent when #%d acknowledged #%d after %v", e.With, e.Before, unit.Nanos(e.Value))
	default:
		return fmt.Sprintf("a small segment, held until #%d acknowledged #%d after %v", e.With, e.Before, unit.Nanos(e.Value))
	}
}

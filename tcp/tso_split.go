package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// TSOSplit finds messages whose small rest leaves as a packet of its own: at once, or held back by Nagle's algorithm.
func TSOSplit() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/tso-split",
			Title: "the small rest of a message leaves as a packet of its own",
			Method: tailMethod + " A tail is visible if it is a packet of its own that follows the full-sized ones within 1 ms or one and a half round trips, " +
				"and held if it came only after the acknowledgement of an earlier small segment (Nagle's algorithm in Minshall's form). Time lost is that between the full-sized packets and held tails.",
			Params: append(tailParams(), finding.Param{Name: "warning-time", Default: 0.10, Unit: "ratio", Doc: "part of the time of all exchanges that held tails took, from which the finding is a warning; own choice"}),
			FalsePositives: "A protocol whose messages all have a short last packet by nature is reported too, since it costs the same. A second write of a few bytes that follows at once looks like the rest of the first: it costs a packet as well. " +
				"Nagle's algorithm in its original form (hold while anything is unacknowledged: not Linux) and a full congestion window hold tails back as well; these are counted as visible. tshark and tcptrace know no tails.",
			References: []string{"RFC 9293 section 3.7.4 (Nagle)", "Linux net/ipv4/tcp_output.c: tcp_write_xmit, tcp_mss_split_point, tcp_minshall_check", "RFC 6691 (MSS and options)"},
		},
		Judge: perServer(byOffload|byCut, judgeTSOSplit),
	}
}

func judgeTSOSplit(s *trial) (f finding.Finding, ok bool) {
	sum := sumTails(s, func(t *Tails) int64 { return t.Visible + t.Held })
	if sum.count == 0 {
		return f, false
	}
	var visible, held, wire int64
	var lost unit.Nanos
	for _, dir := range sum.dirs {
		t := &s.Directions[dir].Tails
		visible, held, wire, lost = visible+t.Visible, held+t.Held, wire+t.WirePackets, lost+t.TimeLost
		f.Evidence = append(f.Evidence, s.evidence(dir, tailText, tailVisible, tailHeld)...)
	}
	main := sum.dirs[0]
	t, mss := &s.Directions[main].Tails, s.MSS[main]
	f.Confidence, f.Reasons = s.mssReasons(main)
	f.Effect = finding.Effect{Lost: lost, Share: min(1, share(lost, s.ExchangeTime))}
	f.Severity = finding.Info
	switch packets := share(sum.count, wire); {
	case held > 0 && f.Effect.Share >= s.params["warning-time"]:
		f.Severity = finding.Warning
	case held > 0 || packets >= s.params["notice-packets"]:
		f.Severity = finding.Notice
	}
	f.Summary = fmt.Sprintf("%s: %d of %d messages longer than the MSS end in a %s packet of its own (%s)", sum.wayNames(), sum.count, t.Messages, t.tailBytes(), t.lengths(mss))
	if held > 0 {
		f.Summary += fmt.Sprintf("; Nagle's algorithm held %d of them for %v in all", held, lost)
	}
	f.Measures = []finding.Measure{
		{Name: "tails_visible", Value: float64(visible), Unit: "packets"},
		{Name: "tails_held", Value: float64(held), Unit: "packets"},
		{Name: "time_lost", Value: float64(lost), Unit: "ns"},
		{Name: "messages", Value: float64(t.Messages), Unit: "messages"},
		{Name: "packet_share", Value: share(sum.count, wire), Unit: "ratio", Threshold: finding.Threshold(s.params["notice-packets"])},
	}
	f.Advice = append(f.Advice, t.sizeAdvice(mss))
	if held > 0 {
		f.Advice = append(f.Advice,
			finding.Advice{Text: fmt.Sprintf("write head and body with one call (writev, MSG_MORE, TCP_CORK), or set TCP_NODELAY on the %s's sockets", senders[main]), Reference: "tcp(7) TCP_NODELAY, TCP_CORK; RFC 9293 section 3.7.4"})
	} else {
		f.Advice = append(f.Advice, finding.Advice{Text: "compare the packets per request in both directions with the receiver's interrupt moderation: ethtool -c DEV (adaptive-rx treats unequal counts as bulk traffic on some drivers)", Reference: "ethtool(8) --show-coalesce"})
	}
	f.Advice = append(f.Advice, s.show(t.filter()))
	return f, true
}

func tailText(_ *Connection, e *Event) string {
	if e.Kind == kindNames[tailHeld] {
		return fmt.Sprintf("the rest of the message in #%d, %v later, after the ACK of an earlier small segment", e.With, unit.Nanos(e.Value))
	}
	return fmt.Sprintf("the rest of a message of %d bytes, right behind #%d", e.Value, e.With)
}

// filter returns the display filter for the tails' packets.
func (t *Tails) filter() string {
	if len(t.Sizes) == 1 {
		return fmt.Sprintf("tcp.len == %d", t.Sizes[0].Bytes)
	}
	most := int64(0)
	for _, s := range t.Sizes {
		most = max(most, s.Bytes)
	}
	return fmt.Sprintf("tcp.len in {1..%d}", max(most, 1))
}

package tcp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// LimitedBy says what kept the senders of a server's connections from sending faster.
func LimitedBy() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/limited-by",
			Title: "what limits the transfer",
			Method: "Each gap between two data packets of a direction is charged to the first reason that a stack would have had: the receiver's window has no room for a segment; a retransmission timer ran; a loss is repaired; nothing is in flight and nothing was written; a small segment waits for a delayed ACK; " +
				"else the gap belongs to its round trip, and that to small writes (half of its packets end a write short), slow start (what is in flight grew by a fifth), the bandwidth of the path (70 % of its capacity, which is the third quartile of the rates at which trains of ACKs, or away from the sender of packets, come apart; believed once the sender has sent faster, or a queue has grown), " +
				"the congestion window (a loss in the last 20 round trips, or a changing window), a window of the sender's own (constant for three), or pacing (not released by ACKs). Away from the sender, a packet's TSval tells when it left, and its TSecr which ACKs had arrived. " +
				"Shares are of the time from the first data to the last, without handshake and last flight.",
			Params: []finding.Param{
				{Name: "min-time", Default: 5e7, Unit: "ns", Doc: "time with data below which there is no verdict"},
				{Name: "min-epochs", Default: 5, Unit: "round trips", Doc: "and round trips of data"},
				{Name: "min-share", Default: 0.5, Unit: "ratio", Doc: "what the first class must have; below it, or if the second is within 0.15, the limits are mixed"},
				{Name: "notice-share", Default: 0.8, Unit: "ratio", Doc: "share of receiver window, timeout, sending host or loss from which the finding is a notice, as something can be changed about them; own choice"},
			},
			FalsePositives: "Pacing and an application that writes on a timer with Nagle's algorithm look alike. A window used up while the path is busy and queued as well is named, but a larger one would only make the queue longer. A flight that was lost before the capture looks like a pause unless IPv4 identifications tell, which takes a counter of the connection's own. " +
				"Without the window scale, what ACKs released may have waited for the receiver: it is unknown. Where the capture lacks more than 0.1 % of the data, confidence is low. tshark and tcptrace draw windows but give no verdict.",
			References: []string{"RFC 4898 (snd-limit states)", "RFC 7661", "RFC 8985", "RFC 9438", "Linux net/ipv4/tcp_output.c: tcp_write_xmit", "Siekkinen et al., A root cause analysis toolkit for TCP, Computer Networks 52(9), 2008"},
		},
		Judge: perServer(byClock|byLoss|byCut, judgeLimitedBy),
	}
}

// limitGroup is what people call a limit: some classes together.
type limitGroup struct {
	name, words string
	classes     []limitClass
}

func limitGroups() []limitGroup {
	return []limitGroup{
		{"application", "the application", []limitClass{limitIdle, limitPeer, limitSmall, limitNagle}},
		{"receiver_window", "the receiver's window", []limitClass{limitReceiver, limitDelayedACK}},
		{"network", "the network", []limitClass{limitLoss, limitBandwidth, limitCongestion}},
		{"timeout", "retransmission timeouts", []limitClass{limitTimeout}},
		{"slow_start", "slow start", []limitClass{limitSlowStart}},
		{"sending_host", "the sending host", []limitClass{limitHostWindow, limitPaced}},
		{"unknown", "what this capture cannot tell", []limitClass{limitUnknown}},
	}
}

// limitDetails says what a class is, for people.
var limitDetails = [limitClasses]string{
	limitIdle: "idle", limitPeer: "waiting for the other side", limitSmall: "small writes", limitNagle: "Nagle's algorithm", limitReceiver: "used up", limitDelayedACK: "delayed ACKs",
	limitLoss: "loss", limitBandwidth: "the bottleneck is busy", limitCongestion: "congestion window", limitHostWindow: "a window of its own", limitPaced: "paced",
}

// portion is a group's part of the time.
type portion struct {
	limitGroup
	time  unit.Nanos
	share float64
}

// portions returns the groups' shares of the time between handshake and last flight, largest first, and that time.
func (t *LimitTimes) portions() (list []portion, whole unit.Nanos) {
	for _, g := range limitGroups() {
		p := portion{limitGroup: g}
		for _, class := range g.classes {
			p.time += t[class]
		}
		whole += p.time
		list = append(list, p)
	}
	for i := range list {
		list[i].share = share(list[i].time, whole)
	}
	slices.SortStableFunc(list, func(a, b portion) int { return cmp.Compare(b.time, a.time) })
	return list, whole
}

// details lists the classes of a group that have a tenth of the time or more.
func (p *portion) details(t *LimitTimes, whole unit.Nanos) string {
	const worthNaming = 0.10
	var parts []string
	for _, class := range p.classes {
		if s := share(t[class], whole); s >= worthNaming && limitDetails[class] != "" {
			parts = append(parts, fmt.Sprintf("%s %s", limitDetails[class], unit.Percent(s)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// course lists the intervals of a group that has several classes worth naming, with their rates: a sender that was limited by
// its window first and paced then.
func (p *portion) course(l *Limit, start unit.Nanos) string {
	var parts []string
	classes := map[string]bool{}
	for _, x := range l.Intervals {
		own := slices.ContainsFunc(p.classes, func(c limitClass) bool { return limitNames[c] == x.Class })
		if took := x.End - x.Start; own && took > p.time/10 {
			classes[x.Class] = true
			parts = append(parts, fmt.Sprintf("%s from %v to %v at %s/s", x.Class, x.Start-start, x.End-start, unit.Bytes(int64(float64(x.Bytes)/took.Seconds()))))
		}
	}
	const atMost = 4
	if len(classes) < 2 || len(parts) > atMost {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

func judgeLimitedBy(s *trial) (f finding.Finding, ok bool) {
	dir := ClientToServer
	if s.Directions[ServerToClient].GoodputBytes > s.Directions[dir].GoodputBytes {
		dir = ServerToClient
	}
	t := &s.Directions[dir].Limits
	list, whole := t.portions()
	main, k := s.largest(dir)
	if k == nil || float64(whole) < s.params["min-time"] || float64(main.Epochs) < s.params["min-epochs"] {
		return f, false
	}
	first, second := &list[0], &list[1]
	mixed := first.share < s.params["min-share"] || first.share-second.share < 0.15
	f.Confidence, f.Reasons = s.limitConfidence(dir, first, t)
	f.Summary = fmt.Sprintf("%s is limited by %s for %s of the time%s", ways[dir], first.words, unit.Percent(first.share), first.details(t, whole))
	if mixed {
		f.Summary = fmt.Sprintf("%s has mixed limits: %s %s%s, then %s %s%s", ways[dir], first.words, unit.Percent(first.share), first.details(t, whole), second.words, unit.Percent(second.share), second.details(t, whole))
	}
	if main.Capacity > 0 && t[limitBandwidth] > 0 && share(t[limitBandwidth], whole) > 0.1 {
		f.Summary += fmt.Sprintf("; bottleneck %.2f Mbit/s of payload", main.Capacity*8/1e6)
		f.Measures = append(f.Measures, finding.Measure{Name: "bottleneck_rate", Value: main.Capacity * 8, Unit: "bits/s"})
	}
	f.Summary += first.course(main, k.Start)
	f.Severity = s.limitSeverity(first, t, whole, main)
	f.Measures = append(limitMeasures(list, t), f.Measures...)
	f.Evidence = s.limitEvidence(k, main, first)
	f.Caveats = s.limitCaveats(dir, k, main)
	f.Advice = append(limitAdvice(first, t, senders[dir], senders[1-dir]), s.show("tcp.len > 0"))
	return f, true
}

// largest returns the account of the connection that sent most.
func (s *trial) largest(dir int) (*Limit, *Connection) {
	var most *Connection
	for _, k := range s.connections() {
		if d := &k.Directions[dir]; d.Limit != nil && (most == nil || d.GoodputBytes > most.Directions[dir].GoodputBytes) {
			most = k
		}
	}
	if most == nil {
		return nil, nil
	}
	return most.Directions[dir].Limit, most
}

// limitSeverity follows what can be gained: nothing where the application is idle or the path is used.
func (s *trial) limitSeverity(first *portion, t *LimitTimes, whole unit.Nanos, l *Limit) finding.Severity {
	avoidable := t[limitReceiver] + t[limitDelayedACK] + t[limitNagle] + t[limitTimeout] + t[limitHostWindow] + t[limitPaced] + t[limitLoss] - l.BottleneckFull
	if share(avoidable, whole) >= s.params["notice-share"] || first.name == "timeout" {
		return finding.Notice
	}
	return finding.Info
}

func limitMeasures(list []portion, t *LimitTimes) []finding.Measure {
	var measures []finding.Measure
	for _, p := range list {
		measures = append(measures, finding.Measure{Name: "share_" + p.name, Value: p.share, Unit: "ratio"})
	}
	for class, took := range t {
		if took > 0 {
			measures = append(measures, finding.Measure{Name: "time_" + strings.ReplaceAll(limitNames[class], "-", "_"), Value: float64(took), Unit: "ns"})
		}
	}
	return measures
}

// limitEvidence is the longest gap of each class of the first group, and the intervals where there are several.
func (s *trial) limitEvidence(k *Connection, l *Limit, first *portion) []finding.Evidence {
	var list []finding.Evidence
	for _, g := range l.Longest {
		if slices.ContainsFunc(first.classes, func(c limitClass) bool { return limitNames[c] == g.Class }) {
			list = append(list, finding.At(source.Pos{Source: s.capture.Source, Record: g.Record, Offset: g.Offset}, "ends the longest gap of class %s, %v", g.Class, g.Time))
		}
	}
	if len(list) == 0 {
		list = append(list, finding.At(source.Pos{Source: s.capture.Source, Record: k.Record, Offset: k.Offset}, "the connection"))
	}
	return list
}

// limitWeights is how sure the classes are, by how they are proven: sequence and window arithmetic, rates of a hundred
// samples and more, or only the exclusion of all else.
var limitWeights = [limitClasses]float64{
	limitIdle: 1, limitPeer: 1, limitSmall: 0.8, limitNagle: 0.8, limitReceiver: 0.8, limitDelayedACK: 0.8, limitLoss: 1, limitTimeout: 1,
	limitBandwidth: 0.8, limitCongestion: 0.5, limitSlowStart: 0.8, limitHostWindow: 0.5, limitPaced: 0.5,
}

// limitConfidence weighs the classes of the first group by their time, and by where the capture was taken.
func (s *trial) limitConfidence(dir int, first *portion, t *LimitTimes) (finding.Level, []string) {
	sum := 0.0
	for _, class := range first.classes {
		sum += limitWeights[class] * float64(t[class])
	}
	sure := sum / max(float64(first.time), 1)
	_, k := s.largest(dir)
	l := k.Directions[dir].Limit
	place, reason := 1.0, "captured at or next to the sender, whose windows the packets show as they are"
	switch {
	case l.Remote && l.Timestamps:
		place, reason = 0.95, "captured away from the sender, whose time line its timestamps tell"
	case l.Remote:
		place, reason = 0.6, "captured away from the sender, and no timestamps tell its time line"
	case !k.Side.at(endNames[dir]) && !k.Handshake.Ends[0].Seen:
		place, reason = 0.7, "where the capture was taken is not sure"
	}
	reasons := []string{reason}
	if d := &s.Directions[dir]; d.MissedBytes*lackingOf > d.GoodputBytes {
		return finding.Low, append(reasons, "the capture itself lacks packets")
	}
	if s.capture.Picture.Behind.Count > 0 {
		return finding.Low, append(reasons, "the clocks of the two directions do not agree")
	}
	if first.name == "network" && l.SelfClocked > first.time/2 && l.Queued < first.time/10 {
		return finding.Medium, append(reasons, "not told by ACKs and without a queue: a sender that paces itself to this rate looks the same")
	}
	switch sure *= place; {
	case sure >= 0.75:
		return finding.High, reasons
	case sure >= 0.45:
		return finding.Medium, append(reasons, "told by the exclusion of other limits")
	default:
		return finding.Low, append(reasons, "nothing proves it")
	}
}

func (s *trial) limitCaveats(dir int, k *Connection, l *Limit) []string {
	var list []string
	if !k.Handshake.WindowScaleKnown {
		list = append(list, "the window scale is not known: what waited for ACKs may have waited for the receiver's window")
	}
	if l.BottleneckFull > 0 {
		list = append(list, fmt.Sprintf("for %v the path was busy and queued as well: a larger window would only make the queue longer", l.BottleneckFull))
	}
	if s.Connections > 1 {
		list = append(list, fmt.Sprintf("summed over %d connections; capacity and evidence are those of the one that sent most", s.Connections))
	}
	return list
}

func limitAdvice(first *portion, t *LimitTimes, sender, receiver string) []finding.Advice {
	text := map[string]string{
		"application":     fmt.Sprintf("look at what the %s's application does between its writes; neither the network nor TCP settings will make it faster", sender),
		"receiver_window": fmt.Sprintf("raise the %s's receive buffer: sysctl net.ipv4.tcp_rmem (last value), and leave SO_RCVBUF unset; if the window closes, its application reads too slowly", receiver),
		"network":         "the path is the limit: look for its bottleneck (tc -s qdisc show, ethtool DEV for the speed), and for loss below its capacity (ethtool -S DEV)",
		"timeout":         "find the loss that fast recovery could not repair (tcp/retransmission, tcp/timeout)",
		"slow_start":      "the transfer ended before the window was large enough: keep connections open and reuse them, or raise the first window (ip route change ... initcwnd 20)",
		"sending_host":    fmt.Sprintf("on the %s, look at SO_SNDBUF and net.ipv4.tcp_wmem, SO_MAX_PACING_RATE, the qdisc (tc -s qdisc show dev DEV) and ss -ti (pacing_rate, sndbuf_limited)", sender),
		"unknown":         "capture the handshake too, at the sender, without losing packets: tcpdump -B 65536 -s 128",
	}[first.name]
	switch {
	case first.name != "application":
	case t[limitNagle] > first.time/2:
		text = fmt.Sprintf("set TCP_NODELAY on the %s's sockets, or write each message with one call (tcp/delayed-ack-stall)", sender)
	case t[limitPeer] > first.time/2:
		text = fmt.Sprintf("the %s waits for what the %s sends: look at what the %s's application does between an answer and its next message, and whether it could send several at once", sender, receiver, receiver)
	}
	return []finding.Advice{{Text: text, Reference: "tcp(7), ip-route(8), ss(8); RFC 4898"}}
}

package tcp

import (
	"cmp"
	"fmt"
	"slices"

	"nettrace/finding"
	"nettrace/source"
)

// PMTU finds segments that are too large for the path.
func PMTU() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "tcp/pmtu",
			Title: "segments are too large for the path",
			Method: "Three pictures. A router says so (ICMP: fragmentation needed, or packet too big): then path MTU discovery is at work. Nobody says so, and the same full-sized data is sent again after three timeouts in a row while the other end answers, or passes at last in smaller pieces: a black hole. " +
				"And a router that refuses a packet larger than its next MTU, though the sender's segments fit: they were merged on the way, by LRO on a machine that forwards.",
			Params: []finding.Param{
				{Name: "min-notices", Default: 1, Unit: "packets", Doc: "ICMP errors below which nothing is said of them: any"},
				{Name: "ignored-notices", Default: 3, Unit: "packets", Doc: "ICMP errors about one flow from which its sender does not heed them: discovery needs one for each smaller link (RFC 1191)"},
			},
			FalsePositives: "A black hole needs a capture at the sender or on its side of the hole. A link that loses large packets for other reasons (a bad cable, a tunnel that drops its fragments) looks the same, and is as bad. Where the path's MTU is discovered at once, the finding is an info: that is how it should be.",
			References:     []string{"RFC 1191", "RFC 8201", "RFC 2923 section 2.1", "RFC 8899", "ip-sysctl: tcp_mtu_probing", "ethtool(8) lro"},
		},
		Judge: perServer(byLoss|byOffload, judgePMTU),
	}
}

// tooBig returns the notices about packets too big between the server and its clients.
func (s *trial) tooBig() (list []*Notice, n int64) {
	for i := range s.capture.Notices {
		x := &s.capture.Notices[i]
		if x.Kind == tooBigNotice && x.Transport == "tcp" && (x.Dst == s.Endpoint || x.Src == s.Endpoint) {
			list, n = append(list, x), n+x.Count
		}
	}
	return list, n
}

func judgePMTU(s *trial) (f finding.Finding, ok bool) {
	notices, n := s.tooBig()
	var holes PathMTU
	for dir := range s.Directions {
		if p := s.Directions[dir].PathMTU; p.BlackHoles > 0 {
			holes.add(&p)
			f.Evidence = append(f.Evidence, s.evidence(dir, blackHoleText, blackHole)...)
		}
	}
	told := float64(n) >= s.params["min-notices"]
	if !told && holes.BlackHoles == 0 {
		return f, false
	}
	f.Confidence, f.Reasons = finding.High, []string{"a router says so"}
	mtu, ignored, merged := 0, false, false
	for _, x := range notices {
		if x.MTU > 0 && (mtu == 0 || x.MTU < mtu) {
			mtu = x.MTU
		}
		ignored = ignored || float64(x.Count) >= s.params["ignored-notices"]
		merged = merged || s.mergedOnTheWay(x)
		f.Evidence = append(f.Evidence, finding.At(source.Pos{Source: s.capture.Source, Record: x.Record, Offset: x.Offset}, "%s: packets of %s > %s do not fit, one of %d bytes; next MTU %d; %s", x.From, x.Src, x.Dst, x.LargestIPBytes, x.MTU, count(x.Count, "time")))
	}
	f.Evidence = handful(f.Evidence, func(a, b finding.Evidence) int { return cmp.Compare(a.Record, b.Record) })
	switch {
	case merged:
		f.Severity = finding.Warning
		f.Summary = fmt.Sprintf("a router refuses packets larger than its MTU of %d, though the segments fit: they were merged on the way, as LRO on a forwarding machine does", mtu)
		f.Confidence, f.Reasons = finding.Medium, []string{"the packet quoted is larger than MSS and headers, and than the MTU"}
	case holes.BlackHoles > 0:
		s.blackHoles(&f, &holes, told)
	case ignored:
		f.Severity = finding.Warning
		f.Summary = fmt.Sprintf("%s say that packets are too big for an MTU of %d, and the sender goes on sending them", count(n, "ICMP error"), mtu)
	default:
		f.Summary = fmt.Sprintf("the path's MTU is %d by %s: the sender has to send smaller segments", mtu, count(n, "ICMP error"))
	}
	f.Measures = []finding.Measure{
		{Name: "black_holes", Value: float64(holes.BlackHoles), Unit: "times"},
		{Name: "icmp_errors", Value: float64(n), Unit: "packets", Threshold: finding.Threshold(s.params["min-notices"])},
		{Name: "mtu", Value: float64(mtu), Unit: "bytes"},
		{Name: "timeouts", Value: float64(holes.Timeouts), Unit: "timeouts"},
		{Name: "time_lost", Value: float64(holes.Time), Unit: "ns"},
	}
	f.Advice = append(pmtuAdvice(merged), s.show("icmp.type == 3 && icmp.code == 4 || icmpv6.type == 2 || tcp.analysis.retransmission"))
	return f, true
}

// mergedOnTheWay reports whether a packet that a router refuses cannot be the sender's: its segments fit the MTU. What a
// super-segment is where it was captured is no sign, as it is cut before it leaves.
func (s *trial) mergedOnTheWay(x *Notice) bool {
	const headers4, headers6 = 40, 60
	headers := headers4
	if x.Src.Addr().Is6() {
		headers = headers6
	}
	k := slices.IndexFunc(s.own, func(k *Connection) bool { return k.Client == x.Src || k.Client == x.Dst })
	if k < 0 || x.MTU == 0 || x.LargestIPBytes <= x.MTU {
		return false
	}
	c := s.own[k]
	if !c.Handshake.Ends[0].Seen || !c.Handshake.Ends[1].Seen {
		return false
	}
	mss := min(c.Handshake.Ends[0].MSS, c.Handshake.Ends[1].MSS)
	return mss > 0 && mss+headers <= x.MTU && x.LargestIPBytes > mss+headers
}

func (s *trial) blackHoles(f *finding.Finding, holes *PathMTU, told bool) {
	f.Severity = finding.Warning
	f.Effect = finding.Effect{Lost: holes.Time, Share: min(1, share(holes.Time, s.End-s.Start))}
	f.Confidence, f.Reasons = finding.Medium, []string{"segments of full size are sent in vain while the other end answers"}
	f.Summary = fmt.Sprintf("segments of %d bytes do not get through: sent again after %s, for %v", holes.StuckBytes, count(holes.Timeouts, "timeout"), holes.Time)
	switch {
	case holes.Passed > 0:
		f.Confidence, f.Reasons = finding.High, append(f.Reasons, "smaller ones pass")
		f.Summary += fmt.Sprintf("; in pieces of %d bytes they do", holes.PassedBytes)
	case holes.Silent == holes.BlackHoles:
		f.Severity, f.Confidence, f.Reasons = finding.Notice, finding.Low, []string{"nothing came but the handshake: the other end may be gone as well"}
	}
	if told {
		f.Summary += "; ICMP says so, and the sender does not heed it"
	} else {
		f.Summary += "; no router says so (a black hole)"
	}
}

func blackHoleText(*Connection, *Event) string {
	return "the first unacknowledged segment again, which does not get through"
}

func pmtuAdvice(merged bool) []finding.Advice {
	if merged {
		return []finding.Advice{{Text: "on machines that forward or bridge, turn LRO off: ethtool -K DEV lro off (GRO may stay, as it is undone on the way out)", Reference: "ethtool(8) lro; RFC 1122 section 3.3.1"}}
	}
	return []finding.Advice{
		{Text: "let ICMP type 3 code 4 (ICMPv6 type 2) through all filters on the path, back to the sender", Reference: "RFC 2979, RFC 4890"},
		{Text: "or make the ends agree on less: nft add rule inet filter forward tcp flags syn tcp option maxseg size set rt mtu; and let hosts probe: sysctl net.ipv4.tcp_mtu_probing=1", Reference: "nft(8), ip-sysctl"},
	}
}

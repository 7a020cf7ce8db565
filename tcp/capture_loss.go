package tcp

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// CaptureLoss finds captures that lack packets which the network delivered.
func CaptureLoss() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:   "capture/loss",
			Title:  "the capture lacks packets that the network delivered",
			Method: "Two signs. Bytes that the other end acknowledges, but that the capture never shows, arrived there: the capture lost them. What comes later, behind its own acknowledgement, is not counted (capture/clock). And the drop counters that a pcapng or snoop file has of its interfaces (isb_ifdrop, isb_osdrop, epb_dropcount).",
			Params: []finding.Param{
				{Name: "min-bytes", Default: 1, Unit: "bytes", Doc: "bytes that must lack: any, since what lacks can fake loss, idle times and stalls"},
				{Name: "min-dropped", Default: 1, Unit: "packets", Doc: "or packets that the capture must say it dropped: any"},
				{Name: "warning-share", Default: 0.01, Unit: "ratio", Doc: "part of the data, or of the packets, that must lack for a warning: from 1 % on, a receiver's capture shows losses where there are none"},
			},
			FalsePositives: "A capture of one direction only lacks the other by intent; so does one whose filter matches a part of a connection. Drop counters may be those of the whole time that an interface was captured from, also before a file of several began.",
			References:     []string{"tcpdump(1): packets dropped by kernel", "packet(7) PACKET_STATISTICS", "draft-ietf-opsawg-pcapng: Interface Statistics Block"},
		},
		Judge: perCapture(judgeCaptureLoss),
	}
}

func judgeCaptureLoss(c *Capture, p finding.Params) (f finding.Finding, ok bool) {
	missed, v, dropped := c.Totals.MissedBytes, &c.Picture.ACKUnseen, c.Dropped()
	unseen := float64(missed) >= p["min-bytes"] && v.Count > 0
	counted := float64(dropped) >= p["min-dropped"]
	if !unseen && !counted {
		return f, false
	}
	part, lost := share(missed, missed+c.Totals.GoodputBytes), share(dropped, c.Arrived())
	f.Severity = finding.Notice
	if max(part, lost) >= p["warning-share"] {
		f.Severity = finding.Warning
	}
	f.Confidence = finding.High
	var said []string
	if unseen {
		said = append(said, fmt.Sprintf("lacks %s that were acknowledged (%s of the data)", unit.Bytes(missed), unit.Percent(part)))
		f.Reasons = append(f.Reasons, "the receiver acknowledged what the capture does not hold")
		f.Measures = append(f.Measures,
			finding.Measure{Name: "missed_bytes", Value: float64(missed), Unit: "bytes", Threshold: finding.Threshold(p["min-bytes"])},
			finding.Measure{Name: "missed_share", Value: part, Unit: "ratio", Threshold: finding.Threshold(p["warning-share"])},
			finding.Measure{Name: "acks_of_unseen", Value: float64(v.Count), Unit: "packets"})
		f.Evidence = c.show(v, func(s *Sight) string { return fmt.Sprintf("acknowledges %d bytes that were not captured", s.Value) })
	}
	if counted {
		said = append(said, fmt.Sprintf("says that it dropped %s (%s)", count(dropped, "packet"), unit.Percent(lost)))
		f.Reasons = append(f.Reasons, "drop counters of the interfaces are in the file")
		f.Measures = append(f.Measures,
			finding.Measure{Name: "dropped_packets", Value: float64(dropped), Unit: "packets", Threshold: finding.Threshold(p["min-dropped"])},
			finding.Measure{Name: "dropped_share", Value: lost, Unit: "ratio", Threshold: finding.Threshold(p["warning-share"])})
		f.Evidence = append(f.Evidence, c.drops()...)
	}
	f.Summary = "the capture " + strings.Join(said, ", and ")
	f.Advice = []finding.Advice{
		{Text: "give the capture more room and less to do: tcpdump -B 65536 -s 128 -w FILE with a filter; look at its count of packets dropped by the kernel", Reference: "tcpdump(1) -B"},
	}
	if unseen {
		f.Advice = append(f.Advice, finding.Advice{Text: "to see them in Wireshark: tcp.analysis.ack_lost_segment || tcp.analysis.lost_segment", Reference: "wireshark-filter(4)"})
	}
	return f, true
}

// drops lists the interfaces that say they dropped packets.
func (c *Capture) drops() (list []finding.Evidence) {
	for n, i := range c.Interfaces {
		if max(i.Dropped, 0)+max(i.OSDrops, 0) > 0 {
			list = append(list, finding.At(source.Pos{Source: c.Source}, "interface %d %s: %s dropped by the interface or the capture, %s by the system", n, i.Name, unit.Count(max(i.Dropped, 0)), unit.Count(max(i.OSDrops, 0))))
		}
	}
	return list
}

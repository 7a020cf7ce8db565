package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// CaptureLoss finds captures that lack packets which the network delivered.
func CaptureLoss() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:           "capture/loss",
			Title:          "the capture lacks packets that the network delivered",
			Method:         "Bytes that the other end acknowledges, but that the capture never shows, arrived there: the capture lost them. What comes later, behind its own acknowledgement, is not counted (capture/clock).",
			Params:         []finding.Param{{Name: "min-bytes", Default: 1, Unit: "bytes", Doc: "bytes that must lack: any, since what lacks can fake loss, idle times and stalls"}},
			FalsePositives: "A capture of one direction only lacks the other by intent; so does one whose filter matches a part of a connection.",
			References:     []string{"tcpdump(1): packets dropped by kernel", "packet(7) PACKET_STATISTICS"},
		},
		Judge: perCapture(judgeCaptureLoss),
	}
}

func judgeCaptureLoss(c *Capture, p finding.Params) (f finding.Finding, ok bool) {
	missed, v := c.Totals.MissedBytes, &c.Picture.ACKUnseen
	if float64(missed) < p["min-bytes"] || v.Count == 0 {
		return f, false
	}
	f.Severity = finding.Notice
	f.Confidence, f.Reasons = finding.High, []string{"the receiver acknowledged what the capture does not hold"}
	part := share(missed, missed+c.Totals.GoodputBytes)
	f.Summary = fmt.Sprintf("the capture lacks %s that were acknowledged (%s of the data)", unit.Bytes(missed), unit.Percent(part))
	f.Measures = []finding.Measure{
		{Name: "missed_bytes", Value: float64(missed), Unit: "bytes", Threshold: finding.Threshold(p["min-bytes"])},
		{Name: "missed_share", Value: part, Unit: "ratio"},
		{Name: "acks_of_unseen", Value: float64(v.Count), Unit: "packets"},
	}
	f.Evidence = c.show(v, func(s *Sight) string { return fmt.Sprintf("acknowledges %d bytes that were not captured", s.Value) })
	f.Advice = []finding.Advice{{Text: "give the capture more room and less to do: tcpdump -B 65536 -s 128 -w FILE with a filter; look at its count of packets dropped by the kernel", Reference: "tcpdump(1) -B"}}
	return f, true
}

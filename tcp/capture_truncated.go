package tcp

import (
	"fmt"

	"nettrace/finding"
)

// Truncated finds captures that do not hold their packets whole.
func Truncated() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:           "capture/truncated",
			Title:          "packets were not captured whole",
			Method:         "The record says that the packet was longer than what it holds. Lengths are taken from the IP header (or the record), so that a cut payload changes no finding; cut TCP options do, since MSS, window scale, SACK or timestamps are lost with them: then it is a notice.",
			FalsePositives: "A snap length that was set on purpose is no fault. 96 bytes keep all options of IPv4 over Ethernet; IPv6, VLANs and tunnels need more.",
			References:     []string{"tcpdump(1) -s"},
		},
		Judge: perCapture(judgeTruncated),
	}
}

func judgeTruncated(c *Capture, _ finding.Params) (f finding.Finding, ok bool) {
	v := &c.Picture
	if v.Cut.Count == 0 {
		return f, false
	}
	f.Confidence, f.Reasons = finding.High, []string{"the records tell both lengths"}
	f.Summary = fmt.Sprintf("%d of %d packets were not captured whole", v.Cut.Count, c.Packets.Total)
	if n := v.OptionsCut.Count; n > 0 {
		f.Severity = finding.Notice
		f.Summary += fmt.Sprintf("; %d lack part of their TCP options", n)
	}
	f.Measures = []finding.Measure{
		{Name: "cut_packets", Value: float64(v.Cut.Count), Unit: "packets"},
		{Name: "options_cut", Value: float64(v.OptionsCut.Count), Unit: "packets"},
	}
	f.Evidence = c.show(&v.Cut, func(s *Sight) string { return fmt.Sprintf("%d bytes lack", s.Value) })
	if v.OptionsCut.Count > 0 {
		f.Evidence = c.show(&v.OptionsCut, func(*Sight) string { return "the TCP options are cut" })
	}
	f.Advice = []finding.Advice{{Text: "capture at least all headers: tcpdump -s 128 (more in tunnels)", Reference: "tcpdump(1) -s"}}
	return f, true
}

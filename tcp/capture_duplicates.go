package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// Duplicates finds captures that hold packets more than once.
func Duplicates() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:  "capture/duplicates",
			Title: "the capture holds packets more than once",
			Method: "A copy has the numbers, flags, window, IP identification, timestamps and SACK blocks of one of the last packets of its connection, within 20 ms, or within 1 s if TTL, VLAN or interface differ. " +
				"What a second interface shows of bytes that were seen is a copy, too. Copies are set aside before anything is judged.",
			Params:         []finding.Param{{Name: "notice-share", Default: 0.01, Unit: "ratio", Doc: "copies per packet from which the finding is a notice; own choice"}},
			FalsePositives: "A network that duplicates packets within microseconds looks the same. tshark, tcptrace and others count copies as retransmissions and duplicate ACKs.",
			References:     []string{"editcap(1) -d", "Wireshark wiki: DuplicatePackets"},
		},
		Judge: perCapture(judgeDuplicates),
	}
}

func judgeDuplicates(c *Capture, p finding.Params) (f finding.Finding, ok bool) {
	v := &c.Picture
	n := v.Copies.Count
	if n == 0 {
		return f, false
	}
	part := share(n, c.Packets.TCP)
	f.Severity = graded(part, p["notice-share"], 2)
	f.Confidence, f.Reasons = finding.High, []string{"a sender repeats neither IP identification nor timestamp of a packet"}
	f.Summary = fmt.Sprintf("%d of %d TCP packets are copies of others in the same capture, typically %v behind them", n, c.Packets.TCP, v.CopyDistance.P50)
	cause := "a mirror port that copies both directions, or a capture on a bridge and its port"
	if v.RoutedCopies > 0 {
		f.Summary += fmt.Sprintf("; %d have another TTL", v.RoutedCopies)
		cause = "both sides of a router, which takes one off the TTL and writes MAC addresses of its own, are captured"
	}
	f.Measures = []finding.Measure{
		{Name: "copies", Value: float64(n), Unit: "packets"},
		{Name: "copy_share", Value: part, Unit: "ratio", Threshold: finding.Threshold(p["notice-share"])},
		{Name: "copy_distance", Value: float64(v.CopyDistance.P50), Unit: "ns"},
		{Name: "routed_copies", Value: float64(v.RoutedCopies), Unit: "packets"},
	}
	f.Evidence = c.show(&v.Copies, func(s *Sight) string { return fmt.Sprintf("a copy, %v behind the first", unit.Nanos(s.Value)) })
	f.Advice = []finding.Advice{{Text: "likely " + cause + ": capture at one point only, or take copies out before other tools read it: editcap -d -w 0.001 IN OUT (copies of equal bytes only)", Reference: "editcap(1)"}}
	return f, true
}

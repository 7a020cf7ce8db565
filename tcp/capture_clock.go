package tcp

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/unit"
)

// Clock finds captures whose times or order cannot be right.
func Clock() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:   "capture/clock",
			Title:  "times or order of the packets are not right",
			Method: "A packet with a time before that of the one before it in the file steps back. Data that comes behind its own acknowledgement shows that one direction was recorded late, or with another clock. Both make round trips, idle times and what limits a connection wrong.",
			Params: []finding.Param{
				{Name: "notice-step", Default: 1e6, Unit: "ns", Doc: "largest step back from which the finding is a notice; own choice: smaller ones come from several queues of a device and matter little"},
			},
			FalsePositives: "A capture that began in the middle of a flight holds ACKs of data before its beginning; only data that does come counts. Files joined without sorting (mergecap -a) step back by nature.",
			References:     []string{"mergecap(1)", "reordercap(1)"},
		},
		Judge: perCapture(judgeClock),
	}
}

func judgeClock(c *Capture, p finding.Params) (f finding.Finding, ok bool) {
	back, behind := &c.Picture.Backward, &c.Picture.Behind
	if back.Count+behind.Count == 0 {
		return f, false
	}
	if float64(back.Worst.Value) >= p["notice-step"] || behind.Count > 0 {
		f.Severity = finding.Notice
	}
	f.Confidence, f.Reasons = finding.High, []string{"nothing can arrive before it was sent"}
	var parts []string
	if back.Count > 0 {
		parts = append(parts, fmt.Sprintf("%s earlier than the one before, by up to %v", count(back.Count, "packet"), unit.Nanos(back.Worst.Value)))
	}
	if behind.Count > 0 {
		parts = append(parts, fmt.Sprintf("%s behind their own acknowledgement, by up to %v", count(behind.Count, "data packet"), unit.Nanos(behind.Worst.Value)))
	}
	f.Summary = strings.Join(parts, "; ")
	f.Measures = []finding.Measure{
		{Name: "steps_back", Value: float64(back.Count), Unit: "packets"},
		{Name: "largest_step", Value: float64(back.Worst.Value), Unit: "ns", Threshold: finding.Threshold(p["notice-step"])},
		{Name: "behind_acks", Value: float64(behind.Count), Unit: "packets"},
	}
	f.Evidence = append(c.show(back, func(s *Sight) string { return fmt.Sprintf("%v before the packet before it", unit.Nanos(s.Value)) }),
		c.show(behind, func(s *Sight) string {
			return fmt.Sprintf("acknowledged %v before it was recorded", unit.Nanos(s.Value))
		})...)
	f.Advice = []finding.Advice{{Text: "sort the file by time (reordercap IN OUT); capture both directions on one interface, or with devices whose clocks agree", Reference: "reordercap(1)"}}
	return f, true
}

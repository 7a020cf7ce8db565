package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// doubt is what the capture itself does that a rule's findings could be faked by, as bits.
type doubt uint8

const (
	byCopies doubt = 1 << iota
	byOffload
	byCut
	byClock
	byLoss
)

// caveats says what the capture itself may have done to the picture, as far as the rule minds it.
func (s *trial) caveats(minds doubt) []string {
	var list []string
	add := func(d doubt, n int64, format string, args ...any) {
		if minds&d != 0 && n > 0 {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	p := &s.capture.Picture
	add(byCopies, p.Copies.Count, "the capture holds %s more than once (capture/duplicates); they were set aside", count(p.Copies.Count, "packet"))
	add(byOffload, s.Directions[0].SuperSegments+s.Directions[1].SuperSegments, "captured above segmentation offload (capture/above-offload): on the wire there are more packets, at other times")
	add(byCut, p.OptionsCut.Count, "of %s the options were not captured whole (capture/truncated): MSS, window scale, SACK and timestamps may be unknown", count(p.OptionsCut.Count, "packet"))
	add(byClock, p.Backward.Count+p.Behind.Count, "the clock of the capture is not in order (capture/clock): times may be wrong")
	add(byLoss, s.capture.Dropped(), "the capture says that it dropped %s (capture/loss)", count(s.capture.Dropped(), "packet"))
	add(byLoss, s.missed(), "the capture lacks %s that were acknowledged (capture/loss)", unit.Bytes(s.missed()))
	if n := s.capture.Totals.Evicted; n > 0 {
		list = append(list, fmt.Sprintf("%d connections were cut short by the bound on live ones", n))
	}
	return list
}

// perCapture judges a capture as a whole.
func perCapture(judge func(*Capture, finding.Params) (finding.Finding, bool)) func(*Capture, finding.Params) []finding.Finding {
	return func(c *Capture, p finding.Params) []finding.Finding {
		f, ok := judge(c, p)
		if !ok {
			return nil
		}
		f.Source, f.Start, f.End = c.Source, c.Start, c.End
		c.locate(f.Evidence)
		f.Subject = finding.Subject{Kind: "capture", Key: "capture", Name: c.Source}
		return []finding.Finding{f}
	}
}

// show is evidence of the first and the worst of some sights. text explains one.
func (c *Capture) show(s *Sights, text func(*Sight) string) []finding.Evidence {
	var list []finding.Evidence
	for i, at := range []Sight{s.First, s.Worst} {
		if s.Count > 0 && (i == 0 || at.Record != s.First.Record) {
			list = append(list, finding.At(source.Pos{Source: c.Source, Offset: at.Offset, Record: at.Record}, "%s", text(&at)))
		}
	}
	return list
}

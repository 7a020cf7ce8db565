package report

import (
	"fmt"
	"io"

	"nettrace/datapath"
	"nettrace/unit"
)

// playbackJSON is a playback with its packets, where they are asked for.
type playbackJSON struct {
	*datapath.Playback
	Packets []string `json:"packets,omitempty"`
}

// PlaybacksJSON writes replays of recordings for scripts.
func PlaybacksJSON(w io.Writer, list []*datapath.Playback, packets bool) error {
	out := make([]playbackJSON, 0, len(list))
	for _, p := range list {
		j := playbackJSON{Playback: p}
		if packets {
			j.Packets = p.Sequence(p.Changed != nil)
		}
		out = append(out, j)
	}
	return indented(w, map[string][]playbackJSON{"playbacks": out})
}

// Playbacks prints what connections were recorded as, what the model makes of them, and what under other settings.
func Playbacks(w io.Writer, list []*datapath.Playback, packets bool, style Style) error {
	p := &page{w: w, style: style}
	for i, x := range list {
		if i > 0 {
			p.print("\n")
		}
		p.playback(x)
		if packets {
			p.print("\n")
			for _, line := range x.Sequence(x.Changed != nil) {
				p.print(line + "\n")
			}
		}
	}
	if len(list) > 0 {
		p.print("\n")
		for _, text := range list[0].Assumptions {
			p.labelled(0, "assumes", faint, 9, text)
		}
	}
	return p.err
}

func (p *page) playback(x *datapath.Playback) {
	path := fmt.Sprintf("round trip %v, MSS %d", x.RoundTrip, x.MSS)
	if x.RateMbps > 0 {
		path += fmt.Sprintf(", %s Mb/s", unit.Number(x.RateMbps))
	}
	p.print(fmt.Sprintf("%s %s > %s, captured at %s, %s\n", p.paint(bold, fmt.Sprintf("#%d", x.Connection)), x.Client, x.Server, x.Side, path))
	for i, e := range x.Ends {
		text := fmt.Sprintf("%d writes, %s, pauses %v in all, nodelay %s, gro %s", e.Writes, unit.Bytes(int64(e.Bytes)), e.Think, switched(e.NoDelay), e.Merging)
		if e.Delayed > 0 {
			text += fmt.Sprintf(", ACKs delayed by %v", e.Delayed)
		}
		if e.Paced {
			text += ", paced"
		}
		p.labelled(0, []string{"client", "server"}[i], faint, 9, text)
	}
	rows := [][]string{trafficRow("recorded", x.Recorded), trafficRow("model", x.Baseline)}
	if x.Changed != nil {
		rows = append(rows, trafficRow(x.Changes, *x.Changed))
	}
	p.table([]string{"", "packets", "on the wire", "pure ACKs", "advancing", "exchanges", "median", "longest", "duration"}, rows, map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true})
	for _, text := range x.Warnings {
		p.labelled(0, "warning", yellow, 9, text)
	}
}

func switched(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func trafficRow(name string, t datapath.Traffic) []string {
	count := func(n int) string { return unit.Count(int64(n)) }
	return []string{name, count(t.Packets), count(t.WirePackets), count(t.PureACKs), count(t.AdvancingACKs), count(t.Exchanges), t.ExchangeP50.String(), t.ExchangeMax.String(), t.Duration.String()}
}

// TimelineJSON writes a timeline for scripts.
func TimelineJSON(w io.Writer, moments []datapath.Moment) error {
	return indented(w, map[string][]datapath.Moment{"timeline": moments})
}

// Timeline prints where the time of one exchange went.
func Timeline(w io.Writer, moments []datapath.Moment, style Style) error {
	p := &page{w: w, style: style}
	var rows [][]string
	for _, m := range moments {
		rows = append(rows, []string{m.At.String(), "+" + m.Since.String(), m.Where, m.What})
	}
	p.table([]string{"at", "after", "where", "what"}, rows, map[int]bool{0: true, 1: true})
	return p.err
}

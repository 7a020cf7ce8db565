package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"nettrace/coalesce"
	"nettrace/unit"
)

// DecisionsJSON writes what a moderation policy sets on the traffic of hosts, for scripts.
func DecisionsJSON(w io.Writer, hosts []*coalesce.Host, policy string) error {
	out := struct {
		Decisions []coalesce.Decisions `json:"decisions"`
	}{[]coalesce.Decisions{}}
	for _, h := range hosts {
		d, err := h.Decide(policy)
		if err != nil {
			return err
		}
		out.Decisions = append(out.Decisions, d...)
	}
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

// Decisions prints them, a line for each step of the recording.
func Decisions(w io.Writer, hosts []*coalesce.Host, policy string, style Style) error {
	p := &page{w: w, style: style}
	found := false
	for _, h := range hosts {
		all, err := h.Decide(policy)
		if err != nil {
			return err
		}
		for _, d := range all {
			if found {
				p.print("\n")
			}
			p.decisions(d)
			found = true
		}
	}
	if !found {
		p.print("no interface with packets in both directions over a known time: nothing to decide on\n")
	}
	return p.err
}

func (p *page) decisions(d coalesce.Decisions) {
	title := orUnnamed(d.Interface)
	if d.Host != "" {
		title = d.Host + " " + title
	}
	if d.Ring >= 0 {
		title += " rx " + strconv.Itoa(d.Ring)
	}
	p.print(p.paint(bold, Clean(title+": "+d.Policy)) + "\n")
	p.labelled(0, "", "", 1, coalesce.PolicyDoc(d.Policy)+"; settings from "+d.Settings)
	var rows [][]string
	for _, s := range d.Steps {
		why := string(s.Decision.Reason)
		if s.OnEdge {
			why += ", on a knife edge"
		}
		seconds := s.Sample.Elapsed.Seconds()
		interrupts := "-"
		if s.Sample.Interrupts > 0 {
			interrupts = unit.Number(float64(s.Sample.Interrupts) / seconds)
		}
		rows = append(rows, []string{fmt.Sprintf("%.3f s", s.Start.Seconds()), unit.Number(float64(s.Sample.RXPackets) / seconds), unit.Number(float64(s.Sample.TXPackets) / seconds), interrupts,
			fmt.Sprintf("%d us", s.Decision.Usecs), frames(s.Decision.Frames), why})
	}
	p.table([]string{"from", "rx packets/s", "tx packets/s", "interrupts/s", "it sets", "frames", "why"}, rows, rightFrom(0, 6))
	for _, n := range d.Notes {
		p.labelled(0, "note", faint, 6, n)
	}
}

func frames(n uint64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatUint(n, 10)
}

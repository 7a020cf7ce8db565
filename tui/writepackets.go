package tui

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/pcap"
)

// selection is some packets of a capture, which can be written as pcapng.
type selection struct {
	what    string
	capture *capture
	filter  pcap.Filter
	marked  analyze.Marked
}

// selecting is implemented by pages that are about packets.
type selecting interface{ Selections(m *Model) []selection }

// writePackets offers what packets can be written.
func (m *Model) writePackets() {
	p, ok := m.page().(selecting)
	if !ok {
		m.said = "no packets are selected here: w works where packets, connections or findings that cite packets are listed"
		return
	}
	if m.result == nil {
		m.said = "packets are written with what findings say of them, which comes when all is read"
		return
	}
	var items []item
	for i, s := range p.Selections(m) {
		items = append(items, item{fmt.Sprint(i + 1), s.what, func() act { return m.writeSelection(s) }})
	}
	if len(items) == 0 {
		m.said = "nothing here stands for packets of a capture"
		return
	}
	m.choose("write packets as pcapng", items)
}

func (m *Model) writeSelection(s selection) act {
	if s.capture.path == "-" {
		return say("packets that came from a pipe cannot be read again: save the capture to a file first")
	}
	r, ctx, program := copied(m.result), m.library.ctx, m.options.Program
	m.askFile(s.what, m.fileName("packets", ".pcapng"), func(w io.Writer) error {
		n, err := r.WritePackets(ctx, s.capture.path, s.filter, s.marked, w, program)
		if err == nil && n == 0 {
			err = fmt.Errorf("no packet is selected")
		}
		return err
	})
	return act{}
}

func ofConnection(c *capture, number int64) selection {
	return selection{what: fmt.Sprintf("connection %d of %s", number, c.name()), capture: c, marked: analyze.Marked{Connection: number}}
}

func ofRecords(what string, c *capture, records ...int64) selection {
	s := selection{what: what + " of " + c.name(), capture: c}
	for _, r := range records {
		s.marked.Records = append(s.marked.Records, analyze.Span{First: r, Last: r})
	}
	return s
}

// Selections implements selecting: what the filter lets through, the connection, what is marked and what lies between.
func (p *packetsPage) Selections(m *Model) (list []selection) {
	c := p.packets.capture
	if p.packets.text != "" {
		list = append(list, selection{what: "what /" + p.packets.text + " lets through of " + c.name(), capture: c, filter: p.packets.filter})
	}
	if row, known := c.row(p.packets.Record()); known && row.Conn > 0 {
		list = append(list, ofConnection(c, row.Conn))
	}
	if marked := m.markedRecords(c); len(marked) > 0 {
		list = append(list, ofRecords(plural(len(marked), "marked packet", "marked packets"), c, marked...))
		if first, last := marked[0], marked[len(marked)-1]; last > first {
			s := selection{what: fmt.Sprintf("from the mark at #%d to the one at #%d of %s", first, last, c.name()), capture: c}
			s.marked.Records = []analyze.Span{{First: first, Last: last}}
			list = append(list, s)
		}
	}
	if cited := slices.Sorted(maps.Keys(p.packets.evidence())); len(cited) > 0 {
		list = append(list, ofRecords(plural(len(cited), "cited packet", "cited packets"), c, cited...))
	}
	return append(list, selection{what: "all packets of " + c.name(), capture: c})
}

// Selections implements selecting.
func (p *packetPage) Selections(*Model) (list []selection) {
	c := p.packets.capture
	list = append(list, ofRecords(fmt.Sprintf("packet %d", p.record), c, p.record))
	if p.packet != nil && p.packet.Conn > 0 {
		list = append(list, ofConnection(c, p.packet.Conn))
	}
	return list
}

// Selections implements selecting.
func (p *flowsPage) Selections(*Model) []selection {
	row, ok := p.list.Selected()
	if !ok {
		return nil
	}
	f := &p.flows[row]
	return []selection{ofConnection(p.explorer.library.capture(f.capture.Source), f.Number)}
}

// Selections implements selecting: the packets that a finding cites, capture by capture.
func (p *findingsPage) Selections(*Model) []selection {
	row, ok := p.list.Selected()
	if !ok {
		return nil
	}
	return p.explorer.cited(p.order[row].Finding.Evidence)
}

// Selections implements selecting.
func (p *findingPage) Selections(*Model) []selection { return p.explorer.cited(p.finding.Evidence) }

// cited are the packets that evidence names, capture by capture.
func (x *explorer) cited(evidence []finding.Evidence) (list []selection) {
	records := map[string]map[int64]string{}
	for i := range evidence {
		at := evidence[i].Pos
		if at.Record == 0 {
			continue
		}
		if records[at.Source] == nil {
			records[at.Source] = map[int64]string{}
		}
		records[at.Source][at.Record] = ""
	}
	for _, path := range slices.Sorted(maps.Keys(records)) {
		r := slices.Sorted(maps.Keys(records[path]))
		list = append(list, ofRecords(plural(len(r), "cited packet", "cited packets"), x.library.capture(path), r...))
	}
	return list
}

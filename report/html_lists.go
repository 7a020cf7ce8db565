package report

import (
	"fmt"
	"strings"

	"nettrace/analyze"
	"nettrace/tcp"
	"nettrace/unit"
)

// Bounds of the lists of a page; what is beyond them is in the result that the page holds.
const (
	maxConnectionRows = 200
	maxSourceRows     = 500
)

func sourceID(path string) string { return anchor("source", path) }

func (p *pageMaker) sourceTable() *table {
	t := &table{ID: "sources", Caption: "Sources", Head: []column{{"source", false}, {"format", false}, {"at", true}, {"size", true}, {"records", true}, {"span", true}, {"facts", false}}}
	seen := map[string]bool{}
	for i, s := range p.result.Sources {
		if i == maxSourceRows {
			t.Note = fmt.Sprintf("%s more sources are in the result that this page holds", unit.Count(int64(len(p.result.Sources)-i)))
			break
		}
		r := row{Cells: []cell{text(s.Path), {Text: s.Format, Code: true}, text(""), number(float64(s.Bytes), unit.Bytes(s.Bytes)), text(""), text(""), text(sourceFacts(&s))}}
		if !seen[s.Path] {
			seen[s.Path], r.ID = true, sourceID(s.Path)
		}
		if s.Format == "" {
			r.Cells[1] = text("not recognised")
		}
		if s.Line > 0 {
			r.Cells[2] = number(float64(s.Line), fmt.Sprintf("line %d", s.Line))
		}
		if s.Records > 0 {
			r.Cells[4] = whole(s.Records)
		}
		if s.End > s.Start || s.Epoch != 0 {
			r.Cells[5] = nanos(s.End - s.Start)
		}
		t.Rows = append(t.Rows, r)
	}
	return t.withoutEmpty()
}

func sourceFacts(s *analyze.Source) string {
	var parts []string
	if s.Format == "" {
		return s.Note + "; tried " + strings.Join(s.Tried, ", ")
	}
	if s.Epoch != 0 {
		parts = append(parts, span(*s))
	}
	for _, host := range []string{s.Host, s.Role} {
		if host != "" {
			parts = append(parts, host)
		}
	}
	if len(s.Compression) > 0 {
		parts = append(parts, "out of "+strings.Join(s.Compression, ", "))
	}
	for _, f := range s.Facts {
		parts = append(parts, f.Name+" "+f.Value)
	}
	for _, e := range s.Events {
		parts = append(parts, fmt.Sprintf("event %s, %s samples", e.Name, unit.Count(e.Samples)))
	}
	if s.Note != "" {
		parts = append(parts, s.Note)
	}
	return strings.Join(parts, "; ")
}

func (p *pageMaker) ledger() *table {
	if len(p.result.Ledger) == 0 {
		return nil
	}
	t := &table{ID: "ledger", Caption: "Ledger", Head: []column{{"weight", false}, {"source", false}, {"first at", true}, {"kind", false}, {"count", true}, {"what was met", false}}}
	for _, e := range p.result.Ledger {
		from := cell{Text: p.names[e.Source]}
		if p.sources[e.Source] {
			from.Link = sourceID(e.Source)
		}
		at := placeCell(e.First)
		if e.Source == "" {
			at = text("")
		}
		t.Rows = append(t.Rows, row{ID: anchor("loss", e.Source, e.Name, e.Text), Cells: []cell{text(string(e.Severity)), from, at, {Text: e.Name, Code: true}, whole(e.Count), text(e.Text)}})
	}
	return t
}

// connections lists those of all captures.
func (p *pageMaker) connections() *table {
	t := &table{ID: "connection-table", Caption: "Connections",
		Head: []column{{"capture", false}, {"conn", true}, {"client", false}, {"server", false}, {"start", true}, {"length", true}, {"bytes sent", true}, {"back", true},
			{"packets sent", true}, {"back", true}, {"sent again", true}, {"RTT", true}, {"MSS", true}, {"captured at", false}}}
	missing := int64(0)
	for _, c := range p.result.Models.Captures {
		shown := c.Connections[:min(len(c.Connections), maxConnectionRows-len(t.Rows))]
		for i := range shown {
			t.Rows = append(t.Rows, p.connection(c, &shown[i]))
		}
		missing += c.Totals.Connections - int64(len(shown))
	}
	if missing > 0 {
		t.Note = fmt.Sprintf("%s more connections; nettrace flows lists those with something to tell", unit.Count(missing))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

func (p *pageMaker) connection(c *tcp.Capture, x *tcp.Connection) row {
	out, in := &x.Directions[0], &x.Directions[1]
	rtt := text("")
	if x.RoundTrip > 0 {
		rtt = nanos(x.RoundTrip)
	}
	return row{ID: anchor("conn", c.Source, fmt.Sprint(x.Number)), Cells: []cell{{Text: p.names[c.Source], Link: sourceID(c.Source)},
		whole(x.Number), {Text: x.Client.String(), Code: true}, {Text: x.Server.String(), Code: true}, number(float64(x.Start), fmt.Sprintf("%.6f s", x.Start.Seconds())), nanos(x.End - x.Start),
		whole(out.Bytes), whole(in.Bytes), whole(out.Packets), whole(in.Packets), whole(out.RetransmittedPackets + in.RetransmittedPackets), rtt,
		whole(int64(max(out.EffectiveMSS, in.EffectiveMSS))), text(x.Side.Place)}}
}

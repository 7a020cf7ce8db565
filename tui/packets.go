package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/unit"
)

// packetsPage lists the packets of one capture.
type packetsPage struct {
	listPage
	packets *packetList
}

func newPacketsPage(l *look, c *capture, record int64) *packetsPage {
	p := &packetsPage{packets: newPacketList(l, c, record)}
	name := c.name()
	if record > 0 {
		name += fmt.Sprintf(" #%d", record)
	}
	p.listPage = newListPage(name, l, p.packets.table, 100)
	return p
}

func packetsKeys() []binding {
	return []binding{
		openKey("fields and bytes"), {"/", "filter", "filter in tcpdump's words"}, {"n N", "evidence", "next, previous packet that the finding cites, or any finding"},
		{"f", "follow", "only the packet's connection"}, plotKey(), {"m '", "mark", "mark the packet with a letter, go back to it"}, writeKey("what the filter lets through, the connection, or what is marked"), copyKey(), upKey(),
	}
}

// Keys implements page.
func (p *packetsPage) Keys() []binding { return packetsKeys() }

// Enter implements page.
func (p *packetsPage) Enter() act {
	record := p.packets.Target()
	if record == 0 {
		return say("there is no packet to open yet")
	}
	return act{push: newPacketPage(p.look, p.packets, record)}
}

// Press implements page.
func (p *packetsPage) Press(key string) (act, bool) {
	switch key {
	case "n", "N":
		return p.nextEvidence(key == "N"), true
	case "f":
		return p.follow(), true
	case "t":
		return p.packets.plot(), true
	}
	return act{}, false
}

// nextEvidence goes to the next packet that is cited.
func (p *packetsPage) nextEvidence(back bool) act {
	cited := slices.Sorted(maps.Keys(p.packets.evidence()))
	if len(cited) == 0 {
		return say("no finding cites a packet of this capture")
	}
	here := p.packets.Target()
	i, found := slices.BinarySearch(cited, here)
	switch {
	case back:
		i--
	case found:
		i++
	}
	p.packets.goal = cited[(i+len(cited))%len(cited)]
	p.packets.reach()
	return act{}
}

// follow filters for the connection of the selected packet.
func (p *packetsPage) follow() act {
	row, known := p.packets.capture.row(p.packets.Record())
	if !known || row.Proto != "tcp" && row.Proto != "udp" {
		return say("this packet belongs to no connection")
	}
	text := row.Proto + " and " + endFilter(row.Src) + " and " + endFilter(row.Dst)
	if err := p.packets.Filter(text); err != nil {
		return say(err.Error())
	}
	return say("only this connection; esc or an empty filter shows all packets")
}

// endFilter makes "host 192.0.2.1 and port 80" of "192.0.2.1:80" or "[::1]:80".
func endFilter(end string) string {
	at := strings.LastIndexByte(end, ':')
	return "host " + strings.Trim(end[:max(at, 0)], "[]") + " and port " + end[at+1:]
}

// Filter implements filtering.
func (p *packetsPage) Filter(text string) error { return p.packets.Filter(text) }

// FilterText implements filtering.
func (p *packetsPage) FilterText() string { return p.packets.text }

// FilterHint implements filtering.
func (p *packetsPage) FilterHint() string { return "tcpdump's words: host 192.0.2.1 and tcp port 443" }

// Want implements wanting.
func (p *packetsPage) Want() tea.Cmd { return p.packets.Want() }

// Note implements page.
func (p *packetsPage) Note() string { return p.packets.Note() }

// Copies implements page.
func (p *packetsPage) Copies() []clip {
	row, known := p.packets.capture.row(p.packets.Record())
	if !known {
		return nil
	}
	return append([]clip{{fmt.Sprintf("packet %d", row.Record), packetLine(row)}}, p.listPage.Copies()[1:]...)
}

// Command implements commanded.
func (p *packetsPage) Command() string { return p.packets.command() }

// Spot implements spotted: the number of the packet.
func (p *packetsPage) Spot() int64 { return p.packets.Target() }

// Return implements spotted.
func (p *packetsPage) Return(record int64) {
	p.packets.goal = record
	p.packets.reach()
}

// GoTo implements numbered: the number of the packet, or of the next one that the filter lets through.
func (p *packetsPage) GoTo(number int) { p.Return(int64(number)) }

// packetLine tells a packet in one line, as nettrace packets does.
func packetLine(r *analyze.PacketRecord) string {
	line := fmt.Sprintf("#%d %.6f %s > %s", r.Record, r.Time.Seconds(), r.Src, r.Dst)
	if r.Proto == "tcp" {
		line += fmt.Sprintf(" %s seq %d ack %d win %d", r.Header, r.Seq, r.Ack, r.Window)
	} else {
		line += " " + r.Proto
	}
	line += fmt.Sprintf(" len %d", r.Payload)
	if len(r.Flags) > 0 {
		line += " [" + strings.Join(r.Flags, " ") + "]"
	}
	return clean(line)
}

// capturesPage lists the captures, where there are several.
type capturesPage struct {
	listPage
	sources []*analyze.Source
	library *library
}

func newCapturesPage(l *look, lib *library, sources []*analyze.Source) *capturesPage {
	p := &capturesPage{sources: sources, library: lib}
	list := &table{title: "captures", rows: p, columns: []column{
		{name: "capture", grow: true, min: 20},
		{name: "format", drop: 4},
		{name: "packets", right: true},
		{name: "bytes", right: true, drop: 2},
		{name: "span", right: true, drop: 1},
		{name: "cited", right: true, drop: 3},
	}}
	p.listPage = newListPage("Packets", l, list, 100)
	return p
}

func capturesKeys() []binding {
	return []binding{openKey("its packets"), filterKey(), sortKey(), copyKey()}
}

// Keys implements page.
func (p *capturesPage) Keys() []binding { return capturesKeys() }

// Len implements rows.
func (p *capturesPage) Len() int { return len(p.sources) }

// Cell implements rows.
func (p *capturesPage) Cell(row, column int) cell {
	s := p.sources[row]
	switch column {
	case 0:
		return cell{text: p.library.capture(s.Path).name()}
	case 1:
		return text(s.Format)
	case 2:
		return number(unit.Count(s.Records), float64(s.Records))
	case 3:
		return number(unit.Bytes(s.Bytes), float64(s.Bytes))
	case 4:
		return number((s.End - s.Start).String(), float64(s.End-s.Start))
	default:
		n := len(p.library.evidence[s.Path])
		return number(count(n), float64(n))
	}
}

// Enter implements page.
func (p *capturesPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	return act{push: newPacketsPage(p.look, p.library.capture(p.sources[row].Path), 0)}
}

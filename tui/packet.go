package tui

import (
	"encoding/hex"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/pcap"
)

// packetPage shows one packet: its fields, and its bytes. The bytes of the selected field are marked, and a byte that is
// gone to selects its field.
type packetPage struct {
	listPage
	packets *packetList
	record  int64
	packet  *analyze.Packet
	err     error
	asked   int64 // the record that was asked for
	marked  bool  // its marks were known then
	fields  []fieldRow
	bytes   *bytesPane
}

// fieldRow is a layer, or a field of it.
type fieldRow struct {
	layer bool
	pcap.Field
}

func newPacketPage(l *look, packets *packetList, record int64) *packetPage {
	p := &packetPage{packets: packets, record: record}
	list := &table{title: "fields", empty: "reading the packet", rows: p, fixed: true, columns: []column{
		{name: "field", width: 22}, {name: "value", grow: true, min: 16},
	}}
	p.bytes = &bytesPane{look: l, moved: p.goTo}
	p.listPage = newListPage(fmt.Sprintf("packet %d", record), l, list, 55, p.bytes)
	return p
}

func packetKeys() []binding {
	return []binding{{"tab", "bytes", "between fields and bytes"}, {"left right", "packet", "previous, next packet; in the bytes: previous, next byte"}, plotKey(), writeKey("it, or its connection"), copyKey(), filterKey(), upKey()}
}

// Keys implements page.
func (p *packetPage) Keys() []binding { return packetKeys() }

// Name implements page.
func (p *packetPage) Name() string { return fmt.Sprintf("packet %d", p.record) }

// Enter implements page: this is the lowest level.
func (p *packetPage) Enter() act {
	p.Tab()
	return act{}
}

// Press implements page. In the bytes, left and right walk; in the fields they go on to other packets.
func (p *packetPage) Press(key string) (act, bool) {
	step := map[string]int{"left": -1, "right": 1}[key]
	switch {
	case key == "t":
		return p.packets.plot(), true
	case step == 0:
		return act{}, false
	case p.focus == 1:
		p.bytes.walk(step)
	default:
		t := p.packets.table
		t.Move(step)
		p.record = p.packets.Record()
	}
	return act{}, true
}

// packetMsg is an opened packet.
type packetMsg struct {
	to     *packetPage
	record int64
	packet *analyze.Packet
	err    error
}

// Want implements wanting.
func (p *packetPage) Want() tea.Cmd {
	f, marked := p.packets.capture.file, p.record <= p.packets.capture.extent.Marked
	if f == nil || p.asked == p.record && p.marked == marked {
		return p.packets.Want()
	}
	p.asked, p.marked = p.record, marked
	record := p.record
	return tea.Batch(p.packets.Want(), func() tea.Msg {
		packet, err := f.Packet(record)
		return packetMsg{p, record, packet, err}
	})
}

func (p *packetPage) take(msg packetMsg) {
	if msg.record != p.record {
		return
	}
	var selected fieldRow
	if row, ok := p.list.Selected(); ok {
		selected = p.fields[row]
	}
	p.packet, p.err = msg.packet, msg.err
	p.fields, p.bytes.data = nil, nil
	if p.err != nil {
		p.list.empty = clean(p.err.Error())
	} else {
		p.bytes.data = p.packet.Data
		p.fields = rowsOf(p.packet)
	}
	p.list.SetRows(p)
	for row := range p.fields { // the same field, also of another packet
		if f := &p.fields[row]; f.Name == selected.Name && f.Start == selected.Start && f.layer == selected.layer {
			p.list.Select(row)
		}
	}
}

// rowsOf lists what is known of the packet, then its layers with their fields.
func rowsOf(k *analyze.Packet) []fieldRow {
	var list []fieldRow
	layer := func(name string, start, end int) {
		list = append(list, fieldRow{true, pcap.Field{Name: name, Value: fmt.Sprintf("%d bytes", end-start), Start: start, End: end}})
	}
	own := func(name, value string) {
		if value != "" {
			list = append(list, fieldRow{false, pcap.Field{Name: name, Value: value}})
		}
	}
	layer("packet", 0, len(k.Data))
	list[0].End = 0 // all bytes are no field to mark
	own("time", fmt.Sprintf("%.9f s", k.Time.Seconds()))
	own("length", fmt.Sprintf("%d bytes, %d captured, link type %s", k.Length, k.Captured, k.LinkType))
	if k.Conn > 0 {
		own("connection", fmt.Sprint(k.Conn))
	}
	if k.WirePackets > 1 {
		own("on the wire", fmt.Sprintf("%d packets", k.WirePackets))
	}
	own("marks", strings.Join(k.Flags, " "))
	for _, c := range k.Comments {
		own("comment", c)
	}
	for _, l := range k.Layers {
		layer(l.Name, l.Start, l.End)
		for _, f := range l.Fields {
			list = append(list, fieldRow{false, f})
		}
	}
	return list
}

// Len implements rows.
func (p *packetPage) Len() int { return len(p.fields) }

// Cell implements rows.
func (p *packetPage) Cell(row, column int) cell {
	f := &p.fields[row]
	switch {
	case column == 1:
		return text(f.Value)
	case f.layer:
		return styled(text(f.Name), &p.look.title)
	default:
		return cell{text: "  " + clean(f.Name)}
	}
}

// Render marks the bytes of the selected field before the panes are drawn.
func (p *packetPage) Render(width, height int) []string {
	if row, ok := p.list.Selected(); ok && row < len(p.fields) {
		f := &p.fields[row]
		p.bytes.mark(f.Start, f.End, p.focus == 0)
	}
	return p.listPage.Render(width, height)
}

// goTo selects the smallest field that holds a byte.
func (p *packetPage) goTo(at int) {
	best := -1
	for i := range p.fields {
		f := &p.fields[i]
		if at >= f.Start && at < f.End && (best < 0 || f.End-f.Start <= p.fields[best].End-p.fields[best].Start) {
			best = i
		}
	}
	if best >= 0 {
		p.list.Select(best)
	}
}

// Copies implements page.
func (p *packetPage) Copies() []clip {
	row, ok := p.list.Selected()
	if !ok || p.packet == nil {
		return nil
	}
	f := &p.fields[row]
	clips := []clip{{"the field", clean(f.Name + ": " + f.Value)}, {"its value", clean(f.Value)}}
	if bytes := p.bytes.selected(); bytes != "" {
		own := clip{"the bytes of the field, in hexadecimal", bytes}
		if p.focus == 1 {
			clips = append([]clip{own}, clips...)
		} else {
			clips = append(clips, own)
		}
	}
	return append(clips, clip{"the packet", packetLine(&p.packet.PacketRecord)}, clip{"all bytes, in hexadecimal", hex.EncodeToString(p.packet.Data)})
}

// Command implements commanded.
func (p *packetPage) Command() string { return p.packets.command() }

// Note implements page.
func (p *packetPage) Note() string { return p.packets.Note() }

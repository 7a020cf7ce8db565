package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/pcap"
)

// packetList is the table of a capture's packets, or of those that a filter lets through. It holds none of them: rows that
// are seen come from the capture's blocks.
type packetList struct {
	capture   *capture
	table     *table
	cited     map[int64]string // by record, by the finding that the list was opened for; nil: by any finding
	text      string           // the filter
	filter    pcap.Filter
	pending   bool // the filter has yet to be applied
	number    int  // of the filter, so that results of an earlier one are told
	stop      context.CancelFunc
	selection *analyze.Selection // nil: all packets
	applied   int                // number of the filter that selection is of
	goal      int64              // record to go to as soon as it is read
	width     int                // of addresses, that columns were measured with
}

func packetColumns() []column {
	return []column{
		{name: "record", title: "#", width: 9, right: true},
		{name: "time", title: "time s", width: 12, right: true},
		{name: "delta", width: 9, right: true, drop: 4},
		{name: "conn", width: 5, right: true, drop: 5},
		{name: "source", min: 45},
		{name: "destination", min: 45, drop: 3},
		{name: "flags", width: 5},
		{name: "seq", width: 10, right: true, drop: 6},
		{name: "ack", width: 10, right: true, drop: 8},
		{name: "window", width: 6, right: true, drop: 9},
		{name: "length", width: 6, right: true},
		{name: "wire", width: 4, right: true, drop: 7},
		{name: "marks", grow: true, min: 12},
	}
}

const noPackets = "no packets yet"

func newPacketList(l *look, c *capture, goal int64) *packetList {
	p := &packetList{capture: c, goal: goal}
	p.table = &table{look: l, title: c.name(), empty: noPackets, columns: packetColumns(), rows: p, fixed: true}
	return p
}

// Len implements rows.
func (p *packetList) Len() int {
	if p.selection != nil {
		return len(p.selection.Records)
	}
	return int(p.capture.extent.Records)
}

// record returns the number of the packet in a row.
func (p *packetList) record(row int) int64 {
	if p.selection != nil {
		return p.selection.Records[row]
	}
	return int64(row) + 1
}

// Record returns the number of the selected packet, 0 if there is none.
func (p *packetList) Record() int64 {
	row, ok := p.table.Selected()
	if !ok {
		return 0
	}
	return p.record(row)
}

// Target returns the number of the packet that the list is going to, or that is selected: keys may come faster than a
// file is read.
func (p *packetList) Target() int64 {
	if p.goal > 0 {
		return p.goal
	}
	return p.Record()
}

// Marked implements marked: packets that findings cite.
func (p *packetList) Marked(row int) bool { return p.evidence()[p.record(row)] != "" }

// evidence tells, by record, for what packets are cited.
func (p *packetList) evidence() map[int64]string {
	if p.cited != nil {
		return p.cited
	}
	return p.capture.library.evidence[p.capture.path]
}

// Cell implements rows.
func (p *packetList) Cell(row, column int) cell {
	record := p.record(row)
	r, known := p.capture.row(record)
	if column == 0 {
		return number(count(int(record)), float64(record))
	}
	if !known {
		return cell{}
	}
	switch column {
	case 1:
		return number(fmt.Sprintf("%.6f", r.Time.Seconds()), float64(r.Time))
	case 2:
		return p.delta(row, r)
	case 3:
		return positive(r.Conn)
	case 4:
		return text(r.Src)
	case 5:
		return text(r.Dst)
	case 6:
		return text(kindOf(r))
	case 7, 8, 9:
		if r.Proto != "tcp" {
			return cell{}
		}
		v := [...]int64{int64(r.Seq), int64(r.Ack), int64(r.Window)}[column-7]
		return number(fmt.Sprint(v), float64(v))
	case 10:
		return number(fmt.Sprint(r.Payload), float64(r.Payload))
	case 11:
		if r.WirePackets > 1 {
			return positive(int64(r.WirePackets))
		}
		return cell{}
	default:
		return styled(text(strings.Join(r.Flags, " ")), &p.table.look.bad)
	}
}

// kindOf tells TCP flags as tcpdump does, and the protocol of all others.
func kindOf(r *analyze.PacketRecord) string {
	if r.Proto == "tcp" {
		return r.Header
	}
	return r.Proto
}

func positive(n int64) cell {
	if n <= 0 {
		return cell{}
	}
	return number(fmt.Sprint(n), float64(n))
}

// delta is the time since the packet above.
func (p *packetList) delta(row int, r *analyze.PacketRecord) cell {
	if row == 0 {
		return cell{}
	}
	above, known := p.capture.row(p.record(row - 1))
	if !known {
		return cell{}
	}
	d := r.Time - above.Time
	return number(d.String(), float64(d))
}

// Filter takes a filter in tcpdump's words; "" shows all packets.
func (p *packetList) Filter(text string) error {
	f, err := pcap.ParseFilter(text)
	if err != nil {
		return err
	}
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	if p.goal == 0 {
		p.goal = p.Record()
	}
	p.text, p.filter = strings.TrimSpace(text), f
	p.number++
	p.pending = p.text != ""
	if !p.pending {
		p.selection = nil
		p.table.widths, p.table.empty = nil, noPackets
	}
	p.table.filter.text = p.text
	return nil
}

// take takes what a selection found so far. Until something is found, what was shown before stays.
func (p *packetList) take(msg selectedMsg) {
	if msg.number != p.number || p.text == "" {
		return // of an earlier filter
	}
	s := msg.selection
	late := p.applied == p.number && !s.Done && (p.selection.Done || s.Read < p.selection.Read)
	if late || len(s.Records) == 0 && !s.Done {
		return
	}
	if p.goal == 0 {
		p.goal = p.Record()
	}
	p.selection, p.applied = &s, p.number
	p.table.empty = "no packet fits the filter /" + p.text + "; an empty filter shows all " + count(int(p.capture.extent.Records))
	p.table.cursor = clamp(p.table.cursor, p.Len())
}

// Want returns the command that reads what is seen and not there yet.
func (p *packetList) Want() tea.Cmd {
	c := p.capture
	if c.file == nil {
		return c.open()
	}
	p.measure()
	p.reach()
	var cmds []tea.Cmd
	if p.pending && c.extent.Done { // the index has to be whole
		p.pending = false
		var ctx context.Context
		ctx, p.stop = context.WithCancel(c.library.ctx)
		cmds = append(cmds, c.library.choose(ctx, c.file, p.filter, p, p.number))
	}
	return tea.Batch(append(cmds, p.seen())...)
}

// measure makes the columns fit when longer addresses came into sight or more packets were read.
func (p *packetList) measure() {
	record := len(count(int(p.capture.extent.Records)))
	if p.width != p.capture.width || p.table.columns[0].width != record {
		p.width, p.table.columns[0].width, p.table.widths = p.capture.width, record, nil
	}
}

// seen returns the command that reads the rows in sight, and one above them.
func (p *packetList) seen() tea.Cmd {
	first, last := p.table.top-1, p.table.top+max(p.table.body, 60)
	if p.table.cursor < p.table.top || p.table.cursor > last { // it was not drawn since the cursor moved
		first, last = p.table.cursor-max(p.table.body, 60), p.table.cursor+max(p.table.body, 60)
	}
	first, last = max(first, 0), min(last, p.Len()-1)
	if first > last {
		return nil
	}
	if p.selection == nil {
		return p.capture.want(p.record(first), p.record(last))
	}
	return p.capture.pick(p.selection.Records[first : last+1])
}

// reach goes to the record that the list was opened at, once it is read; in a filtered list to the next one.
func (p *packetList) reach() {
	if p.goal == 0 {
		return
	}
	place, there := int(p.goal)-1, p.goal <= p.capture.extent.Records
	if p.selection != nil {
		place, _ = slices.BinarySearch(p.selection.Records, p.goal)
		there = place < len(p.selection.Records) || p.selection.Done
		place = clamp(place, p.Len())
	} else if p.pending {
		return
	}
	if there {
		p.table.cursor = place
		p.table.top = max(place-max(p.table.body, 9)/3, 0)
		p.goal = 0
	}
}

// Note says what there is to tell of the selected packet or of the whole.
func (p *packetList) Note() string {
	c := p.capture
	switch record := p.Record(); {
	case c.err != nil:
		return c.state()
	case p.goal > c.extent.Records && c.extent.Done:
		return "there is no packet " + count(int(p.goal)) + " in the file: it has changed since it was analysed"
	case p.goal > c.extent.Records:
		return "going to packet " + count(int(p.goal)) + ": " + c.state()
	case p.pending:
		return "the filter is applied when the capture is read: " + c.state()
	case p.selection != nil && !p.selection.Done:
		return "filtering: " + count(int(p.selection.Read)) + " packets looked at"
	case p.selection != nil && p.selection.More:
		return "the filter lets through more: only the first " + count(p.Len()) + " are listed"
	case p.evidence()[record] != "":
		return c.library.look.mark + " " + clean(p.evidence()[record])
	case c.extent.Done && c.extent.Marked < min(record, c.extent.Records):
		return "marks are kept for the first " + count(int(c.extent.Marked)) + " packets only"
	default:
		return c.state()
	}
}

// plot shows the connection of the selected packet over time.
func (p *packetList) plot() act {
	row, known := p.capture.row(p.Record())
	if !known || row.Proto != "tcp" || row.Conn == 0 {
		return say("this packet belongs to no TCP connection that is known yet")
	}
	return act{push: newSequencePage(p.table.look, p.capture, row.Conn, clean(row.Src+" > "+row.Dst), row.Record)}
}

// command is what prints the packets that are shown.
func (p *packetList) command() string {
	words := []string{p.capture.path}
	if p.text != "" {
		words = append(words, p.text)
	}
	return commandLine("packets", words...)
}

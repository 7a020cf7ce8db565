package tui

import (
	"fmt"
	"net/netip"
	"strings"

	"nettrace/tcp"
	"nettrace/unit"
)

// flowsPage lists the connections of all captures.
type flowsPage struct {
	listPage
	explorer *explorer
	flows    []flow
	detail   *document
}

// flow is a connection and the capture that it is in.
type flow struct {
	capture *tcp.Capture
	*tcp.Connection
}

func newFlowsPage(x *explorer) *flowsPage {
	p := &flowsPage{explorer: x, detail: &document{look: x.look}}
	left := int64(0)
	for _, c := range x.result.Models.Captures {
		left += c.Totals.NotKept
		for i := range c.Connections {
			p.flows = append(p.flows, flow{c, &c.Connections[i]})
		}
	}
	list := &table{title: "connections", empty: "the captures hold no TCP connection", rows: p, columns: flowColumns(len(x.result.Models.Captures) > 1)}
	if left > 0 {
		list.title = fmt.Sprintf("connections, %s more only summed", unit.Count(left))
	}
	p.listPage = newListPage("Flows", x.look, list, 60, p.detail)
	return p
}

func flowColumns(several bool) []column {
	columns := []column{
		{name: "conn", right: true},
		{name: "client", min: 45},
		{name: "server", min: 45},
		{name: "start", title: "start s", right: true, drop: 7},
		{name: "length", right: true, drop: 4},
		{name: "sent", title: "bytes >", right: true},
		{name: "received", title: "< bytes", right: true, drop: 3},
		{name: "packets", right: true, drop: 6},
		{name: "again", right: true, drop: 2},
		{name: "rtt", title: "RTT", right: true, drop: 5},
		{name: "mss", title: "MSS", right: true, drop: 8},
		{name: "side", drop: 9},
		{name: "capture", grow: true, min: 0, drop: 10},
	}
	if several {
		columns[len(columns)-1].min, columns[len(columns)-1].drop = 16, 1
	}
	return columns
}

func flowsKeys() []binding {
	return []binding{openKey("its packets"), plotKey(), filterKey(), sortKey(), tabKey(), writeKey("its packets"), copyKey()}
}

// Press implements page.
func (p *flowsPage) Press(key string) (act, bool) {
	row, ok := p.list.Selected()
	if key != "t" || !ok {
		return act{}, false
	}
	f := &p.flows[row]
	return act{push: newSequencePage(p.look, p.explorer.library.capture(f.capture.Source), f.Number, clean(f.Name()), 0)}, true
}

// Command implements commanded.
func (p *flowsPage) Command() string {
	row, ok := p.list.Selected()
	if !ok {
		return ""
	}
	return commandLine("flows", p.flows[row].capture.Source, "--detail", fmt.Sprint(p.flows[row].Number))
}

// Keys implements page.
func (p *flowsPage) Keys() []binding { return flowsKeys() }

// Len implements rows.
func (p *flowsPage) Len() int { return len(p.flows) }

// Cell implements rows.
func (p *flowsPage) Cell(row, column int) cell {
	f := &p.flows[row]
	out, in := &f.Directions[0], &f.Directions[1]
	n := func(v int64) cell { return number(unit.Count(v), float64(v)) }
	switch column {
	case 0:
		return n(f.Number)
	case 1:
		return cell{text: f.Client.String()}
	case 2:
		return cell{text: f.Server.String()}
	case 3:
		return number(fmt.Sprintf("%.6f", f.Start.Seconds()), float64(f.Start))
	case 4:
		return nanos(f.End - f.Start)
	case 5:
		return n(out.Bytes)
	case 6:
		return n(in.Bytes)
	case 7:
		return n(out.Packets + in.Packets)
	case 8:
		c := n(out.RetransmittedPackets + in.RetransmittedPackets)
		if c.value > 0 {
			c.style = &p.look.bad
		}
		return c
	case 9:
		return nanos(f.RoundTrip)
	case 10:
		return n(int64(max(out.EffectiveMSS, in.EffectiveMSS)))
	case 11:
		return text(f.Side.Place)
	default:
		return text(p.explorer.names[f.capture.Source])
	}
}

func nanos(v unit.Nanos) cell {
	if v == 0 {
		return cell{text: "-", numeric: true}
	}
	return number(v.String(), float64(v))
}

// Render shows the selected connection in the second pane.
func (p *flowsPage) Render(width, height int) []string {
	p.detailed(p.detail, func(row int) (string, []paragraph) {
		return fmt.Sprintf("connection %d", p.flows[row].Number), p.flows[row].describe()
	})
	return p.listPage.Render(width, height)
}

// describe tells what is known of a connection, in the words of nettrace flows --detail.
func (f *flow) describe() []paragraph {
	var list []paragraph
	add := func(label, format string, args ...any) {
		list = append(list, paragraph{label: label, text: clean(fmt.Sprintf(format, args...))})
	}
	add("who", "%s, from packet #%d; began %s, ended %s", f.Name(), f.Record, f.Began, f.Ended)
	add("side", "%s, confidence %s: %s", f.Side.Place, f.Side.Confidence, strings.Join(f.Side.Reasons, "; "))
	h := &f.Handshake
	add("shake", "MSS %d and %d, timestamps %v, SACK %v; RTT %s", h.Ends[0].MSS, h.Ends[1].MSS, h.Timestamps, h.SACK, nanos(h.RoundTrip).text)
	if e := &f.Exchanges; e.Count > 0 {
		add("talk", "%s exchanges, %s (%s to %s); %s of them %s bytes for %s: %d packets, then %d from the server", unit.Count(e.Count), e.Times.P50, e.Times.Min, e.Times.Max,
			unit.Count(e.Usual.Count), unit.Count(e.Usual.RequestBytes), unit.Count(e.Usual.ResponseBytes), e.Usual.RequestPackets, e.Usual.ServerPackets)
	}
	for i, name := range []string{"c > s", "s > c"} {
		d := &f.Directions[i]
		add(name, "%s packets (%s on the wire), %s bytes, MSS %d; %s sent again, %s reordered, %s timeouts; tails %s hidden, %s visible, %s held; %s stretch ACKs; RTT %s (%s to %s)",
			unit.Count(d.Packets), unit.Count(d.WirePackets), unit.Count(d.Bytes), d.EffectiveMSS, unit.Count(d.RetransmittedPackets), unit.Count(d.ReorderedPackets), unit.Count(d.Timeouts),
			unit.Count(d.Tails.Hidden), unit.Count(d.Tails.Visible), unit.Count(d.Tails.Held), unit.Count(d.ACKs.Stretch), d.RTT.P50, d.RTT.Min, d.RTT.Max)
	}
	for _, e := range f.Events {
		add("event", "%s at packet #%d, %.6f s", e.Kind, e.Record, e.Time.Seconds())
	}
	return list
}

// Enter implements page: the connection's packets.
func (p *flowsPage) Enter() act {
	row, ok := p.list.Selected()
	if !ok {
		return act{}
	}
	f := &p.flows[row]
	page := newPacketsPage(p.look, p.explorer.library.capture(f.capture.Source), f.Record)
	page.name = fmt.Sprintf("connection %d of %s", f.Number, p.explorer.names[f.capture.Source])
	if err := page.packets.Filter("tcp and " + addrFilter(f.Client) + " and " + addrFilter(f.Server)); err != nil {
		return say(err.Error())
	}
	return act{push: page}
}

func addrFilter(a netip.AddrPort) string {
	return fmt.Sprintf("host %s and port %d", a.Addr(), a.Port())
}

package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nettrace/tcp"
	"nettrace/unit"
)

// flow is a connection as scripts get it.
type flow struct {
	Source         string     `json:"source"`
	Conn           int64      `json:"conn"`
	Client         string     `json:"client"`
	Server         string     `json:"server"`
	Start          unit.Nanos `json:"start_ns"`
	End            unit.Nanos `json:"end_ns"`
	CaptureSide    string     `json:"capture_side"`
	ClientToServer flowDir    `json:"client_to_server"`
	ServerToClient flowDir    `json:"server_to_client"`
}

type flowDir struct {
	Packets              int64         `json:"packets"`
	WirePackets          int64         `json:"wire_packets"`
	Bytes                int64         `json:"bytes"`
	RetransmittedPackets int64         `json:"retransmitted_packets"`
	ReorderedPackets     int64         `json:"reordered_packets"`
	RTT                  tcp.Durations `json:"rtt_ns"`
}

// FlowsJSON writes the connections of captures for scripts.
func FlowsJSON(w io.Writer, captures []*tcp.Capture) error {
	flows := []flow{}
	for _, c := range captures {
		for i := range c.Connections {
			x := &c.Connections[i]
			flows = append(flows, flow{Source: c.Source, Conn: x.Number, Client: x.Client.String(), Server: x.Server.String(), Start: x.Start, End: x.End,
				CaptureSide: x.Side.Place, ClientToServer: direction(&x.Directions[0]), ServerToClient: direction(&x.Directions[1])})
		}
	}
	e := json.NewEncoder(Plain(w))
	e.SetIndent("", " ")
	return e.Encode(map[string][]flow{"flows": flows})
}

func direction(d *tcp.Direction) flowDir {
	return flowDir{d.Packets, d.WirePackets, d.Bytes, d.RetransmittedPackets, d.ReorderedPackets, d.RTT}
}

// Flows prints a line for each connection.
func Flows(w io.Writer, captures []*tcp.Capture, style Style) error {
	p := &page{w: w, style: style}
	head := []string{"conn", "client", "server", "start", "length", "bytes >", "< bytes", "packets > <", "again > <", "RTT", "MSS", "side"}
	for n, c := range captures {
		if len(captures) > 1 {
			if n > 0 {
				p.print("\n")
			}
			p.print(p.paint(bold, Clean(c.Source)) + "\n")
		}
		var rows [][]string
		for i := range c.Connections {
			rows = append(rows, flowRow(&c.Connections[i]))
		}
		p.table(head, rows, map[int]bool{0: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true})
		if c.Totals.NotKept > 0 {
			p.print(fmt.Sprintf("%s more connections without anything to tell are only summed\n", unit.Count(c.Totals.NotKept)))
		}
	}
	return p.err
}

func flowRow(x *tcp.Connection) []string {
	out, in := &x.Directions[0], &x.Directions[1]
	mss := max(out.EffectiveMSS, in.EffectiveMSS)
	return []string{fmt.Sprint(x.Number), x.Client.String(), x.Server.String(), fmt.Sprintf("%.6f", x.Start.Seconds()), (x.End - x.Start).String(),
		unit.Count(out.Bytes), unit.Count(in.Bytes), fmt.Sprintf("%d %d", out.Packets, in.Packets), fmt.Sprintf("%d %d", out.RetransmittedPackets, in.RetransmittedPackets),
		known(x.RoundTrip), fmt.Sprint(mss), x.Side.Place}
}

func known(n unit.Nanos) string {
	if n == 0 {
		return "-"
	}
	return n.String()
}

// Flow prints everything that is known of the connection of that number in the first capture that has it.
func Flow(w io.Writer, captures []*tcp.Capture, number int64, style Style) error {
	for _, c := range captures {
		for i := range c.Connections {
			if c.Connections[i].Number == number {
				p := &page{w: w, style: style}
				p.flow(c, &c.Connections[i])
				return p.err
			}
		}
	}
	return fmt.Errorf("no connection has the number %d; nettrace flows lists them", number)
}

func (p *page) flow(c *tcp.Capture, x *tcp.Connection) {
	p.print(p.paint(bold, fmt.Sprintf("connection %d: %s", x.Number, x.Name())) + "\n")
	line := func(name, format string, args ...any) { p.labelled(2, name, faint, 18, fmt.Sprintf(format, args...)) }
	line("where", "%s, from packet #%d at %.6f s to %.6f s (%s)", c.Source, x.Record, x.Start.Seconds(), x.End.Seconds(), x.End-x.Start)
	line("began, ended", "%s, %s", x.Began, x.Ended)
	line("capture side", "%s, confidence %s: %s", x.Side.Place, x.Side.Confidence, strings.Join(x.Side.Reasons, "; "))
	h := &x.Handshake
	line("handshake", "MSS %d and %d, timestamps %v, SACK %v, window scale %s; RTT %s (to server %s, to client %s)", h.Ends[0].MSS, h.Ends[1].MSS,
		h.Timestamps, h.SACK, scale(h), known(h.RoundTrip), known(h.ToServer), known(h.ToClient))
	if x.Exchanges.Count > 0 {
		e := &x.Exchanges
		line("exchanges", "%d, time %s (%s to %s); %d of them %d bytes for %d: %d packets, then %d from the server", e.Count, e.Times.P50, e.Times.Min, e.Times.Max,
			e.Usual.Count, e.Usual.RequestBytes, e.Usual.ResponseBytes, e.Usual.RequestPackets, e.Usual.ServerPackets)
	}
	if x.Copies > 0 {
		line("copies", "%d packets that the capture holds more than once, set aside", x.Copies)
	}
	for i, name := range []string{"client to server", "server to client"} {
		d := &x.Directions[i]
		p.print(p.paint(bold, "  "+name) + "\n")
		line("  packets", "%s, %s with data, %s on the wire, %s pure ACKs", unit.Count(d.Packets), unit.Count(d.DataPackets), unit.Count(d.WirePackets), unit.Count(d.PureACKs))
		line("  bytes", "%s, %s of them new", unit.Count(d.Bytes), unit.Count(d.GoodputBytes))
		line("  MSS", "%d (%s), largest payload %d, %d super-segments", d.EffectiveMSS, d.MSSSource, d.LargestBytes, d.SuperSegments)
		line("  sent again", "%d packets (%d on the wire, %s bytes), %d needless, %d reordered, %d timeouts", d.RetransmittedPackets, d.RetransmittedWirePackets,
			unit.Count(d.RetransmittedBytes), d.SpuriousPackets, d.ReorderedPackets, d.Timeouts)
		line("  tails", "%d hidden, %d visible, %d held (%s)", d.Tails.Hidden, d.Tails.Visible, d.Tails.Held, d.Tails.TimeLost)
		line("  acknowledged by", "%d ACKs that advance, %d of them stretch ACKs, the largest of %s segments", d.ACKs.Advancing, d.ACKs.Stretch, unit.Number(d.ACKs.LargestDegree))
		line("  RTT", "%s (%s to %s, 99 %% below %s), %d samples", known(d.RTT.P50), d.RTT.Min, d.RTT.Max, d.RTT.P99, d.RTT.Samples)
	}
	for _, e := range x.Events {
		line("event", "%s at packet #%d, %.6f s", e.Kind, e.Record, e.Time.Seconds())
	}
}

// scale prints the window scale shifts in use.
func scale(h *tcp.Handshake) string {
	if !h.WindowScaleKnown {
		return "not known (no SYN was captured)"
	}
	return fmt.Sprintf("%d and %d", h.WindowScale[0], h.WindowScale[1])
}

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
	Began          string     `json:"began"`
	Ended          string     `json:"ended"`
	RoundTrip      unit.Nanos `json:"round_trip_ns"`
	FastOpen       string     `json:"fast_open,omitempty"`
	MultipathTCP   bool       `json:"multipath_tcp,omitempty"`
	ClientToServer flowDir    `json:"client_to_server"`
	ServerToClient flowDir    `json:"server_to_client"`

	connection *tcp.Connection
}

type flowDir struct {
	Packets              int64         `json:"packets"`
	WirePackets          int64         `json:"wire_packets"`
	Bytes                int64         `json:"bytes"`
	RetransmittedPackets int64         `json:"retransmitted_packets"`
	ReorderedPackets     int64         `json:"reordered_packets"`
	RTT                  tcp.Durations `json:"rtt_ns"`
	GoodputBytes         int64         `json:"goodput_bytes"`
	GoodputRate          float64       `json:"goodput_bits_per_s"` // over the life of the connection
	LostPackets          int64         `json:"lost_packets"`
	SpuriousPackets      int64         `json:"spurious_packets"`
	Timeouts             int64         `json:"timeouts"`
	DuplicateACKs        int64         `json:"duplicate_acks"` // for its data
	DuplicateSACKs       int64         `json:"duplicate_sacks"`
	ZeroWindowTime       unit.Nanos    `json:"zero_window_time_ns"`
	MSS                  int           `json:"effective_mss"`
	TTL                  int           `json:"ttl"`
	LimitedBy            string        `json:"limited_by,omitempty"` // the class that has most of its time
}

// FlowsJSON writes the connections of captures for scripts, and the UDP flows apart.
func FlowsJSON(w io.Writer, captures []*tcp.Capture, o FlowOptions) error {
	all := struct {
		Flows     []flow         `json:"flows"`
		Datagrams []datagramFlow `json:"datagram_flows"`
	}{[]flow{}, []datagramFlow{}}
	for _, c := range captures {
		flows, datagrams, err := o.of(c)
		if err != nil {
			return err
		}
		all.Flows, all.Datagrams = append(all.Flows, flows...), append(all.Datagrams, datagrams...)
	}
	e := json.NewEncoder(Plain(w))
	e.SetIndent("", " ")
	return e.Encode(all)
}

// direction sums one direction; life is that of the connection.
func direction(d, other *tcp.Direction, life unit.Nanos) flowDir {
	f := flowDir{
		Packets: d.Packets, WirePackets: d.WirePackets, Bytes: d.Bytes, RetransmittedPackets: d.RetransmittedPackets, ReorderedPackets: d.ReorderedPackets, RTT: d.RTT,
		GoodputBytes: d.GoodputBytes, LostPackets: d.LostPackets, SpuriousPackets: d.SpuriousPackets, Timeouts: d.Timeouts, DuplicateACKs: other.DuplicateACKs,
		DuplicateSACKs: d.DuplicateSACKs, ZeroWindowTime: d.Waits.ZeroWindowTime, MSS: d.EffectiveMSS, TTL: d.TTL, LimitedBy: d.Limits.Largest(),
	}
	if life > 0 {
		f.GoodputRate = float64(d.GoodputBytes) * 8 / life.Seconds()
	}
	return f
}

// Flows prints a line for each connection, and one for each UDP flow.
func Flows(w io.Writer, captures []*tcp.Capture, o FlowOptions, style Style) error {
	p := &page{w: w, style: style}
	head := []string{"conn", "client", "server", "start", "length", "bytes >", "< bytes", "packets > <", "again > <", "RTT", "MSS", "side"}
	right := map[int]bool{0: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true}
	for n, c := range captures {
		flows, datagrams, err := o.of(c)
		if err != nil {
			return err
		}
		if len(captures) > 1 {
			if n > 0 {
				p.print("\n")
			}
			p.print(p.paint(bold, Clean(c.Source)) + "\n")
		}
		var rows [][]string
		for i := range flows {
			rows = append(rows, flowRow(flows[i].connection))
		}
		if len(rows) > 0 || len(datagrams) == 0 {
			p.table(head, rows, right)
		}
		if c.Totals.NotKept > 0 {
			p.print(fmt.Sprintf("%s more connections without anything to tell are only summed\n", unit.Count(c.Totals.NotKept)))
		}
		p.datagramFlows(datagrams, len(rows) > 0)
		if c.FlowTotals.NotKept > 0 {
			p.print(fmt.Sprintf("%s more UDP flows are only summed\n", unit.Count(c.FlowTotals.NotKept)))
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
	line("handshake", "MSS %d and %d, timestamps %v, SACK %v, ECN %v, window scale %s; RTT %s (to server %s, to client %s)", h.Ends[0].MSS, h.Ends[1].MSS,
		h.Timestamps, h.SACK, h.ECN, scale(h), known(h.RoundTrip), known(h.ToServer), known(h.ToClient))
	if h.FastOpen != "" {
		line("Fast Open", "%s%s%s", h.FastOpen, map[bool]string{true: ", data in the SYN"}[h.FastOpenWithPayload], cookie(h))
	}
	if h.Multipath != nil {
		line("Multipath TCP", "%s", multipath(h.Multipath))
	}
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
		line("  bytes", "%s, %s of them new (%s Mbit/s)%s", unit.Count(d.Bytes), unit.Count(d.GoodputBytes), unit.Number(direction(d, d, x.End-x.Start).GoodputRate/1e6), missed(d))
		line("  IP", "TTL %d, identifications %s%s", d.TTL, map[bool]string{true: "count up", false: "tell no order"}[d.IDsInOrder], tagged(d))
		line("  MSS", "%d (%s), largest payload %d, %d super-segments", d.EffectiveMSS, d.MSSSource, d.LargestBytes, d.SuperSegments)
		line("  sent again", "%d packets (%d on the wire, %s bytes)%s, %d needless, %d reordered, %d timeouts", d.RetransmittedPackets, d.RetransmittedWirePackets,
			unit.Count(d.RetransmittedBytes), causes(d), d.SpuriousPackets, d.ReorderedPackets, d.Timeouts)
		line("  tails", "%d hidden, %d visible, %d held (%s)", d.Tails.Hidden, d.Tails.Visible, d.Tails.Held, d.Tails.TimeLost)
		line("  acknowledged by", "%d ACKs that advance, %d of them stretch ACKs, the largest of %s segments", d.ACKs.Advancing, d.ACKs.Stretch, unit.Number(d.ACKs.LargestDegree))
		if text := waits(d); text != "" {
			line("  waited", "%s", text)
		}
		if text := limits(d); text != "" {
			line("  limited by", "%s", text)
		}
		line("  RTT", "%s (%s to %s, 99 %% below %s), %d samples", known(d.RTT.P50), d.RTT.Min, d.RTT.Max, d.RTT.P99, d.RTT.Samples)
	}
	p.notices(c, x.Client.String(), x.Server.String())
	for _, e := range x.Events {
		line("event", "%s at packet #%d, %.6f s", e.Kind, e.Record, e.Time.Seconds())
	}
}

func cookie(h *tcp.Handshake) string {
	if h.FastOpenCookie == "" {
		return ""
	}
	return ", cookie " + h.FastOpenCookie
}

// multipath says what a connection is in the whole of its subflows.
func multipath(m *tcp.Multipath) string {
	switch {
	case m.Of > 0:
		return fmt.Sprintf("a subflow that joins connection %d", m.Of)
	case m.Joins:
		return fmt.Sprintf("a subflow that joins a connection with the token 0x%08x, whose handshake the capture does not hold", m.Token)
	case len(m.Others) == 0:
		return "the first subflow; no other joins it in this capture"
	}
	return "the first subflow, joined by " + strings.Trim(fmt.Sprint(m.Others), "[]")
}

// scale prints the window scale shifts in use.
func scale(h *tcp.Handshake) string {
	if !h.WindowScaleKnown {
		return "not known (no SYN was captured)"
	}
	return fmt.Sprintf("%d and %d", h.WindowScale[0], h.WindowScale[1])
}

// missed says what of a direction the capture lacks.
func missed(d *tcp.Direction) string {
	if d.MissedBytes == 0 {
		return ""
	}
	return "; the capture lacks " + unit.Count(d.MissedBytes) + " that were acknowledged"
}

// causes says what made the direction send again, as far as that is known.
func causes(d *tcp.Direction) string {
	if text := d.Causes(); text != "" {
		return ": " + text
	}
	return ""
}

func tagged(d *tcp.Direction) string {
	if d.TaggedPackets == 0 {
		return ""
	}
	return fmt.Sprintf(", %s packets with a tag, VLAN %d", unit.Count(d.TaggedPackets), d.VLAN)
}

// waits says what the direction's data waited for.
func waits(d *tcp.Direction) string {
	var parts []string
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	w := &d.Waits
	add(w.Stalls(), "%d times for a late ACK or a timer (%s)", w.Stalls(), w.StallTime)
	add(w.ZeroWindowEpisodes, "%d times for a closed window (%s)", w.ZeroWindowEpisodes, w.ZeroWindowTime)
	add(w.WindowFullPackets, "behind %d packets for a full one (%s)", w.WindowFullPackets, w.WindowFullTime)
	add(d.Timeouts, "%d timeouts (%s)", d.Timeouts, d.TimeoutTime)
	add(d.KeepAlives, "%d keep-alives, %d answered", d.KeepAlives, w.KeepAlivesAnswered)
	return strings.Join(parts, ", ")
}

// limits lists what kept the direction from sending, with its time.
func limits(d *tcp.Direction) string {
	if d.Limit == nil {
		return ""
	}
	var parts []string
	for _, name := range tcp.LimitNames() {
		if took := d.Limits.Of(name); took > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", name, took))
		}
	}
	return strings.Join(parts, ", ")
}

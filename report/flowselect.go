package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/tcp"
	"nettrace/unit"
)

// FlowOptions choose and order what is listed of captures. The zero value lists all, in the order of their first packets.
type FlowOptions struct {
	Sort   string // one of FlowSorts, "" for start
	Filter analyze.FieldFilter
}

// FlowSorts are what flows can be ordered by: all but start with the largest first.
func FlowSorts() []string {
	return []string{"start", "bytes", "packets", "duration", "rate", "retransmissions", "lost", "rtt"}
}

// datagramFlow is a UDP flow as scripts get it.
type datagramFlow struct {
	Source string `json:"source"`
	tcp.Flow
}

// of returns the flows of a capture that are chosen, in order.
func (o FlowOptions) of(c *tcp.Capture) (flows []flow, datagrams []datagramFlow, err error) {
	for i := range c.Connections {
		f := flowOf(c.Source, &c.Connections[i])
		if ok, err := o.Filter.Match(&f); err != nil {
			return nil, nil, err
		} else if ok {
			flows = append(flows, f)
		}
	}
	for i := range c.Flows {
		f := datagramFlow{c.Source, c.Flows[i]}
		if ok, err := o.Filter.Match(&f); err != nil {
			return nil, nil, err
		} else if ok {
			datagrams = append(datagrams, f)
		}
	}
	if o.Sort != "" && o.Sort != "start" {
		slices.SortStableFunc(flows, func(a, b flow) int { return cmp.Compare(b.rank(o.Sort), a.rank(o.Sort)) })
		slices.SortStableFunc(datagrams, func(a, b datagramFlow) int { return cmp.Compare(b.rank(o.Sort), a.rank(o.Sort)) })
	}
	return flows, datagrams, nil
}

func flowOf(source string, x *tcp.Connection) flow {
	life := x.End - x.Start
	a, b := &x.Directions[0], &x.Directions[1]
	return flow{
		Source: source, Conn: x.Number, Client: x.Client.String(), Server: x.Server.String(), Start: x.Start, End: x.End, CaptureSide: x.Side.Place, Began: x.Began, Ended: x.Ended,
		RoundTrip: x.RoundTrip, FastOpen: x.Handshake.FastOpen, MultipathTCP: x.Handshake.Multipath != nil,
		ClientToServer: direction(a, b, life), ServerToClient: direction(b, a, life), connection: x,
	}
}

// rank is what the flow is ordered by.
func (f *flow) rank(by string) float64 {
	a, b := &f.ClientToServer, &f.ServerToClient
	switch by {
	case "bytes":
		return float64(a.Bytes + b.Bytes)
	case "packets":
		return float64(a.Packets + b.Packets)
	case "duration":
		return float64(f.End - f.Start)
	case "rate":
		return max(a.GoodputRate, b.GoodputRate)
	case "retransmissions":
		return float64(a.RetransmittedPackets + b.RetransmittedPackets)
	case "lost":
		return float64(a.LostPackets + b.LostPackets)
	}
	return float64(f.RoundTrip)
}

func (f *datagramFlow) rank(by string) (sum float64) {
	if by == "duration" {
		return float64(f.End - f.Start)
	}
	for i := range f.Directions {
		d := &f.Directions[i]
		switch by {
		case "bytes":
			sum += float64(d.Bytes)
		case "packets":
			sum += float64(d.Packets)
		case "rate":
			sum += float64(d.PeakBits)
		case "lost", "retransmissions":
			if d.Sequence != nil {
				sum += float64(d.Sequence.Lost)
			}
		}
	}
	return sum
}

// datagramFlows prints a line for each UDP flow. apart says that something stands above.
func (p *page) datagramFlows(list []datagramFlow, apart bool) {
	if len(list) == 0 {
		return
	}
	if apart {
		p.print("\n")
	}
	head := []string{"udp", "client", "server", "start", "length", "bytes >", "< bytes", "datagrams > <", "on the wire > <", "lost > <", "longest gap", "side"}
	var rows [][]string
	for i := range list {
		f := &list[i].Flow
		out, in := &f.Directions[0], &f.Directions[1]
		rows = append(rows, []string{fmt.Sprintf("u%d", f.Number), f.Client.String(), f.Server.String(), fmt.Sprintf("%.6f", f.Start.Seconds()), (f.End - f.Start).String(),
			unit.Count(out.Bytes), unit.Count(in.Bytes), fmt.Sprintf("%d %d", out.Packets, in.Packets), fmt.Sprintf("%d %d", out.WirePackets, in.WirePackets),
			lostOf(out) + " " + lostOf(in), known(max(out.Silence, in.Silence)), f.Side.Place})
	}
	p.table(head, rows, map[int]bool{0: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true})
}

// lostOf prints how many datagrams lack, or "-" where no sequence number tells.
func lostOf(d *tcp.Stream) string {
	if d.Sequence == nil {
		return "-"
	}
	return unit.Count(d.Sequence.Lost)
}

// DatagramFlow prints everything that is known of the UDP flow of that number in the first capture that has it.
func DatagramFlow(w io.Writer, captures []*tcp.Capture, number int64, style Style) error {
	for _, c := range captures {
		for i := range c.Flows {
			if c.Flows[i].Number == number {
				p := &page{w: w, style: style}
				p.datagramFlow(c, &c.Flows[i])
				return p.err
			}
		}
	}
	return fmt.Errorf("no UDP flow has the number u%d; nettrace flows lists them", number)
}

func (p *page) datagramFlow(c *tcp.Capture, f *tcp.Flow) {
	p.print(p.paint(bold, fmt.Sprintf("UDP flow u%d: %s", f.Number, f.Name())) + "\n")
	line := func(name, format string, args ...any) { p.labelled(2, name, faint, 18, fmt.Sprintf(format, args...)) }
	line("where", "%s, from packet #%d at %.6f s to %.6f s (%s)", c.Source, f.Record, f.Start.Seconds(), f.End.Seconds(), f.End-f.Start)
	line("capture side", "%s, confidence %s: %s", f.Side.Place, f.Side.Confidence, strings.Join(f.Side.Reasons, "; "))
	for i, name := range []string{"client to server", "server to client"} {
		d := &f.Directions[i]
		p.print(p.paint(bold, "  "+name) + "\n")
		line("  datagrams", "%s of %d to %d bytes, %s on the wire, %d copies", unit.Count(d.Packets), d.SmallestBytes, d.LargestBytes, unit.Count(d.WirePackets), d.Copies)
		line("  bytes", "%s, at most %s in a second, in %s packets", unit.Count(d.Bytes), unit.Number(float64(d.PeakBits)/1e6)+" Mbit", unit.Count(d.PeakPackets))
		line("  gaps", "%s (%s to %s, 99 %% below %s)", known(d.Between.P50), d.Between.Min, d.Between.Max, d.Between.P99)
		if d.Super > 0 {
			line("  super-datagrams", "%s, of %d bytes each on the wire, %d end in a small rest", unit.Count(d.Super), d.SegmentBytes, d.Tails)
		}
		if d.Fragmented > 0 {
			line("  fragmented", "%s datagrams came in several IP packets", unit.Count(d.Fragmented))
		}
		if q := d.Sequence; q != nil {
			line("  sequence", "%s: %s of %s lost in %d gaps, the longest of %d; %d late, %d twice; jitter %s", q.Protocol, unit.Count(q.Lost), unit.Count(q.Expected), q.Gaps, q.LongestBurst, q.Late, q.Duplicates, known(q.Jitter))
		}
	}
	p.notices(c, f.Client.String(), f.Server.String())
}

// notices prints the ICMP errors about packets between two ends.
func (p *page) notices(c *tcp.Capture, client, server string) {
	for i := range c.Notices {
		n := &c.Notices[i]
		if src, dst := n.Src.String(), n.Dst.String(); src == client && dst == server || src == server && dst == client {
			p.labelled(2, "ICMP", faint, 18, fmt.Sprintf("%s says %s about packets to %s, %d times, first #%d", n.From, n.Kind, dst, n.Count, n.Record))
		}
	}
}

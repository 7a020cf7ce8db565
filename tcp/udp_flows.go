package tcp

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/unit"
)

// Flow is what two UDP ports sent to each other.
type Flow struct {
	Number     int64          `json:"number"` // from 1, among the kept ones, by first packet
	Client     netip.AddrPort `json:"client"` // who does not have the well-known port, or else sent first
	Server     netip.AddrPort `json:"server"`
	Start      unit.Nanos     `json:"start_ns"`
	End        unit.Nanos     `json:"end_ns"`
	Record     int64          `json:"record"` // of its first packet
	Offset     int64          `json:"offset"`
	Side       Side           `json:"capture_side"`
	Directions [2]Stream      `json:"directions"` // client to server, server to client
}

// Name names the flow for people.
func (f *Flow) Name() string { return f.Client.String() + " > " + f.Server.String() }

// Key names the flow's server in a way that is stable from run to run.
func (f *Flow) Key() string { return "udp/" + f.Server.String() }

// Stream is what one end of a flow sent.
type Stream struct {
	Packets         int64      `json:"packets"`
	WirePackets     int64      `json:"wire_packets"` // with super-datagrams and fragments as what they are on the wire
	Bytes           int64      `json:"bytes"`        // payload
	Copies          int64      `json:"copies,omitempty"`
	Fragmented      int64      `json:"fragmented,omitempty"` // datagrams that came in several IP packets; only the first of them names the ports
	Super           int64      `json:"super_datagrams,omitempty"`
	SuperBytes      int64      `json:"super_bytes,omitempty"`
	SegmentBytes    int        `json:"segment_bytes,omitempty"` // payload of one datagram of a super-datagram
	SegmentSeen     bool       `json:"segment_seen,omitempty"`  // such a datagram was seen singly; else what an Ethernet frame holds is assumed
	Tails           int64      `json:"tails,omitempty"`         // super-datagrams that end in a rest of at most an eighth of that
	LargestBytes    int        `json:"largest_bytes"`
	SmallestBytes   int        `json:"smallest_bytes"`
	TTL             int        `json:"ttl"`
	Between         Durations  `json:"between_ns,omitzero"` // times from one to the next
	Silence         unit.Nanos `json:"silence_ns"`          // the longest of them
	SilenceRecord   int64      `json:"silence_record,omitempty"`
	PeakPackets     int64      `json:"peak_packets_per_s"` // on the wire, in the busiest second
	PeakBits        int64      `json:"peak_bits_per_s"`
	Sequence        *Sequence  `json:"sequence,omitempty"` // nil if no sequence number was found
	FirstSuper      Sight      `json:"first_super,omitzero"`
	WorstSuper      Sight      `json:"largest_super,omitzero"`
	FirstFragmented Sight      `json:"first_fragmented,omitzero"`
}

// FlowTotals are over all UDP flows, kept or not.
type FlowTotals struct {
	Flows   int64 `json:"flows"`
	NotKept int64 `json:"not_kept,omitempty"`
	Evicted int64 `json:"evicted,omitempty"`
	Packets int64 `json:"packets"`
	Bytes   int64 `json:"bytes"`
	Copies  int64 `json:"copies,omitempty"`
}

func (t *FlowTotals) add(f *Flow) {
	t.Flows++
	for i := range f.Directions {
		d := &f.Directions[i]
		t.Packets += d.Packets
		t.Bytes += d.Bytes
		t.Copies += d.Copies
	}
}

func (f *datagramFlow) summary() Flow {
	low, high := f.key.ends()
	s := Flow{Client: high, Server: low, Start: f.start, End: f.end, Record: f.record, Offset: f.offset, Side: f.side()}
	if f.serverIsHigh {
		s.Client, s.Server = low, high
	}
	for i := range f.dir {
		s.Directions[i] = f.dir[i].summary(f.key.network)
	}
	return s
}

func (k *flowKey) ends() (low, high netip.AddrPort) {
	h := pcap.Header{Network: k.network, Src: k.low, Dst: k.high, SrcPort: k.lowPort, DstPort: k.highPort}
	return h.Source(), h.Destination()
}

func (s *stream) summary(n pcap.Network) Stream {
	d := Stream{
		Packets: int64(s.packets), WirePackets: int64(s.wire), Bytes: int64(s.bytes), Copies: int64(s.copies), Fragmented: int64(s.fragmented),
		Super: int64(s.super), SuperBytes: int64(s.superBytes), Tails: int64(s.tails), LargestBytes: s.largest, SmallestBytes: s.smallest, TTL: int(s.ttl),
		Between: s.between.summary(), Silence: s.silence.took, SilenceRecord: s.silence.record, PeakPackets: int64(s.mostInSecond), PeakBits: int64(s.mostBits),
		Sequence: s.sequence.summary(), FirstSuper: s.firstSuper, WorstSuper: s.worstSuper, FirstFragmented: s.firstFragment,
	}
	if s.super > 0 {
		d.SegmentBytes = s.segment(n)
		d.SegmentSeen = d.SegmentBytes == s.single
	}
	return d
}

// side says where the flow was captured, by the signs that datagrams have.
func (f *datagramFlow) side() Side {
	var v verdict
	for end := range f.dir {
		mine, other := &f.dir[end], &f.dir[1-end]
		switch {
		case mine.outbound > 0 && mine.inbound == 0 && other.outbound == 0:
			v.toward(end, 3, "the capture marks the %s's packets as outgoing", endNames[end])
		case mine.inbound > 0 && mine.outbound == 0 && other.inbound == 0:
			v.toward(1-end, 3, "the capture marks the %s's packets as incoming", endNames[end])
		}
		if mine.super == 0 && mostly(mine.partial, mine.complete) && other.partial == 0 {
			v.toward(end, 3, "the %s's checksums are partial (left to its device)", endNames[end])
		}
	}
	v.ttls(f.dir[0].ttl, f.dir[1].ttl, f.dir[0].packets > 0, f.dir[1].packets > 0)
	return v.side()
}

// ttls: what was not lowered was captured at its sender, what was is not; of one direction alone, both can be told.
func (v *verdict) ttls(client, server uint8, hasClient, hasServer bool) {
	for end, x := range [2]struct {
		ttl  uint8
		seen bool
	}{{client, hasClient}, {server, hasServer}} {
		alone := x.seen && ![2]bool{hasServer, hasClient}[end]
		switch {
		case alone && untouched(x.ttl):
			v.toward(end, 1, "the %s's TTL is untouched (%d)", endNames[end], x.ttl)
		case alone:
			v.reasons = append(v.reasons, fmt.Sprintf("the %s's TTL was lowered on the way (%d)", endNames[end], x.ttl))
		}
	}
	if !hasClient || !hasServer {
		return
	}
	switch {
	case untouched(client) && !untouched(server):
		v.toward(ClientToServer, 1, "the client's TTL is untouched (%d), the server's is %d", client, server)
	case untouched(server) && !untouched(client):
		v.toward(ServerToClient, 1, "the server's TTL is untouched (%d), the client's is %d", server, client)
	case !untouched(client) && !untouched(server):
		v.middle++
		v.reasons = append(v.reasons, fmt.Sprintf("both TTLs were lowered on the way (%d and %d)", client, server))
	}
}

func untouched(ttl uint8) bool { return ttl == 64 || ttl == 128 || ttl == 255 }

// keepFlows keeps the most telling flows: those that lost something, then the largest. The order does not depend on how
// they were summed.
func keepFlows(list []Flow, most int) []Flow {
	lost := func(f *Flow) (n int64) {
		for i := range f.Directions {
			if q := f.Directions[i].Sequence; q != nil {
				n += q.Lost
			}
		}
		return n
	}
	bytes := func(f *Flow) int64 { return f.Directions[0].Bytes + f.Directions[1].Bytes }
	if len(list) > most {
		slices.SortFunc(list, func(a, b Flow) int {
			return cmp.Or(cmp.Compare(lost(&b), lost(&a)), cmp.Compare(bytes(&b), bytes(&a)), cmp.Compare(a.Record, b.Record))
		})
		list = list[:most]
	}
	slices.SortFunc(list, func(a, b Flow) int { return cmp.Compare(a.Record, b.Record) })
	for i := range list {
		list[i].Number = int64(i + 1)
	}
	return list
}

// atSender reports whether the signs say that the flow was captured at the end that sends in a direction.
func (f *Flow) atSender(dir int) bool {
	return f.Side.Place == endNames[dir] && f.Side.Confidence >= finding.Low && len(f.Side.Reasons) > 0
}

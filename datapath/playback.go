package datapath

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"nettrace/pcap"
	"nettrace/unit"
)

// Playback is a recorded connection run again: as it was recorded, and under other settings.
type Playback struct {
	Connection  int64      `json:"connection"`
	Client      string     `json:"client"`
	Server      string     `json:"server"`
	Side        string     `json:"capture_side"`
	MSS         int        `json:"mss"`
	RoundTrip   unit.Nanos `json:"round_trip_ns"`
	RateMbps    float64    `json:"rate_mbps"` // of the path, towards the server; 0: no limit seen
	Ends        [2]Played  `json:"ends"`      // client, server
	Recorded    Traffic    `json:"recorded"`
	Baseline    Traffic    `json:"baseline"` // the model, with everything as recorded
	Changed     *Traffic   `json:"changed,omitempty"`
	Changes     string     `json:"changes,omitempty"`
	Assumptions []string   `json:"assumptions"`
	Warnings    []string   `json:"warnings"`

	baseline, changed []recordedPacket
	setup             setup // of the changed run, or of the baseline
	addresses         [2]netip.AddrPort
	start             unit.Nanos // of the recording
}

// Played is what was recovered of one end.
type Played struct {
	Writes  int        `json:"writes"`
	Bytes   uint64     `json:"bytes"`
	Think   unit.Nanos `json:"think_ns"` // summed
	NoDelay bool       `json:"nodelay"`
	Merging string     `json:"gro"`
	Delayed unit.Nanos `json:"delayed_ack_ns"` // 0: none seen
	Paced   bool       `json:"paced"`
	Window  uint64     `json:"receive_window"` // the largest it offered, bytes; 0: not known
}

// Traffic is what a connection is where it was captured.
type Traffic struct {
	Packets       int        `json:"packets"`
	WirePackets   int        `json:"wire_packets"`
	PureACKs      int        `json:"pure_acks"`
	AdvancingACKs int        `json:"advancing_acks"`
	Exchanges     int        `json:"exchanges"`
	ExchangeP50   unit.Nanos `json:"exchange_p50_ns"` // from the first packet of a request to the last of its answer
	ExchangeMax   unit.Nanos `json:"exchange_max_ns"`
	Duration      unit.Nanos `json:"duration_ns"` // first to last packet
}

// endSetup is one end as it is played.
type endSetup struct {
	behaviour
	cork    bool
	maxSegs uint64 // of a super-segment, 0: what the size allows
	window  uint64 // initial congestion window
	offers  uint64 // receive window; 0: as it was recorded
	nic     *NIC   // nil: its waits are part of the recorded round trip

	countsACKs bool // its congestion window grows by a segment for each ACK, not by what that covers
}

// setup is all that a run depends on.
type setup struct {
	path recordedPath
	ends [2]endSetup
	side int  // where it is logged
	wire bool // as frames on the wire
	most int  // packets that a run may have
}

// Play runs a recording as it was, and again with changes "KEY=VALUE,KEY=VALUE" if there are any (PlaybackSettings). nic, if
// it is not nil, is put into both hosts for both runs.
func (c *Recording) Play(nic *NIC, changes string) (*Playback, error) {
	if err := c.replayable(); err != nil {
		return nil, err
	}
	path := c.path()
	behaviours := c.behaviours(&path)
	base := setup{path: path, wire: c.Side.Place == "middle" || !c.merged(false) && !c.merged(true)}
	base.most = playedPerRecorded*len(c.packets) + playedExtra
	if path.away[1] < path.away[0] {
		base.side = 1
	}
	for end := range base.ends {
		base.ends[end] = endSetup{behaviour: *behaviours[end], window: initialWindow, nic: nic}
	}
	p := &Playback{
		Connection: c.Number, Client: c.Client.String(), Server: c.Server.String(), Side: c.Side.Place, MSS: path.mss, RoundTrip: path.roundTrip(),
		Recorded: trafficOf(c.packets), Warnings: c.warnings(), Assumptions: playAssumptions(),
	}
	if path.picosPerByte[0] > 0 {
		p.RateMbps = 8e6 / float64(path.picosPerByte[0])
	}
	for end, b := range behaviours {
		p.Ends[end] = b.played()
	}
	p.setup, p.addresses, p.start = base, [2]netip.AddrPort{c.Client, c.Server}, c.packets[0].at
	var err error
	if p.baseline, err = base.run(); err != nil {
		return nil, err
	}
	p.Baseline = trafficOf(p.baseline)
	if changes == "" {
		return p, nil
	}
	changed, err := base.with(changes)
	if err != nil {
		return nil, err
	}
	p.setup = *changed
	if p.changed, err = changed.run(); err != nil {
		return nil, err
	}
	t := trafficOf(p.changed)
	p.Changes, p.Changed = changes, &t
	return p, nil
}

// replayable reports what of a recording cannot be played at all.
func (c *Recording) replayable() error {
	first, last := c.packets[0].at, c.packets[0].at
	for _, k := range c.packets {
		first, last = min(first, k.at), max(last, k.at)
	}
	if span := uint64(last) - uint64(first); span > uint64(playedAtMost)/2 {
		return fmt.Errorf("the recording lasts longer than %v, which is the most that is replayed", playedAtMost/2)
	}
	for _, server := range []bool{false, true} {
		if n := c.bytes(server); n > uint64(len(c.packets))*playedPacketBytes {
			return fmt.Errorf("its sequence numbers rise by %s in %d packets: most of its data was not captured", unit.Bytes(int64(min(n, math.MaxInt64))), len(c.packets))
		}
	}
	return nil
}

func (b *behaviour) played() Played {
	p := Played{NoDelay: b.noDelay, Merging: b.merges.String(), Delayed: b.delayed, Paced: b.paced}
	for _, e := range b.edges {
		p.Window = max(p.Window, e.right-min(e.right, e.ack))
	}
	for _, s := range b.steps {
		p.Think += s.delay
		p.Bytes += s.bytes
		if s.bytes > 0 {
			p.Writes++
		}
	}
	return p
}

// trafficOf sums the packets of a connection.
func trafficOf(packets []recordedPacket) Traffic {
	var t Traffic
	var high, acked [2]uint64
	var seen [2]bool
	var x turns
	for _, p := range packets {
		dir := 0
		if p.fromServer {
			dir = 1
		}
		t.Packets++
		t.WirePackets += int(p.wire)
		if p.payload > 0 && p.end > high[dir] {
			x.data(dir, p.at)
		}
		if p.flags&pcap.SYN != 0 {
			seen[dir] = p.flags&pcap.ACK != 0
		} else {
			high[dir] = max(high[dir], p.end)
			if p.payload == 0 && p.flags&(pcap.FIN|pcap.RST) == 0 {
				t.PureACKs++
			}
			if p.payload == 0 && p.flags&pcap.RST == 0 && p.flags&pcap.ACK != 0 && seen[dir] && p.ack > acked[dir] {
				t.AdvancingACKs++
			}
			if p.flags&pcap.ACK != 0 {
				seen[dir], acked[dir] = true, max(acked[dir], p.ack)
			}
		}
	}
	x.complete()
	t.Exchanges = len(x.times)
	if len(x.times) > 0 {
		slices.Sort(x.times)
		t.ExchangeP50, t.ExchangeMax = x.times[len(x.times)/2], x.times[len(x.times)-1]
	}
	if len(packets) > 0 {
		t.Duration = packets[len(packets)-1].at - packets[0].at
	}
	return t
}

// turns measures exchanges: a request is what the client sends until the server answers, a response what follows until the
// client goes on.
type turns struct {
	asking, answering bool
	start, last       unit.Nanos
	times             []unit.Nanos
}

func (x *turns) data(dir int, at unit.Nanos) {
	switch {
	case dir == 0:
		if x.answering {
			x.complete()
		}
		if !x.asking {
			x.asking, x.start = true, at
		}
	case x.asking:
		x.answering, x.last = true, at
	}
}

func (x *turns) complete() {
	if x.answering {
		x.times = append(x.times, x.last-x.start)
	}
	x.asking, x.answering = false, false
}

func (c *Recording) warnings() []string {
	list := []string{}
	lost := int64(0)
	for _, d := range c.Directions {
		lost += d.RetransmittedPackets
	}
	if lost > 0 {
		list = append(list, fmt.Sprintf("%d packets of the recording are retransmissions; loss and recovery are not modelled", lost))
	}
	if c.Began != "syn" {
		list = append(list, "the recording begins inside the connection: windows and MSS are guesses, and the start is taken for that of a connection")
	}
	if place := c.Side.Place; place != "client" && place != "server" {
		list = append(list, fmt.Sprintf("captured at an unsure place (%s): the round trip is divided as the handshake shows it", place))
	}
	return list
}

func playAssumptions() []string {
	return []string{
		"each application does again what it did: the same writes, after the same bytes have come and the same pauses; what waited for an acknowledgement was written at once",
		"no loss, no congestion; windows are opened by bytes acknowledged, as recorded, not by time",
		"the round trip is the shortest that was seen, the path's rate the fastest that data was acknowledged at over 64 segments",
		"acknowledgements by Linux's rules (6.x); slow start from 10 segments without an end",
	}
}

// Sequence is the packets of a run as lines: direction, payload, packets on the wire.
func (p *Playback) Sequence(changed bool) []string {
	packets := p.baseline
	if changed {
		packets = p.changed
	}
	var list []string
	for _, k := range packets {
		list = append(list, k.describe())
	}
	return list
}

func (k recordedPacket) describe() string {
	var b strings.Builder
	b.WriteByte("CS"[boolIndex(k.fromServer)])
	for _, f := range []struct {
		bit  uint8
		name string
	}{{pcap.SYN, " SYN"}, {pcap.FIN, " FIN"}} {
		if k.flags&f.bit != 0 {
			b.WriteString(f.name)
		}
	}
	fmt.Fprintf(&b, " seq %d len %d ack %d", k.seq, k.payload, k.ack)
	return b.String()
}

func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

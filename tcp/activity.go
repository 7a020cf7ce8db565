package tcp

import (
	"cmp"
	"slices"

	"nettrace/unit"
)

// Activity is what one direction did: the part of a summary that adds up over connections.
type Activity struct {
	Packets       int64 `json:"packets"`
	DataPackets   int64 `json:"data_packets"`
	WirePackets   int64 `json:"wire_packets"` // what the data packets are on the wire: the sum of ceil(payload / effective MSS)
	PureACKs      int64 `json:"pure_acks"`    // packets without payload, SYN, FIN and RST; one each on the wire
	Bytes         int64 `json:"bytes"`        // payload
	GoodputBytes  int64 `json:"goodput_bytes"`
	SuperSegments int64 `json:"super_segments,omitempty"`
	Gaps          int64 `json:"gaps,omitempty"` // packets that began above what was seen
	MissedBytes   int64 `json:"missed_bytes,omitempty"`
	KeepAlives    int64 `json:"keep_alives,omitempty"`
	DuplicateACKs int64 `json:"duplicate_acks,omitempty"` // sent by this end
	ZeroWindows   int64 `json:"zero_windows,omitempty"`   // packets of this end that close its window
	Loss
	Tails   Tails      `json:"tails,omitzero"`
	ACKs    ACKs       `json:"acks,omitzero"`
	Waits   Waits      `json:"waits,omitzero"`
	Limits  LimitTimes `json:"limits_ns,omitzero"` // what kept it from sending
	PathMTU PathMTU    `json:"path_mtu,omitzero"`
}

// Loss is what a direction sent again or out of order. SYN and FIN are not in it.
type Loss struct {
	RetransmittedPackets     int64      `json:"retransmitted_packets"`      // captured packets with payload that resend data
	RetransmittedWirePackets int64      `json:"retransmitted_wire_packets"` // what they are on the wire
	RetransmittedBytes       int64      `json:"retransmitted_bytes,omitempty"`
	SpuriousPackets          int64      `json:"spurious_packets,omitempty"` // retransmitted ones that were needless
	SpuriousWirePackets      int64      `json:"spurious_wire_packets,omitempty"`
	LostPackets              int64      `json:"lost_packets"` // wire packets: the retransmitted ones that were not needless
	ReorderedPackets         int64      `json:"reordered_packets"`
	FastPackets              int64      `json:"fast_packets,omitempty"`    // retransmitted ones that ACKs had asked for: fast retransmission, SACK, RACK
	ProbePackets             int64      `json:"probe_packets,omitempty"`   // tail-loss probes
	TimeoutPackets           int64      `json:"timeout_packets,omitempty"` // sent by a timeout, and until what was sent before it is acknowledged
	Timeouts                 int64      `json:"timeouts,omitempty"`
	TimeoutTime              unit.Nanos `json:"timeout_time_ns,omitempty"` // silence before them
	DuplicateSACKs           int64      `json:"duplicate_sacks,omitempty"` // received for this direction's data
}

// Tails is what is known of the rests of messages that are longer than the MSS.
type Tails struct {
	Messages    int64      `json:"messages"` // longer than the MSS
	WirePackets int64      `json:"wire_packets"`
	Hidden      int64      `json:"hidden"`
	Visible     int64      `json:"visible"`
	Held        int64      `json:"held"`
	TimeLost    unit.Nanos `json:"time_lost_ns"`    // by held ones
	Sizes       []TailSize `json:"sizes,omitempty"` // most common first
}

// Count returns the number of tails of all forms.
func (t *Tails) Count() int64 { return t.Hidden + t.Visible + t.Held }

// TailSize counts the tails of one size.
type TailSize struct {
	Bytes        int64 `json:"bytes"`
	Count        int64 `json:"count"`
	MessageBytes int64 `json:"message_bytes"` // 0 if the messages differ
}

// ACKs is how a direction's data was acknowledged, by packets without payload.
type ACKs struct {
	Advancing     int64    `json:"advancing"` // their ACK number rises
	Stretch       int64    `json:"stretch"`   // by more than 2*RMSS, without a hole
	Big           int64    `json:"big"`       // and by more than four segments
	Bytes         int64    `json:"bytes"`     // acknowledged by advancing, stretch and big ones
	StretchBytes  int64    `json:"stretch_bytes"`
	BigBytes      int64    `json:"big_bytes"`
	LargestDegree float64  `json:"largest_degree"` // of a stretch ACK, in segments
	Degrees       [7]int64 `json:"degrees"`        // advancing ones of up to 1, 2, 4, 8, 16, 45 and more segments
}

// maxTailSizes bounds the list of tail sizes of a sum: at an MSS of 1460 there are 182, and only beyond the bound would
// the order of summing matter. shownTailSizes are left of them, the most common ones.
const maxTailSizes, shownTailSizes = 256, 16

// add adds what another direction did.
func (a *Activity) add(b *Activity) {
	a.Packets += b.Packets
	a.DataPackets += b.DataPackets
	a.WirePackets += b.WirePackets
	a.PureACKs += b.PureACKs
	a.Bytes += b.Bytes
	a.GoodputBytes += b.GoodputBytes
	a.SuperSegments += b.SuperSegments
	a.Gaps += b.Gaps
	a.MissedBytes += b.MissedBytes
	a.KeepAlives += b.KeepAlives
	a.DuplicateACKs += b.DuplicateACKs
	a.ZeroWindows += b.ZeroWindows
	a.Loss.add(&b.Loss)
	a.Tails.add(&b.Tails)
	a.ACKs.add(&b.ACKs)
	a.Waits.add(&b.Waits)
	a.Limits.add(&b.Limits)
	a.PathMTU.add(&b.PathMTU)
}

func (a *Loss) add(b *Loss) {
	a.RetransmittedPackets += b.RetransmittedPackets
	a.RetransmittedWirePackets += b.RetransmittedWirePackets
	a.RetransmittedBytes += b.RetransmittedBytes
	a.SpuriousPackets += b.SpuriousPackets
	a.SpuriousWirePackets += b.SpuriousWirePackets
	a.LostPackets += b.LostPackets
	a.ReorderedPackets += b.ReorderedPackets
	a.FastPackets += b.FastPackets
	a.ProbePackets += b.ProbePackets
	a.TimeoutPackets += b.TimeoutPackets
	a.Timeouts += b.Timeouts
	a.TimeoutTime += b.TimeoutTime
	a.DuplicateSACKs += b.DuplicateSACKs
}

func (t *Tails) add(b *Tails) {
	t.Messages += b.Messages
	t.WirePackets += b.WirePackets
	t.Hidden += b.Hidden
	t.Visible += b.Visible
	t.Held += b.Held
	t.TimeLost += b.TimeLost
	for _, s := range b.Sizes {
		t.addSize(s)
	}
}

// addSize counts tails of one size, in the order of sizes.
func (t *Tails) addSize(s TailSize) {
	i, known := slices.BinarySearchFunc(t.Sizes, s.Bytes, func(have TailSize, bytes int64) int { return cmp.Compare(have.Bytes, bytes) })
	switch {
	case known:
		t.Sizes[i].Count += s.Count
		if t.Sizes[i].MessageBytes != s.MessageBytes {
			t.Sizes[i].MessageBytes = 0
		}
	case len(t.Sizes) < maxTailSizes:
		t.Sizes = slices.Insert(t.Sizes, i, s)
	}
}

// ranked puts the most common sizes first and drops the others.
func (t *Tails) ranked() {
	slices.SortFunc(t.Sizes, func(a, b TailSize) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Bytes, b.Bytes)) })
	t.Sizes = t.Sizes[:min(len(t.Sizes), shownTailSizes)]
}

func (a *ACKs) add(b *ACKs) {
	a.Advancing += b.Advancing
	a.Stretch += b.Stretch
	a.Big += b.Big
	a.Bytes += b.Bytes
	a.StretchBytes += b.StretchBytes
	a.BigBytes += b.BigBytes
	a.LargestDegree = max(a.LargestDegree, b.LargestDegree)
	for i := range a.Degrees {
		a.Degrees[i] += b.Degrees[i]
	}
}

// activity summarises a live direction.
func (d *direction) activity() Activity {
	a := Activity{
		Packets: int64(d.packets), DataPackets: int64(d.dataPackets), WirePackets: int64(d.wirePackets), PureACKs: int64(d.pureACKs),
		Bytes: int64(d.bytes), GoodputBytes: int64(d.unique), SuperSegments: int64(d.superSegments), Gaps: int64(d.gaps), MissedBytes: int64(d.missing),
		KeepAlives: int64(d.keepAlives), DuplicateACKs: int64(d.duplicateACKs), ZeroWindows: int64(d.zeroWindows),
		Tails: d.tails.summary(), ACKs: d.acks.summary(), Waits: d.waits.stalls.summary(),
	}
	if d.recovery != nil {
		a.Loss = d.recovery.loss.summary()
		a.PathMTU = d.recovery.stuck.holes
	}
	if d.acks != nil {
		a.DuplicateSACKs = int64(d.acks.duplicateSACKs)
	}
	if d.limit != nil {
		a.Limits = d.limit.times
	}
	return a
}

func (l *loss) summary() Loss {
	return Loss{
		RetransmittedPackets: int64(l.packets), RetransmittedWirePackets: int64(l.wire), RetransmittedBytes: int64(l.bytes),
		SpuriousPackets: int64(l.spurious), SpuriousWirePackets: int64(l.spuriousWire), LostPackets: int64(l.wire) - int64(l.spuriousWire),
		FastPackets: int64(l.by[causeFast]), ProbePackets: int64(l.by[causeProbe]), TimeoutPackets: int64(l.by[causeTimeout]),
		ReorderedPackets: int64(l.reordered), Timeouts: int64(l.timeouts), TimeoutTime: l.timeoutTime,
	}
}

func (m *tails) summary() Tails {
	if m == nil {
		return Tails{}
	}
	t := Tails{Messages: int64(m.messages), WirePackets: int64(m.wire), Hidden: int64(m.hidden), Visible: int64(m.visible), Held: int64(m.held), TimeLost: m.lost}
	for _, s := range m.sizes {
		if s.count > 0 {
			t.addSize(TailSize{int64(s.bytes), int64(s.count), int64(s.message)})
		}
	}
	return t
}

func (a *acks) summary() ACKs {
	if a == nil {
		return ACKs{}
	}
	sum := ACKs{
		Advancing: int64(a.advancing), Stretch: int64(a.stretch), Big: int64(a.big),
		Bytes: int64(a.bytes), StretchBytes: int64(a.stretchBytes), BigBytes: int64(a.bigBytes), LargestDegree: float64(a.largest),
	}
	for i, n := range a.degrees {
		sum.Degrees[i] = int64(n)
	}
	return sum
}

package tcp

import (
	"nettrace/pcap"
	"nettrace/unit"
)

// Picture is what the capture itself did to what it shows. Each part is a finding of its own (capture/*) and a caveat on
// the findings that it could fake.
type Picture struct {
	Copies       Sights    `json:"copies,omitzero"`               // packets that the capture holds already; value: nanoseconds behind the first
	CopyDistance Durations `json:"copy_distance_ns,omitzero"`     // between the two
	RoutedCopies int64     `json:"routed_copies,omitempty"`       // with another TTL than the first
	Above        Sights    `json:"above_offload,omitzero"`        // super-segments; value: payload bytes
	Cut          Sights    `json:"cut,omitzero"`                  // packets not captured whole; value: bytes that lack
	OptionsCut   Sights    `json:"options_cut,omitzero"`          // TCP packets whose options were not captured whole
	Valid        int64     `json:"valid_checksums,omitempty"`     // of the data packets looked at, a few of each direction
	NotWhole     int64     `json:"checksums_not_whole,omitempty"` // of them that are not partial, and of which too little was captured to tell more
	Partial      Sights    `json:"partial_checksums,omitzero"`
	Wrong        Sights    `json:"wrong_checksums,omitzero"`
	Backward     Sights    `json:"backward,omitzero"`   // packets earlier than the one before them; value: nanoseconds
	Behind       Sights    `json:"behind,omitzero"`     // data behind its own acknowledgement; value: nanoseconds
	ACKUnseen    Sights    `json:"ack_unseen,omitzero"` // ACKs of data that the capture does not hold; value: bytes
}

// Sights counts packets of one kind, with the first and the one of the largest value.
type Sights struct {
	Count int64 `json:"count"`
	First Sight `json:"first"`
	Worst Sight `json:"worst"`
}

// Sight is one packet.
type Sight struct {
	Record int64      `json:"record"`
	Offset int64      `json:"offset"`
	Time   unit.Nanos `json:"time_ns"`
	Value  int64      `json:"value"`
}

func (s *Sights) note(p *pcap.Packet, now unit.Nanos, value int64) {
	s.Count++
	if s.Count == 1 || value > s.Worst.Value {
		s.Worst = Sight{p.Record, p.Offset, now, value}
	}
	if s.Count == 1 {
		s.First = s.Worst
	}
}

// merge adds other sights of the same capture.
func (s *Sights) merge(b *Sights) {
	switch {
	case b.Count == 0:
		return
	case s.Count == 0:
		*s = *b
		return
	}
	s.Count += b.Count
	if b.First.Record < s.First.Record {
		s.First = b.First
	}
	if b.Worst.Value > s.Worst.Value || b.Worst.Value == s.Worst.Value && b.Worst.Record < s.Worst.Record {
		s.Worst = b.Worst
	}
}

// picture gathers a Picture.
type picture struct {
	Picture
	distance spread
	last     unit.Nanos // of the packet before
	timed    bool
}

// What checksums are made up of: the first data packets of each direction of the first connections. It reads the payload,
// so that it is no work for every packet.
const (
	verifyPackets     = 4
	verifyConnections = 256
)

// look notes what any packet tells.
func (v *picture) look(p *pcap.Packet, h *pcap.Header, now unit.Nanos, timed bool) {
	if p.CapLen < p.WireLen {
		v.Cut.note(p, now, int64(p.WireLen-p.CapLen))
	}
	if h.Options.Cut && h.Transport == pcap.TCP {
		v.OptionsCut.note(p, now, 0)
	}
	if !timed {
		return
	}
	if v.timed && now < v.last {
		v.Backward.note(p, now, int64(v.last-now))
	}
	v.timed, v.last = true, now
}

// copied notes a copy, which came so long after the first.
func (v *picture) copied(p *pcap.Packet, now, age unit.Nanos, routed bool) {
	v.Copies.note(p, now, int64(age))
	v.distance.add(age)
	if routed {
		v.RoutedCopies++
	}
}

// verified notes the checksum of a data packet, if it is one of the first.
func (v *picture) verified(d *direction, s *segment) {
	if d.dataPackets > verifyPackets {
		return
	}
	switch s.checksum {
	case pcap.ChecksumValid:
		v.Valid++
	case pcap.ChecksumPartial:
		v.Partial.note(s.packet, s.now, 0)
	case pcap.ChecksumWrong:
		v.Wrong.note(s.packet, s.now, 0)
	case pcap.ChecksumCut:
		v.NotWhole++
	}
}

func (v *picture) merge(b *picture) {
	v.distance.merge(&b.distance)
	v.RoutedCopies += b.RoutedCopies
	v.Valid += b.Valid
	v.NotWhole += b.NotWhole
	for _, pair := range [][2]*Sights{{&v.Copies, &b.Copies}, {&v.Above, &b.Above}, {&v.Cut, &b.Cut}, {&v.OptionsCut, &b.OptionsCut}, {&v.Partial, &b.Partial},
		{&v.Wrong, &b.Wrong}, {&v.Backward, &b.Backward}, {&v.Behind, &b.Behind}, {&v.ACKUnseen, &b.ACKUnseen}} {
		pair[0].merge(pair[1])
	}
}

func (v *picture) summary() Picture {
	v.CopyDistance = v.distance.summary()
	return v.Picture
}

package datapath

import (
	"cmp"
	"slices"

	"nettrace/pcap"
	"nettrace/unit"
)

// step is one thing that an application does: write bytes, or close.
type step struct {
	needs uint64     // bytes of the peer that it has read before
	delay unit.Nanos // from their arrival, or from the step before if that is later
	bytes uint64     // 0: close
}

// behaviour is what a recording tells of an application's end and of its host: what to do again under other settings.
type behaviour struct {
	steps   []step
	noDelay bool       // it sent a small segment while another was on its way
	cuts    []uint64   // ends of the packets as they left, if they were captured where they left
	edges   []edge     // windows that it offered
	acks    []uint64   // what it acknowledged, rising
	delayed unit.Nanos // its usual delayed ACK, 0 if there was none
	merges  groMode
	flushes []uint64 // ends at which its receiving side stopped merging
	paced   bool
	inline  bool // the path runs in the sender's own system call: the answer to a packet is there before the next leaves
}

// inlineTrip is the round trip below which a path may be inside one machine (veth, loopback): between two hosts, interrupts
// and wires take longer.
const inlineTrip = 100 * unit.Microsecond

// edge is a window: with bytes up to ack acknowledged, all up to right are taken.
type edge struct{ ack, right uint64 }

// sender is a recorded end's side of the story, in its own time: when its data left, and when that of the peer and
// acknowledgements came. What is d away from the place of capture, there and back, sent its packets d before they were seen,
// if what it answers is taken to arrive when it passed: only sums of both ways matter, and those are kept.
type sender struct {
	recording *Recording
	end       int // 0 client, 1 server
	away      unit.Nanos
	trip      unit.Nanos
	mss       uint64

	got     []arrival // bytes of the peer, contiguous
	acked   []arrival // own bytes acknowledged, by any packet
	ackOnly []arrival // the same by packets without payload
	rights  []arrival // the peer's window: the byte up to which may be sent
}

// arrival says that all up to bytes had come at a time.
type arrival struct {
	at    unit.Nanos
	bytes uint64
}

// nagleRelease is within what time of an acknowledgement data leaves that waited for it, beside a round trip where the end
// is away, which may be slower than the shortest.
const nagleRelease = unit.Millisecond

func newSender(r *Recording, end int, path *recordedPath) *sender {
	s := &sender{recording: r, end: end, away: path.away[end], trip: path.roundTrip(), mss: uint64(path.mss)}
	var last unit.Nanos // when the path has carried what was sent to an end that is away
	for _, p := range r.packets {
		if s.own(p) || p.flags&pcap.SYN != 0 {
			continue
		}
		came := p.at
		if s.away > path.away[1-end] {
			came = max(p.at, last) + unit.Nanos(int64(p.payload+p.wire*(headerBytes+framingBytes))*path.picosPerByte[1-end]/1000)
			last = came
		}
		s.got = rising(s.got, came, p.end)
		if p.edge != noEdge {
			s.rights = rising(s.rights, p.at, p.edge)
		}
		if p.flags&pcap.ACK != 0 {
			s.acked = rising(s.acked, p.at, p.ack)
			if p.payload == 0 {
				s.ackOnly = append(s.ackOnly, arrival{p.at, p.ack})
			}
		}
	}
	return s
}

func rising(list []arrival, at unit.Nanos, bytes uint64) []arrival {
	if n := len(list); bytes == 0 || n > 0 && bytes <= list[n-1].bytes {
		return list
	}
	return append(list, arrival{at, bytes})
}

func (s *sender) own(p recordedPacket) bool { return p.fromServer == (s.end == 1) }

// at returns how much of a list had come by a time.
func at(list []arrival, when unit.Nanos) (a arrival) {
	i, _ := slices.BinarySearchFunc(list, when+1, func(a arrival, t unit.Nanos) int { return cmp.Compare(a.at, t) })
	if i == 0 {
		return arrival{}
	}
	return list[i-1]
}

// when returns the time at which so many bytes had come.
func when(list []arrival, bytes uint64) unit.Nanos {
	i, _ := slices.BinarySearchFunc(list, bytes, func(a arrival, b uint64) int { return cmp.Compare(a.bytes, b) })
	if i == len(list) {
		return 0
	}
	return list[i].at
}

// writer recovers the steps of one end.
type writer struct {
	*sender
	out   *behaviour
	high  uint64     // end of the data that has left
	small uint64     // end of the last segment below the MSS
	whole bool       // the last packet was of whole segments
	full  bool       // it filled the peer's window: no segment more had room
	done  unit.Nanos // when the last step was taken
	since unit.Nanos // when the last packet left

	unprompted, followed int // packets that went on with a write with nothing to release them, and others
	bursts               int // packets that left with nothing from the peer since the one before
}

// behaviour recovers what the end did. from is when it could begin.
func (s *sender) behaviour(from unit.Nanos) *behaviour {
	w := &writer{sender: s, out: &behaviour{}, done: from, since: from}
	for _, p := range s.recording.packets {
		if !s.own(p) {
			continue
		}
		w.offers(p)
		if p.end > w.high && p.flags&pcap.SYN == 0 {
			w.sends(p)
		}
	}
	w.out.paced = w.unprompted > 8 && w.unprompted > w.followed
	w.out.inline = w.away == 0 && w.bursts == 0 && s.trip < inlineTrip
	return w.out
}

func (w *writer) offers(p recordedPacket) {
	o := w.out
	if n := len(o.acks); p.ack > 0 && (n == 0 || p.ack > o.acks[n-1]) {
		o.acks = append(o.acks, p.ack)
	}
	if n := len(o.edges); p.edge != noEdge && (n == 0 || p.ack >= o.edges[n-1].ack && p.edge > o.edges[n-1].right) {
		o.edges = append(o.edges, edge{p.ack, p.edge})
	}
}

// sends takes a packet with new data, or a FIN, into account: whether it goes on with a write, waited for an
// acknowledgement, or left when the application wrote.
func (w *writer) sends(p recordedPacket) {
	now := p.at - w.away
	acked := at(w.acked, now)
	closing := p.flags&pcap.FIN != 0
	data := p.end - w.high
	if closing {
		data--
	}
	flying := w.high > acked.bytes
	needs := at(w.got, now).bytes
	if w.away > 0 && p.flags&pcap.ACK != 0 {
		needs = min(needs, p.ack)
	}
	if data > 0 {
		w.classify(p, now, data, needs, flying)
		w.high += data
		w.out.cuts = append(w.out.cuts, w.high)
		w.whole = uint64(p.payload)%w.mss == 0
		if !w.whole {
			w.small = w.high
		}
		right := at(w.rights, now).bytes
		w.full = right > 0 && w.high+w.mss > right
		w.since = now
	}
	if closing {
		w.step(now, needs, 0)
		w.high++
	}
}

func (w *writer) classify(p recordedPacket, now unit.Nanos, data, needs uint64, flying bool) {
	steps := w.out.steps
	released := at(w.acked, now)
	small := w.small > released.bytes && flying
	if small && uint64(p.payload)%w.mss != 0 {
		w.out.noDelay = true // Nagle's rule, even in Minshall's form, would have held it
	}
	switch {
	case w.goesOn(now, needs, flying):
		steps[len(steps)-1].bytes += data
		if released.at < w.since {
			w.bursts++
		}
		if now-released.at > 100*unit.Microsecond && now-w.since > 100*unit.Microsecond {
			w.unprompted++
		} else if now-released.at <= 100*unit.Microsecond {
			w.followed++
		}
	case len(steps) > 0 && uint64(p.payload) < w.mss && needs == steps[len(steps)-1].needs && w.held(now):
		w.out.steps = append(steps, step{needs: steps[len(steps)-1].needs, bytes: data})
	default:
		w.step(now, needs, data)
	}
}

// inlineGap is within what time a write goes on although all of it so far was acknowledged: on a path inside one machine the
// acknowledgement of a packet comes before the next one leaves.
const inlineGap = 100 * unit.Microsecond

// goesOn reports whether a packet belongs to the write of the one before: that was of whole segments, nothing that could be
// answered has come, and there was no pause; or it filled the window, and this one left when the window opened, at the latest
// half a round trip later: pacing sends twice the window in one.
func (w *writer) goesOn(now unit.Nanos, needs uint64, flying bool) bool {
	n := len(w.out.steps)
	if n == 0 || w.out.steps[n-1].bytes == 0 {
		return false
	}
	if w.full && now-at(w.acked, now).at <= nagleRelease+w.away {
		return true
	}
	if !w.whole {
		return false
	}
	return flying || now-w.since < inlineGap && needs == w.out.steps[n-1].needs
}

// held reports whether a packet without payload had just acknowledged a small segment that was on its way.
func (w *writer) held(now unit.Nanos) bool {
	last := at(w.ackOnly, now)
	slack := nagleRelease + w.away
	if last.at == 0 || now-last.at > slack || last.bytes < w.small || w.small == 0 {
		return false
	}
	return at(w.acked, last.at-1).bytes < w.small
}

func (w *writer) step(now unit.Nanos, needs, bytes uint64) {
	from := w.done
	if needs > 0 {
		from = max(from, when(w.got, needs))
	}
	w.out.steps = append(w.out.steps, step{needs: needs, delay: max(0, now-from), bytes: bytes})
	w.done = max(now, from)
}

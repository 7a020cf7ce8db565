package datapath

import (
	"cmp"
	"slices"

	"nettrace/pcap"
	"nettrace/unit"
)

// recordedPath is the path of a recorded connection.
type recordedPath struct {
	away         [2]unit.Nanos // of client and server from the place of capture, there and back
	picosPerByte [2]int64      // to server, to client; 0 for no limit seen
	handshake    unit.Nanos    // by which the SYN-ACK came later than a round trip
	mss          int
}

// roundTrip is the whole one.
func (p *recordedPath) roundTrip() unit.Nanos { return p.away[0] + p.away[1] }

// defaultMSS is taken where neither SYN nor data tell.
const defaultMSS = 1448

// path recovers what the recording tells of the path: the shortest answers, and the rate at which data of bulk transfers
// was acknowledged or came.
func (c *Recording) path() recordedPath {
	p := recordedPath{mss: defaultMSS}
	for _, d := range c.Directions {
		if d.EffectiveMSS > 0 && d.Bytes > 0 {
			p.mss = d.EffectiveMSS
			break
		}
	}
	shake := [2]unit.Nanos{c.Handshake.ToClient, c.Handshake.ToServer}
	for end := range p.away {
		local := c.Side.Place == "client" && end == 0 || c.Side.Place == "server" && end == 1 || c.Side.Place == "both"
		if local {
			continue
		}
		p.away[end] = shake[end]
		if rtt := c.Directions[1-end].RTT; rtt.Samples > 0 && (p.away[end] == 0 || rtt.Min < p.away[end]) {
			p.away[end] = rtt.Min
			if rtt.Min < inlineTrip && rtt.P50 < rtt.Min+inlineTrip { // inside one machine what counts is the work for a packet
				p.away[end] = rtt.P50
			}
		}
	}
	if p.roundTrip() == 0 {
		p.away[1] = max(c.RoundTrip, unit.Microsecond)
	}
	p.handshake = max(0, c.Handshake.ToServer-p.away[1])
	for dir := range p.picosPerByte {
		p.picosPerByte[dir] = c.pace(dir, p)
	}
	return p
}

// Bounds of the rate: what is acknowledged faster than fastPath is taken for no limit, and a window of measurement holds at
// least so many segments.
const (
	paceSegments = 64
	fastPath     = 2000 // Mb/s
)

// pace returns the time of a byte on the path of a direction, from the fastest of the windows in which it was acknowledged
// or, beyond the path, received.
func (c *Recording) pace(dir int, p recordedPath) int64 {
	var seen []arrival
	sent, right, first := uint64(0), uint64(0), 0
	fastest := 0.0
	beyond := p.away[dir] > p.away[1-dir] // captured at the receiver: the data itself was seen after the path
	own := dir == 1
	window := max(paceSegments*uint64(p.mss), c.bytes(own)/4)
	for _, k := range c.packets {
		if k.flags&pcap.SYN != 0 {
			continue
		}
		if k.fromServer == own {
			if sent == lastOf(seen) && !beyond { // a pause: what follows measures no path
				first = len(seen)
			}
			sent = max(sent, k.end)
			if right > 0 && sent+uint64(p.mss) > right { // a full window: the receiver sets the pace, not the path
				first = len(seen)
			}
		} else if k.edge != noEdge {
			right = max(right, k.edge)
		}
		n := len(seen)
		if beyond && k.fromServer == own {
			seen = rising(seen, k.at, k.end)
		} else if !beyond && k.fromServer != own && k.flags&pcap.ACK != 0 {
			seen = rising(seen, k.at, k.ack)
		}
		if len(seen) == n {
			continue
		}
		if beyond && n > 0 && seen[n].at-seen[n-1].at > max(p.roundTrip(), unit.Millisecond)/2 {
			first = n
		}
		last := seen[n]
		for first < n && last.bytes-seen[first+1].bytes >= window {
			first++
		}
		if first < n && last.bytes-seen[first].bytes >= window && last.at > seen[first].at {
			fastest = max(fastest, float64(last.bytes-seen[first].bytes)*8000/float64(last.at-seen[first].at))
		}
	}
	if fastest == 0 || fastest > fastPath {
		return 0
	}
	onWire := float64(p.mss) / float64(p.mss+headerBytes+framingBytes)
	return int64(8e6 / fastest * onWire)
}

// bytes is what one direction carried.
func (c *Recording) bytes(fromServer bool) (n uint64) {
	for _, k := range c.packets {
		if k.fromServer == fromServer && k.flags&pcap.SYN == 0 {
			n = max(n, k.end)
		}
	}
	return n
}

func lastOf(list []arrival) uint64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].bytes
}

// behaviours recovers what both ends did and how their hosts acknowledged.
func (c *Recording) behaviours(p *recordedPath) [2]*behaviour {
	var ends [2]*behaviour
	for end := range ends {
		s := newSender(c, end, p)
		ends[end] = s.behaviour(c.established(end, p))
	}
	for end, b := range ends {
		b.merges = c.merging(end, p)
		b.delayed = c.delayedACK(end, p)
		local, from := p.away[end] <= p.away[1-end], ends[1-end]
		switch {
		case local && c.merged(end == 0): // what came together is known, and is what left together unless it was held
			b.flushes = from.cuts
			if b.merges != groHeld {
				b.merges = groOn
			}
		case local:
			b.flushes, from.cuts = b.acks, nil
		default:
			b.flushes = b.acks
		}
	}
	for end, b := range ends {
		if !c.merged(end == 1) {
			b.cuts = nil // captured as frames: what left the stack together is not known
		}
	}
	return ends
}

// established is when an end could begin, in its own time.
func (c *Recording) established(end int, p *recordedPath) unit.Nanos {
	first := c.packets[0].at
	for _, k := range c.packets {
		if k.flags&pcap.SYN != 0 && (end == 0) == k.fromServer {
			return k.at
		}
		if end == 1 && !k.fromServer && k.flags&pcap.SYN == 0 {
			return k.at
		}
	}
	return first - p.away[end]
}

// merging is how the receiving side of an end merged what came, as its acknowledgements tell: runs of segments that came
// together were acknowledged as one, or in parts.
func (c *Recording) merging(end int, p *recordedPath) groMode {
	var acks []uint64
	for _, k := range c.packets {
		if k.fromServer == (end == 1) && k.flags&pcap.ACK != 0 && k.flags&pcap.SYN == 0 {
			acks = append(acks, k.ack)
		}
	}
	slices.Sort(acks)
	whole, parts := 0, 0
	for _, t := range c.trains(end == 0, p.mss) {
		i, _ := slices.BinarySearch(acks, t.seq+1)
		if i < len(acks) && acks[i] < t.end {
			parts++
		} else {
			whole++
		}
	}
	switch {
	case parts >= whole:
		return groOff
	case p.picosPerByte[1-end] > 0:
		return groHeld
	}
	return groOn
}

// trainGap is within what time segments of one super-segment follow each other, where they are seen one by one.
const trainGap = 200 * unit.Microsecond

// trains returns the runs of at least three segments that a direction sent, each a super-segment or what follows closely.
func (c *Recording) trains(fromServer bool, mss int) []recordedPacket {
	var list []recordedPacket
	var run recordedPacket
	add := func() {
		if int(run.payload) > 2*mss {
			list = append(list, run)
		}
		run = recordedPacket{}
	}
	for _, k := range c.packets {
		if k.fromServer != fromServer || k.payload == 0 {
			continue
		}
		follows := run.payload > 0 && k.seq == run.end && k.at-run.at < trainGap && run.wire == 1 && k.wire == 1
		if !follows {
			add()
			run = k
		} else {
			run.end, run.at = k.end, k.at
			run.payload += k.payload
		}
		if int(k.payload) < mss || k.wire > 1 {
			add()
		}
	}
	add()
	return list
}

// merged reports whether a direction was captured with several segments in one packet.
func (c *Recording) merged(fromServer bool) bool {
	return slices.ContainsFunc(c.packets, func(k recordedPacket) bool { return k.fromServer == fromServer && k.wire > 1 })
}

// delayedACK is the usual wait of an end's delayed ACKs, 0 if it had none.
func (c *Recording) delayedACK(end int, p *recordedPath) unit.Nanos {
	const least, most = 20 * unit.Millisecond, 500 * unit.Millisecond
	s := newSender(c, end, p)
	var waits []unit.Nanos
	last := uint64(0)
	for _, k := range c.packets {
		if !s.own(k) || k.flags&(pcap.ACK|pcap.SYN) != pcap.ACK {
			continue
		}
		if sent := k.at - p.away[end]; k.payload == 0 && k.ack > last && k.flags&pcap.FIN == 0 && at(s.got, sent).bytes == k.ack {
			if wait := sent - when(s.got, last+1); wait >= least && wait <= most {
				waits = append(waits, wait)
			}
		}
		last = max(last, k.ack)
	}
	if len(waits) == 0 {
		return 0
	}
	slices.SortFunc(waits, cmp.Compare[unit.Nanos])
	return waits[len(waits)/2]
}

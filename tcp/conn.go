package tcp

import (
	"nettrace/pcap"
	"nettrace/unit"
)

// The two directions of a connection, as indices.
const (
	ClientToServer = 0
	ServerToClient = 1
)

// none marks a time that is not known.
const none unit.Nanos = -1 << 62

// conn is a live connection. Everything in it is of fixed size; the parts that not every connection needs are made when it
// does.
type conn struct {
	flow
	_                [8]byte // to the end of a cache line, since another core may write what follows
	began            beginning
	reset, evicted   bool
	portReused       bool
	judged           bool // its server is summed apart
	fastOpen         uint8
	resetBy          uint8 // the direction of the first RST
	ecn              uint8 // a bit for each end that asked for congestion notification, or agreed to it
	start, last      unit.Nanos
	record, offset   int64      // of its first packet
	syn, synACK, ack unit.Nanos // times of the last SYN, the first SYN-ACK, and the first packet of the client after it
	dir              [2]direction
	copies           copies
	exchanges        *exchanges // nil before the first request
	events           *events
	addresses        uint64  // sum of the words of both, for partialSum
	_                [8]byte // to the end of a cache line
}

// begin makes an empty connection that of its first packet.
func (c *conn) begin(p *pcap.Packet, h *pcap.Header, now unit.Nanos) {
	c.start, c.last, c.record, c.offset = now, now, p.Record, p.Offset
	c.syn, c.synACK, c.ack, c.addresses = none, none, none, addressSum(h)
	c.dir[0].waits.scale, c.dir[1].waits.scale = -1, -1
	switch {
	case h.Flags&pcap.SYN == 0:
		c.began = midstream
	case h.Flags&pcap.ACK == 0:
		c.began = withSYN
	default:
		c.began = withSYNACK
	}
}

// beginning says how a connection began in the capture.
type beginning uint8

const (
	midstream beginning = iota
	withSYN
	withSYNACK
)

// What is known of TCP Fast Open (RFC 7413).
const (
	fastOpenAsked    = 1 << iota // the option was seen
	fastOpenData                 // the SYN carried data
	fastOpenAccepted             // the SYN-ACK acknowledged it
	fastOpenRefused              // the SYN-ACK did not
)

// direction is what one end sends, with what the other end acknowledges of it. Sequence numbers are extended to 64 bits,
// so that they never wrap.
type direction struct {
	high, una     uint64 // end of the highest byte seen (a FIN counts as one), and the highest ACK number seen for it
	recoveryPoint uint64 // an ACK that begins below it may cover data that came out of order
	isn           uint32
	seen, acked   bool // whether high is from a packet, and una set
	synSeen       bool
	finSeen       bool
	partial       bool // high is where the first fragment of a packet ends: it goes on, to where is not known
	repeatedSYNs  uint8
	windowKnown   bool
	window        uint16 // as last advertised by this end
	waits         waits
	limit         *limit     // nil before it has sent enough
	sentAt, unaAt unit.Nanos // of the last data packet, and of the last advance of una
	size          int32      // effective MSS of the last data packet
	mss           mss
	options       synOptions
	signs         signs
	view          view

	// Counts. Copies are in none but copies.
	packets, dataPackets, wirePackets, pureACKs uint64
	bytes, unique, missing                      uint64 // payload, that without what was sent before, and what was acknowledged but not captured
	tagged, copies, keepAlives, duplicateACKs   uint32
	zeroWindows, superSegments, gaps            uint32
	largest                                     uint32 // payload
	vlan                                        uint16
	idents                                      identifications

	acks    *acks // nil before the first packet that only acknowledges
	rtt     rtt
	message message
	tails   *tails // nil before the first full-sized packet
	*recovery
}

// synOptions are what this end's SYN or SYN-ACK asked for.
type synOptions struct {
	mss                                       uint16
	scale                                     uint8
	hasMSS, hasScale, timestamps, sackOK, cut bool
}

// segment is a packet as its direction sees it.
type segment struct {
	packet     *pcap.Packet
	header     *pcap.Header
	now        unit.Nanos
	timed      bool
	checksum   pcap.Checksum // unless it is one of the first data packets, it was not looked at
	start, end uint64        // of its payload
	size       int           // effective MSS
	wire       int           // packets on the wire
}

// origin is where extended sequence numbers begin, so that numbers below the first one seen stay positive.
const origin = 1 << 32

// extend returns the 64-bit number nearest to near whose low 32 bits are n.
func extend(near uint64, n uint32) uint64 { return near + uint64(int64(int32(n-uint32(near)))) }

// begin sets the first number of a direction.
func (d *direction) begin(n uint32) { d.high = origin + uint64(n) }

// outstanding reports whether data of this direction waits for an acknowledgement.
func (d *direction) outstanding() bool { return d.acked && d.una < d.high }

// roundTrip returns the best estimate of the round-trip time that is at hand, wherever the capture was taken: both legs
// of the handshake, or the shortest of both directions. It is 0 if nothing is known.
func (c *conn) roundTrip() unit.Nanos {
	if c.syn != none && c.synACK != none && c.ack != none && c.dir[ClientToServer].repeatedSYNs == 0 {
		return c.ack - c.syn
	}
	return c.dir[0].rtt.times.min + c.dir[1].rtt.times.min
}

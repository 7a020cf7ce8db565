package tcp

import (
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// WiresharkFlags are the marks tcp.analysis.* that Wireshark puts on a packet. They are not our verdicts: what Wireshark
// gets wrong, they have wrong.
type WiresharkFlags uint16

const (
	wiresharkRetransmission WiresharkFlags = 1 << iota
	wiresharkFastRetransmission
	wiresharkSpurious
	wiresharkOutOfOrder
	wiresharkLostSegment
	wiresharkDuplicateACK
	wiresharkZeroWindow
	wiresharkWindowFull
	wiresharkWindowUpdate
	wiresharkKeepAlive
	wiresharkKeepAliveACK
	wiresharkACKLostSegment
	wiresharkReusedPorts
	wiresharkZeroWindowProbe
	wiresharkZeroWindowProbeACK
)

var wiresharkNames = [...]string{"retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order", "lost_segment", "duplicate_ack", "zero_window",
	"window_full", "window_update", "keep_alive", "keep_alive_ack", "ack_lost_segment", "reused_ports", "zero_window_probe", "zero_window_probe_ack"}

// Names returns Wireshark's names of the marks that are set, without their prefix "tcp.analysis.", in a fixed order.
func (f WiresharkFlags) Names() []string {
	names := []string{}
	for i, name := range wiresharkNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// WiresharkMarker puts on each packet of a capture the marks that Wireshark 4.0 puts on it with its default settings. It
// knows nothing of the Tracker and shares nothing with it: as Wireshark, it takes packets in the order of the file, names
// a connection by addresses and ports alone (whatever interface, VLAN or tunnel shows it), and takes copies for packets.
type WiresharkMarker struct {
	source string
	ledger *source.Ledger
	max    int

	key            key // of the packet at hand
	index          map[key]int32
	conns          []wiresharkConn
	oldest, newest int32 // ends of the list of connections by their last packet
	last           int32
}

// noConn ends a list of connections.
const noConn int32 = -1

// wiresharkConn is a connection between two ends. A SYN of another one between the same ends takes its place.
type wiresharkConn struct {
	key          key
	older, newer int32
	started      bool // a SYN was seen, at syn
	syn          unit.Nanos
	rtt          unit.Nanos // from the SYN to the first ACK after it, 0 for not known
	record       int64      // of its first packet
	offset       int64
	side         [2]wiresharkSide // the low end's, the high end's
}

// WiresharkOptions bound what a WiresharkMarker keeps. The zero value stands for the defaults.
type WiresharkOptions struct {
	MaxConnections int // 0 stands for 262,144, at about 350 bytes each
}

// NewWiresharkMarker returns a marker for the capture of that name. Wireshark never forgets a connection; the marker
// forgets the one that was quiet for longest when it has too many, and enters that into the ledger.
func NewWiresharkMarker(name string, o WiresharkOptions, ledger *source.Ledger) *WiresharkMarker {
	if o.MaxConnections <= 0 {
		o.MaxConnections = 1 << 18
	}
	return &WiresharkMarker{source: name, ledger: ledger, max: o.MaxConnections, index: map[key]int32{}, oldest: noConn, newest: noConn, last: noConn}
}

// Mark takes the next packet of the file and returns its marks; one without a whole TCP header has none, as in
// Wireshark.
func (m *WiresharkMarker) Mark(p *pcap.Packet, h *pcap.Header) WiresharkFlags {
	if h.Transport != pcap.TCP || h.Fragment {
		return 0
	}
	fromHigh := m.key.set(h)
	m.key.tunnel = 0
	c := m.find(p)
	s := wiresharkSegment{header: h, now: p.Time, conn: c, from: &c.side[0], to: &c.side[1]}
	if fromHigh {
		s.from, s.to = s.to, s.from
	}
	marks := s.mark()
	if h.Options.Cut && h.PayloadAt > len(p.Data) { // its dissector gives up in the options, before it shows the marks
		return 0
	}
	return marks
}

// find returns the packet's connection and makes it the newest in the list.
func (m *WiresharkMarker) find(p *pcap.Packet) *wiresharkConn {
	if m.last != noConn && m.conns[m.last].key.is(&m.key) {
		return &m.conns[m.last]
	}
	i, known := m.index[m.key]
	switch {
	case known:
		m.unlink(i)
	case len(m.conns) < m.max:
		i = int32(len(m.conns))
		m.conns = append(m.conns, wiresharkConn{})
		m.open(i, p)
	default:
		i = m.oldest
		m.forget(i)
		m.open(i, p)
	}
	m.link(i)
	m.last = i
	return &m.conns[i]
}

// open makes the connection in place i that of the packet.
func (m *WiresharkMarker) open(i int32, p *pcap.Packet) {
	c := &m.conns[i]
	*c = wiresharkConn{key: m.key, record: p.Record, offset: p.Offset}
	c.reset()
	m.index[m.key] = i
}

func (m *WiresharkMarker) forget(i int32) {
	c := &m.conns[i]
	m.ledger.Add("wireshark-connection-forgotten", source.Warning, source.Pos{Source: m.source, Offset: c.offset, Record: c.record}, 1,
		"more connections than are kept for Wireshark's marks: the one that was quiet for longest was forgotten; its later packets are marked as those of a new one")
	delete(m.index, c.key)
	m.unlink(i)
}

func (m *WiresharkMarker) link(i int32) {
	c := &m.conns[i]
	c.older, c.newer = m.newest, noConn
	if m.newest == noConn {
		m.oldest = i
	} else {
		m.conns[m.newest].newer = i
	}
	m.newest = i
}

func (m *WiresharkMarker) unlink(i int32) {
	c := &m.conns[i]
	if c.older == noConn {
		m.oldest = c.newer
	} else {
		m.conns[c.older].newer = c.newer
	}
	if c.newer == noConn {
		m.newest = c.older
	} else {
		m.conns[c.newer].older = c.older
	}
}

package tcp

import (
	"cmp"
	"fmt"
	"net/netip"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// Capture is what a tracker learnt of one capture. All times in it are since EpochSeconds, the whole second (Unix time) of
// its first packet.
type Capture struct {
	Source       string           `json:"source"`           // the first one of Pieces
	Pieces       []Piece          `json:"pieces,omitempty"` // of a capture in several files
	EpochSeconds int64            `json:"epoch_s"`
	Start        unit.Nanos       `json:"start_ns"`
	End          unit.Nanos       `json:"end_ns"`
	Packets      Packets          `json:"packets"`
	Totals       Totals           `json:"totals"`
	Picture      Picture          `json:"picture"`
	Connections  []Connection     `json:"connections"`          // in the order of their first packets
	Servers      []Server         `json:"servers"`              // by endpoint
	Interfaces   []pcap.Interface `json:"interfaces,omitempty"` // as the file describes them, with its drop counters
	Flows        []Flow           `json:"flows,omitempty"`      // of UDP, in the order of their first packets
	FlowTotals   FlowTotals       `json:"flow_totals,omitzero"` // of UDP
	Notices      []Notice         `json:"notices,omitempty"`    // ICMP errors, in the order of their first packets
}

// Packets counts the packets of a capture by what they carry.
type Packets struct {
	Total int64 `json:"total"`
	TCP   int64 `json:"tcp"`
	UDP   int64 `json:"udp"`
	ICMP  int64 `json:"icmp"`
	Other int64 `json:"other"`
	Parts int64 `json:"fragments,omitempty"` // IP packets that are parts of one; only the first part has a transport
	Bytes int64 `json:"bytes"`               // on the wire, link-layer headers included
}

func (n *Packets) count(p *pcap.Packet, h *pcap.Header) {
	n.Total++
	n.Bytes += int64(p.WireLen)
	if h.Fragment {
		n.Parts++
	}
	switch h.Transport {
	case pcap.TCP:
		n.TCP++
	case pcap.UDP:
		n.UDP++
	case pcap.ICMP:
		n.ICMP++
	default:
		n.Other++
	}
}

// Totals are over all connections, kept or not.
type Totals struct {
	Connections int64 `json:"connections"`
	NotKept     int64 `json:"not_kept"` // of them have no summary in Connections
	Evicted     int64 `json:"evicted"`  // of them were cut short by the bound on live ones
	Midstream   int64 `json:"midstream"`
	Copies      int64 `json:"copies"` // packets that the capture holds more than once, set aside
	Activity
}

// Dropped returns how many packets the capture says that it dropped, over all interfaces; 0 where it is silent.
func (c *Capture) Dropped() (n int64) {
	for _, i := range c.Interfaces {
		n += max(i.Dropped, 0) + max(i.OSDrops, 0)
	}
	return n
}

// Arrived returns how many packets came to the interfaces: as many as they say, where a file holds a part of what was
// captured (editcap, a display filter), and at least those that are held or counted as dropped.
func (c *Capture) Arrived() (n int64) {
	for _, i := range c.Interfaces {
		n += max(i.Received, 0)
	}
	return max(n, c.Packets.Total+c.Dropped())
}

// Connection is one TCP connection, and how its parts went.
type Connection struct {
	Number       int64          `json:"number"` // from 1, by first packet; Wireshark's stream index plus one
	Client       netip.AddrPort `json:"client"`
	Server       netip.AddrPort `json:"server"`
	Start        unit.Nanos     `json:"start_ns"`
	End          unit.Nanos     `json:"end_ns"`
	Record       int64          `json:"record"` // of its first packet
	Offset       int64          `json:"offset"`
	Began        string         `json:"began"` // syn, syn-ack, midstream
	Ended        string         `json:"ended"` // fin, half-closed, reset, open, evicted
	PortReused   bool           `json:"port_reused,omitempty"`
	ResetRecord  int64          `json:"reset_record,omitempty"` // of the RST
	ResetOffset  int64          `json:"reset_offset,omitempty"`
	Opening      Openings       `json:"opening,omitzero"`
	Handshake    Handshake      `json:"handshake"`
	Side         Side           `json:"capture_side"`
	RoundTrip    unit.Nanos     `json:"round_trip_ns"` // best estimate, 0 if unknown
	Directions   [2]Direction   `json:"directions"`    // client to server, server to client
	Exchanges    Exchanges      `json:"exchanges,omitzero"`
	Copies       int64          `json:"copies,omitempty"`
	Events       []Event        `json:"events"`
	AboveOffload bool           `json:"above_offload,omitempty"` // it holds super-segments
}

// Name names the connection for people.
func (c *Connection) Name() string { return c.Client.String() + " > " + c.Server.String() }

// Key names the connection's server in a way that is stable from run to run.
func (c *Connection) Key() string { return serverKey(c.Server) }

func serverKey(server netip.AddrPort) string { return "tcp/" + server.String() }

// Handshake is what the SYN packets tell. Where an end's SYN was not captured, what it offered is not known.
type Handshake struct {
	Ends                [2]Offer   `json:"ends"`         // client, server
	ToServer            unit.Nanos `json:"to_server_ns"` // SYN to SYN-ACK, 0 if not captured
	ToClient            unit.Nanos `json:"to_client_ns"` // SYN-ACK to the client's next packet
	RoundTrip           unit.Nanos `json:"round_trip_ns"`
	WindowScaleKnown    bool       `json:"window_scale_known"` // both SYNs were captured: the scales in use, 0 included, are known
	WindowScale         [2]int     `json:"window_scale"`       // shifts in use by client and server, valid iff known
	Timestamps          bool       `json:"timestamps"`
	SACK                bool       `json:"sack"`
	ECN                 bool       `json:"ecn,omitempty"`
	FastOpen            string     `json:"fast_open,omitempty"` // "", asked, accepted, refused
	RepeatedSYNs        int64      `json:"repeated_syns,omitempty"`
	FastOpenWithPayload bool       `json:"fast_open_with_payload,omitempty"`
	FastOpenCookie      string     `json:"fast_open_cookie,omitempty"` // in hexadecimal
	Multipath           *Multipath `json:"multipath,omitempty"`        // nil without Multipath TCP
}

// Offer is what one end's SYN or SYN-ACK offers.
type Offer struct {
	Seen       bool `json:"seen"`
	MSS        int  `json:"mss"`          // 0 if the option is not there
	Scale      int  `json:"window_scale"` // -1 if the option is not there
	Timestamps bool `json:"timestamps"`
	SACK       bool `json:"sack_permitted"`
	ECN        bool `json:"ecn,omitempty"` // its flags ask for congestion notification, or agree to it (RFC 3168 section 6.1.1)
	Cut        bool `json:"cut,omitempty"` // the capture ends in the options
}

// Direction is what one end sent, and how the other end acknowledged it.
type Direction struct {
	EffectiveMSS  int       `json:"effective_mss"` // of data packets: the MSS without the option bytes in use; 0 if there was no data
	MSSSource     MSSSource `json:"mss_source"`
	LargestBytes  int64     `json:"largest_payload_bytes"`
	TaggedPackets int64     `json:"tagged_packets,omitempty"` // with a VLAN tag
	VLAN          int       `json:"vlan,omitempty"`           // the last one that was not 0
	TTL           int       `json:"ttl"`
	IDsInOrder    bool      `json:"ids_in_order"` // IP identifications tell the order of sending
	Activity
	Limit *Limit    `json:"limit,omitempty"` // nil if it sent too little
	RTT   Durations `json:"rtt_ns,omitzero"` // from a packet to its acknowledgement, as seen from where the capture was taken
}

// Exchanges is the request/response structure of a connection, as the turns of its data show it.
type Exchanges struct {
	Count       int64        `json:"count"`                 // requests that were answered
	Overlapping int64        `json:"overlapping,omitempty"` // requests that began before the last answer was acknowledged
	Total       unit.Nanos   `json:"total_ns"`              // time from request to the last byte of its answer, summed
	Times       Durations    `json:"times_ns,omitzero"`
	Usual       ExchangeKind `json:"usual,omitzero"` // the most common pair of sizes
}

// Sequential reports whether there were exchanges, never more than one at a time.
func (e *Exchanges) Sequential() bool { return e.Count > 0 && e.Overlapping == 0 }

// ExchangeKind describes the exchanges of one pair of sizes. With more than two pairs in turn the count is a lower bound.
type ExchangeKind struct {
	RequestBytes  int64 `json:"request_bytes"`
	ResponseBytes int64 `json:"response_bytes"`
	Count         int64 `json:"count"`
	// What most of them are on the wire: packets of the request; pure ACKs of the server and packets of the response until
	// it is complete; pure ACKs of the client from the response on. Then the means.
	RequestPackets     int     `json:"request_packets"`
	ServerPackets      int     `json:"server_packets"`
	ClientACKs         int     `json:"client_acks"`
	Shaped             int64   `json:"shaped"` // how many have this shape, at least
	MeanRequestPackets float64 `json:"mean_request_packets"`
	MeanServerPackets  float64 `json:"mean_server_packets"`
	MeanClientACKs     float64 `json:"mean_client_acks"`
}

// capture builds the model.
func (t *Tracker) capture() *Capture {
	all := t.shards[0]
	for _, s := range t.shards[1:] {
		all.merge(s)
	}
	all.picture.merge(&t.picture)
	c := &Capture{Source: t.source, Pieces: t.pieces, EpochSeconds: t.clock.epoch, Start: t.clock.start, End: t.clock.end, Packets: t.packets, Totals: all.totals, Picture: all.picture.summary()}
	c.Totals.Tails.ranked()
	c.Connections = all.kept.list()
	joinSubflows(c.Connections)
	c.Servers = all.servers.list()
	if c.Totals.NotKept = c.Totals.Connections - int64(len(c.Connections)); c.Totals.NotKept > 0 {
		t.ledger.Add("connection-not-kept", source.Note, source.Pos{Source: t.source}, c.Totals.NotKept,
			fmt.Sprintf("of %d connections, %d are kept one by one: those with findings first, then the largest; all are in the totals", c.Totals.Connections, len(c.Connections)))
	}
	c.Flows, c.FlowTotals = t.datagrams.end()
	c.Notices = t.notices.list()
	if c.FlowTotals.NotKept > 0 {
		t.ledger.Add("flow-not-kept", source.Note, source.Pos{Source: t.source}, c.FlowTotals.NotKept,
			"more UDP flows than are kept one by one: those that lost something and the largest are; all are in the totals")
	}
	return c
}

func (t *Totals) add(b *Totals) {
	t.Connections += b.Connections
	t.Evicted += b.Evicted
	t.Midstream += b.Midstream
	t.Copies += b.Copies
	t.Activity.add(&b.Activity)
}

func byEndpoint(a, b netip.AddrPort) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Port(), b.Port()))
}

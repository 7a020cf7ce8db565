package tcp

import (
	"fmt"

	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/unit"
)

// signs are what the first packets of a direction tell of where they were captured.
type signs struct {
	looked            uint8
	ttl               uint8 // of the first packet
	partial, complete uint8 // packets of one segment with a partial checksum, and with another one
	outbound, inbound uint8
	unpadded, padded  uint8 // frames below Ethernet's 60 bytes, and frames filled up to them
}

// lookAt is how many packets of a direction are looked at.
const lookAt = 16

// ethernetMin is the shortest Ethernet frame without its check sequence. It is filled up after an outgoing packet has
// passed the capture.
const ethernetMin = 60

func (g *signs) look(s *segment, addresses uint64) {
	if g.looked >= lookAt {
		return
	}
	p, h := s.packet, s.header
	if g.looked == 0 {
		g.ttl = h.TTL
	}
	g.looked++
	if h.Payload <= s.size { // GRO leaves the partial checksum in merged packets too
		if h.Checksum == partialSum(h, addresses) {
			g.partial++
		} else {
			g.complete++
		}
	}
	switch p.Direction {
	case pcap.Outbound:
		g.outbound++
	case pcap.Inbound:
		g.inbound++
	}
	const ethernetHeader, ethernetLink = 14, 1
	if p.LinkType != ethernetLink || h.Tunnels > 0 || h.Tags > 0 || ethernetHeader+h.IPLen >= ethernetMin {
		return
	}
	if p.WireLen < ethernetMin {
		g.unpadded++
	} else {
		g.padded++
	}
}

// partialSum returns the checksum that a sender with checksum offload leaves to the device to complete: the folded sum of
// the pseudo-header, not complemented (Linux, __tcp_v4_send_check).
func partialSum(h *pcap.Header, addresses uint64) uint16 {
	sum := addresses
	const protocolTCP, tcpHeader = 6, 20
	length := uint64(tcpHeader + int(h.Options.Length) + h.Payload)
	sum += protocolTCP + length>>16 + length&0xffff
	for sum>>16 > 0 {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

// addressSum adds up the words of both addresses.
func addressSum(h *pcap.Header) (sum uint64) {
	for i := 0; i < 16; i += 2 {
		sum += uint64(h.Src[i])<<8 | uint64(h.Src[i+1])
		sum += uint64(h.Dst[i])<<8 | uint64(h.Dst[i+1])
	}
	return sum
}

// Side is where a connection was captured.
type Side struct {
	Place      string        `json:"place"` // client, server, middle, both (one host holds both ends), unknown
	Confidence finding.Level `json:"confidence"`
	Reasons    []string      `json:"reasons"`
}

// at reports whether the capture was surely taken at that place.
func (s *Side) at(place string) bool { return s.Place == place && s.Confidence >= finding.Medium }

// The places of Side.
const (
	AtClient  = "client"
	AtServer  = "server"
	InMiddle  = "middle"
	AtBoth    = "both"
	AtUnknown = "unknown"
)

// verdict weighs the signs of both directions. Each points to one end by some weight; the packet direction that the
// capture itself notes and the checksum are proof, legs and hop count are evidence, the padding is a hint.
type verdict struct {
	points  [2]int // to the client, to the server
	both    int
	middle  int
	reasons []string
}

func (v *verdict) toward(end, weight int, format string, args ...any) {
	v.points[end] += weight
	v.reasons = append(v.reasons, fmt.Sprintf(format, args...))
}

var endNames = [2]string{AtClient, AtServer}

// side says where the connection was captured.
func (c *conn) side() Side {
	var v verdict
	v.directions(c)
	v.checksums(c)
	v.legs(c)
	v.hops(c)
	v.padding(c)
	return v.side()
}

func (v *verdict) side() Side {
	reasons := append([]string{}, v.reasons...)
	near, far := ClientToServer, ServerToClient
	if v.points[far] > v.points[near] {
		near, far = far, near
	}
	switch {
	case v.both > 0 && v.points[near] < 2:
		return Side{AtBoth, finding.Medium, reasons}
	case v.points[near] == 0 && v.middle > 0:
		return Side{InMiddle, finding.Medium, reasons}
	case v.points[near] == 0 || v.points[near] == v.points[far]:
		return Side{AtUnknown, finding.Low, reasons}
	case v.points[far] > 0 || v.middle > 0:
		return Side{endNames[near], finding.Low, reasons}
	case v.points[near] >= 3:
		return Side{endNames[near], finding.High, reasons}
	case v.points[near] == 2:
		return Side{endNames[near], finding.Medium, reasons}
	default:
		return Side{endNames[near], finding.Low, reasons}
	}
}

// directions: the capture notes which packets went out (Linux cooked headers, epb_flags).
func (v *verdict) directions(c *conn) {
	for end := range c.dir {
		mine, other := &c.dir[end].signs, &c.dir[1-end].signs
		if mine.outbound > 0 && mine.inbound == 0 && other.outbound == 0 {
			v.toward(end, 3, "the capture marks the %s's packets as outgoing", endNames[end])
		}
	}
}

// checksums: outgoing packets of a device with checksum offload are partial, incoming single ones are complete.
func (v *verdict) checksums(c *conn) {
	a, b := &c.dir[0].signs, &c.dir[1].signs
	if mostly(a.partial, a.complete) && mostly(b.partial, b.complete) {
		v.both++
		v.reasons = append(v.reasons, "checksums of both directions are partial: both ends are on this host")
		return
	}
	for end := range c.dir {
		mine, other := &c.dir[end].signs, &c.dir[1-end].signs
		if mostly(mine.partial, mine.complete) && other.partial == 0 && other.complete > 0 {
			v.toward(end, 3, "the %s's checksums are partial (left to its device), the other side's are complete", endNames[end])
		}
	}
}

func mostly(yes, no uint8) bool { return yes >= 2 && yes > 4*no }

// legs: at the client the SYN-ACK is a round trip behind the SYN and the ACK follows at once, at the server the other way
// round. Below 200 us the hosts' own time hides the path.
func (v *verdict) legs(c *conn) {
	const least = 200 * unit.Microsecond
	if c.syn == none || c.synACK == none || c.ack == none || c.dir[0].repeatedSYNs > 0 || c.dir[1].repeatedSYNs > 0 {
		return
	}
	toServer, toClient := c.synACK-c.syn, c.ack-c.synACK
	switch {
	case toServer < 0 || toClient < 0 || toServer+toClient < least:
	case toServer > 4*toClient:
		v.toward(ClientToServer, 1, "SYN to SYN-ACK took %v, SYN-ACK to ACK %v", toServer, toClient)
	case toClient > 4*toServer:
		v.toward(ServerToClient, 1, "SYN to SYN-ACK took %v, SYN-ACK to ACK %v", toServer, toClient)
	default:
		v.middle++
		v.reasons = append(v.reasons, fmt.Sprintf("the handshake's legs share the round trip: %v and %v", toServer, toClient))
	}
}

// hops: a TTL that is a usual first value (64, 128, 255) belongs to a sender no router away.
func (v *verdict) hops(c *conn) {
	if a, b := c.dir[0].signs, c.dir[1].signs; a.looked > 0 && b.looked > 0 {
		v.ttls(a.ttl, b.ttl, true, true)
	}
}

// padding: outgoing frames are captured before they are filled up to 60 bytes.
func (v *verdict) padding(c *conn) {
	for end := range c.dir {
		mine, other := &c.dir[end].signs, &c.dir[1-end].signs
		if mine.unpadded > 0 && mine.padded == 0 && other.padded > 0 && other.unpadded == 0 {
			v.toward(end, 1, "the %s's short frames are not yet filled up to 60 bytes, the other side's are", endNames[end])
		}
	}
}

package tcp

// MSSSource says how the effective MSS of a direction is known.
type MSSSource string

const (
	MSSAssumed   MSSSource = "assumed"   // an Ethernet MTU of 1500, as nothing contradicts it
	MSSObserved  MSSSource = "observed"  // the common step of payload lengths
	MSSHandshake MSSSource = "handshake" // the smaller option of both SYN packets
	MSSOneSYN    MSSSource = "one SYN"   // only one of them was captured
)

// What RFC 9293 section 3.7.1 has for a SYN without the option, and the header bytes that an MTU of 1500 leaves over.
const (
	defaultMSS4, defaultMSS6   = 536, 1220
	ethernetMSS4, ethernetMSS6 = 1460, 1440
	minMSS                     = 48 // Linux, TCP_MIN_SND_MSS: what an absurd option or path MTU cannot go below
)

// mss knows how many bytes of payload and TCP options a packet of one direction can carry. Option bytes are taken off
// packet by packet (RFC 6691), so that SACK blocks beside data are accounted for.
type mss struct {
	option uint16 // payload and options, 0 while nothing is known
	known  uint8  // index into mssSources
	odd    uint8  // packets without PSH whose payload was no multiple of the effective MSS, up to 255
	even   uint8  // those whose payload was one
	step   uint32 // greatest common divisor of the payloads of the odd ones
}

var mssSources = [...]MSSSource{MSSAssumed, MSSObserved, MSSOneSYN, MSSHandshake}

const (
	assumed = iota
	observed
	oneSYN
	handshake
)

// size returns the effective MSS of a packet with so many bytes of TCP options.
func (m *mss) size(options int, v6 bool) int {
	option := int(m.option)
	switch {
	case option > 0:
	case v6:
		option = ethernetMSS6
	default:
		option = ethernetMSS4
	}
	return max(minMSS, option-options)
}

// enoughSegments is how many packets show a common step of payload lengths.
const enoughSegments = 8

// observe learns from a packet in the middle of a write (without PSH), which is cut at the effective MSS: a smaller path
// MTU or an unknown option shows as a common step that the size at hand does not divide.
func (m *mss) observe(payload, size, options int) {
	if payload < defaultMSS4/2 {
		return
	}
	if payload%size == 0 {
		if m.even < 255 {
			m.even++
		}
	} else {
		if m.odd < 255 {
			m.odd++
		}
		m.step = gcd(m.step, uint32(payload))
	}
	switch {
	case m.odd >= enoughSegments && m.odd > m.even && int(m.step) >= defaultMSS4-options && m.step <= 65535 && (m.known == assumed || int(m.step) < size):
		m.option, m.known = uint16(min(int(m.step)+options, 65535)), observed
		m.odd, m.even, m.step = 0, 0, 0
	case m.known == assumed && m.even >= enoughSegments && m.odd == 0:
		m.known = observed
		m.option = uint16(size + options)
	}
}

func gcd(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// wire returns how many packets a payload is on the wire: the identity that holds on both sides of TSO and GRO.
func wire(payload, size int) int { return (payload + size - 1) / size }

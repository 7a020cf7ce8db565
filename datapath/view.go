package datapath

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// View is a TCP segment in an Ethernet frame, over its own bytes: fields are read and written in place.
type View struct {
	bytes     []byte
	network   int // where the IP header begins
	transport int // where the TCP header begins
	payload   int // where the payload begins
	end       int // where the IP packet ends; padding follows
	version   uint8
}

// Flags of a TCP header (RFC 9293, section 3.1; RFC 3168 for the last two).
const (
	TCPFIN uint8 = 1 << iota
	TCPSYN
	TCPRST
	TCPPSH
	TCPACK
	TCPURG
	TCPECE
	TCPCWR
)

const (
	ethernetHeader = 14
	ipv6Header     = 40
	tcpHeaderMin   = 20
)

// ErrNotTCP is the error of a frame that is no whole TCP segment over IPv4 or IPv6, or a fragment of one.
var ErrNotTCP = errors.New("no whole TCP segment in an Ethernet frame")

// ParseView finds the headers of a frame. It does not copy it, and checks no checksum.
func ParseView(b []byte) (View, error) {
	v := View{bytes: b, network: ethernetHeader}
	if len(b) < ethernetHeader+20 {
		return View{}, fmt.Errorf("%w: %d bytes", ErrNotTCP, len(b))
	}
	var err error
	switch binary.BigEndian.Uint16(b[12:]) {
	case 0x0800:
		err = v.ipv4()
	case 0x86dd:
		err = v.ipv6()
	default:
		err = fmt.Errorf("%w: EtherType 0x%04x", ErrNotTCP, binary.BigEndian.Uint16(b[12:]))
	}
	if err != nil {
		return View{}, err
	}
	if v.end > len(b) || v.transport+tcpHeaderMin > v.end {
		return View{}, fmt.Errorf("%w: it ends within its headers", ErrNotTCP)
	}
	v.payload = v.transport + int(b[v.transport+12]>>4)*4
	if v.payload < v.transport+tcpHeaderMin || v.payload > v.end {
		return View{}, fmt.Errorf("%w: a TCP header of %d bytes", ErrNotTCP, v.payload-v.transport)
	}
	return v, nil
}

func (v *View) ipv4() error {
	h := v.bytes[v.network:]
	length := int(h[0]&15) * 4
	if h[0]>>4 != 4 || length < 20 || h[9] != 6 || binary.BigEndian.Uint16(h[6:])&0x3fff != 0 {
		return fmt.Errorf("%w: another protocol, or a fragment", ErrNotTCP)
	}
	v.version, v.transport = 4, v.network+length
	v.end = v.network + int(binary.BigEndian.Uint16(h[2:]))
	return nil
}

// ipv6 goes over the extension headers that may stand before TCP: hop-by-hop and destination options, routing.
func (v *View) ipv6() error {
	h := v.bytes[v.network:]
	if len(h) < ipv6Header || h[0]>>4 != 6 {
		return fmt.Errorf("%w: no IPv6 header", ErrNotTCP)
	}
	v.version, v.transport = 6, v.network+ipv6Header
	v.end = v.transport + int(binary.BigEndian.Uint16(h[4:]))
	for next := h[6]; next != 6; {
		if (next != 0 && next != 43 && next != 60) || v.transport+8 > len(v.bytes) {
			return fmt.Errorf("%w: next header %d", ErrNotTCP, next)
		}
		next, v.transport = v.bytes[v.transport], v.transport+8*(1+int(v.bytes[v.transport+1]))
	}
	return nil
}

// Payload returns the segment's data.
func (v View) Payload() []byte { return v.bytes[v.payload:v.end] }

// Headers returns all that stands before the data.
func (v View) Headers() []byte { return v.bytes[:v.payload] }

// Seq returns the sequence number.
func (v View) Seq() uint32 { return binary.BigEndian.Uint32(v.bytes[v.transport+4:]) }

// SetSeq writes the sequence number.
func (v View) SetSeq(n uint32) { binary.BigEndian.PutUint32(v.bytes[v.transport+4:], n) }

// Ack returns the acknowledgement number.
func (v View) Ack() uint32 { return binary.BigEndian.Uint32(v.bytes[v.transport+8:]) }

// Flags returns the TCP flags.
func (v View) Flags() uint8 { return v.bytes[v.transport+13] }

// SetFlags writes the TCP flags.
func (v View) SetFlags(f uint8) { v.bytes[v.transport+13] = f }

// Options returns the TCP options.
func (v View) Options() []byte { return v.bytes[v.transport+tcpHeaderMin : v.payload] }

// ID returns the identification of an IPv4 packet, 0 of others.
func (v View) ID() uint16 {
	if v.version != 4 {
		return 0
	}
	return binary.BigEndian.Uint16(v.bytes[v.network+4:])
}

// flow returns the bytes that all segments of one flow share: addresses and ports.
func (v View) flow() (addresses, ports []byte) {
	at, n := v.network+12, 8
	if v.version == 6 {
		at, n = v.network+8, 32
	}
	return v.bytes[at : at+n], v.bytes[v.transport : v.transport+4]
}

// SetLength writes the length of the IP packet for the bytes that the view's slice has.
func (v *View) SetLength() {
	v.end = len(v.bytes)
	if v.version == 4 {
		binary.BigEndian.PutUint16(v.bytes[v.network+2:], uint16(v.end-v.network))
		return
	}
	binary.BigEndian.PutUint16(v.bytes[v.network+4:], uint16(v.end-v.network-ipv6Header))
}

// SetChecksums writes the checksums of IPv4 and TCP (RFC 1071, RFC 8200 section 8.1).
func (v View) SetChecksums() {
	if v.version == 4 {
		h := v.bytes[v.network:v.transport]
		h[10], h[11] = 0, 0
		binary.BigEndian.PutUint16(h[10:], ^fold(sum(0, h)))
	}
	segment := v.bytes[v.transport:v.end]
	segment[16], segment[17] = 0, 0
	addresses, _ := v.flow()
	pseudo := sum(uint64(len(segment))+6, addresses)
	binary.BigEndian.PutUint16(segment[16:], ^fold(sum(pseudo, segment)))
}

// ChecksumsRight reports whether both checksums fit.
func (v View) ChecksumsRight() bool {
	if v.version == 4 && fold(sum(0, v.bytes[v.network:v.transport])) != 0xffff {
		return false
	}
	segment := v.bytes[v.transport:v.end]
	addresses, _ := v.flow()
	return fold(sum(sum(uint64(len(segment))+6, addresses), segment)) == 0xffff
}

// sum adds the words of b to a sum of ones' complement.
func sum(s uint64, b []byte) uint64 {
	var carry uint64
	for ; len(b) >= 8; b = b[8:] {
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
	}
	s, carry = bits.Add64(s, 0, carry)
	s += carry
	s = s>>32 + s&0xffffffff // room for what follows
	for len(b) >= 2 {
		s += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	return s
}

func fold(s uint64) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

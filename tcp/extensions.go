package tcp

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"nettrace/pcap"
)

// extensions is what the options of a handshake tell that few connections have: the cookie of Fast Open, and the keys of
// Multipath TCP or the token by which a subflow joins a connection.
type extensions struct {
	cookie    string
	version   uint8     // of Multipath TCP
	keys      [2]uint64 // of client and server
	known     [2]bool
	token     uint32
	joins     bool
	multipath bool
}

// What the first four bits of a Multipath TCP option say (RFC 8684 section 8).
const (
	multipathCapable = 0
	multipathJoin    = 1
)

// extended looks at the options of a packet that may tell of extensions.
func (f *flow) extended(p *pcap.Packet, h *pcap.Header, dir int) {
	if h.Options.FastOpen && h.Flags&pcap.SYN != 0 {
		if cookie := h.FastOpenCookie(p); len(cookie) > 0 {
			f.extend().cookie = hex.EncodeToString(cookie)
		}
	}
	if h.Options.MPTCP && (h.Flags&pcap.SYN != 0 || f.extensions != nil && f.extensions.lacks()) {
		if option := h.Multipath(p); len(option) >= 2 {
			f.extend().read(option, h, dir)
		}
	}
}

func (f *flow) extend() *extensions {
	if f.extensions == nil {
		f.extensions = new(extensions)
	}
	return f.extensions
}

// lacks reports whether the client's key is still to come: since version 1 it is first told in the packet that ends the
// handshake.
func (e *extensions) lacks() bool { return e.multipath && !e.joins && !e.known[ClientToServer] }

// read takes an option into account: MP_CAPABLE carries the key of its sender, then that of the receiver (RFC 8684 section
// 3.1); the MP_JOIN of a SYN has the receiver's token (section 3.2).
func (e *extensions) read(option []byte, h *pcap.Header, dir int) {
	switch option[0] >> 4 {
	case multipathCapable:
		e.multipath, e.version = true, option[0]&15
		for i, end := range [2]int{dir, 1 - dir} {
			if at := 2 + 8*i; len(option) >= at+8 {
				e.keys[end], e.known[end] = binary.BigEndian.Uint64(option[at:]), true
			}
		}
	case multipathJoin:
		e.multipath, e.joins = true, true
		if h.Flags&pcap.ACK == 0 && len(option) >= 6 {
			e.token = binary.BigEndian.Uint32(option[2:])
		}
	}
}

// Multipath is what a connection of Multipath TCP tells of the whole that it is part of.
type Multipath struct {
	Joins  bool      `json:"joins"`              // a further subflow; else the one that the whole began with
	Tokens [2]uint32 `json:"tokens"`             // by which subflows join at client and server, 0 where the key was not captured
	Token  uint32    `json:"token,omitempty"`    // by which this one joins
	Of     int64     `json:"of,omitempty"`       // the connection that it joins, 0 if that is not known
	Others []int64   `json:"subflows,omitempty"` // connections that join this one
}

func (e *extensions) summary() *Multipath {
	if e == nil || !e.multipath {
		return nil
	}
	m := &Multipath{Joins: e.joins, Token: e.token}
	for i, key := range e.keys {
		if e.known[i] {
			m.Tokens[i] = token(e.version, key)
		}
	}
	return m
}

// token names a connection by the key of one end: the first 32 bits of its SHA-256, of its SHA-1 in version 0 (RFC 8684
// section 3.2, RFC 6824 section 3.2).
func token(version uint8, key uint64) uint32 {
	b := binary.BigEndian.AppendUint64(nil, key)
	if version == 0 {
		sum := sha1.Sum(b)
		return binary.BigEndian.Uint32(sum[:])
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint32(sum[:])
}

// joinSubflows finds the connections that subflows join, among those before them.
func joinSubflows(list []Connection) {
	byToken := map[uint32]*Connection{}
	for i := range list {
		c := &list[i]
		m := c.Handshake.Multipath
		switch {
		case m == nil:
		case !m.Joins:
			for _, token := range m.Tokens {
				if token != 0 {
					byToken[token] = c
				}
			}
		case m.Token != 0:
			if first := byToken[m.Token]; first != nil {
				m.Of = first.Number
				first.Handshake.Multipath.Others = append(first.Handshake.Multipath.Others, c.Number)
			}
		}
	}
}

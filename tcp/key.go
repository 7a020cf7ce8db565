package tcp

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"

	"nettrace/pcap"
)

// key names a connection by its two ends, the smaller one first, so that both directions have the same key. VLAN tags
// are left out on purpose: hardware strips them from one direction only.
type key struct {
	low, high [2]uint64 // address as a big-endian number; an IPv4 address is followed by its port
	ports     uint32    // of IPv6: low's port, then high's
	tunnel    uint32    // keeps equal addresses in different tunnels apart
	network   uint64    // a pcap.Network
}

// set makes k the packet's key and reports whether its source is the high end. It fills k in place, word by word, since
// copies of what was just written would wait for it, and without a branch on the direction, which no processor foresees.
func (k *key) set(h *pcap.Header) (fromHigh bool) {
	k.tunnel, k.network = h.Tunnel, uint64(h.Network)
	if h.Network == pcap.IPv4 {
		src := uint64(binary.BigEndian.Uint32(h.Src[:4]))<<32 | uint64(h.SrcPort)
		dst := uint64(binary.BigEndian.Uint32(h.Dst[:4]))<<32 | uint64(h.DstPort)
		k.low[0], k.low[1], k.high[0], k.high[1], k.ports = min(src, dst), 0, max(src, dst), 0, 0
		return src > dst
	}
	return k.set6(h)
}

func (k *key) set6(h *pcap.Header) (fromHigh bool) {
	src, dst := words(&h.Src), words(&h.Dst)
	switch {
	case src[0] != dst[0]:
		fromHigh = src[0] > dst[0]
	case src[1] != dst[1]:
		fromHigh = src[1] > dst[1]
	default:
		fromHigh = h.SrcPort > h.DstPort
	}
	if fromHigh {
		k.low, k.high, k.ports = dst, src, uint32(h.DstPort)<<16|uint32(h.SrcPort)
	} else {
		k.low, k.high, k.ports = src, dst, uint32(h.SrcPort)<<16|uint32(h.DstPort)
	}
	return fromHigh
}

func words(a *[16]byte) [2]uint64 {
	return [2]uint64{binary.BigEndian.Uint64(a[:8]), binary.BigEndian.Uint64(a[8:])}
}

// is reports whether two keys are equal, without a call for each comparison.
func (k *key) is(other *key) bool {
	return k.low[0] == other.low[0] && k.high[0] == other.high[0] && k.ports == other.ports && k.low[1] == other.low[1] && k.high[1] == other.high[1] &&
		k.tunnel == other.tunnel && k.network == other.network
}

// ends returns the low and the high end.
func (k *key) ends() (low, high netip.AddrPort) {
	return k.endpoint(&k.low, uint16(k.ports>>16)), k.endpoint(&k.high, uint16(k.ports))
}

func (k *key) endpoint(a *[2]uint64, port uint16) netip.AddrPort {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], a[0])
	binary.BigEndian.PutUint64(b[8:], a[1])
	if pcap.Network(k.network) == pcap.IPv4 {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[:4])), uint16(a[0]))
	}
	return netip.AddrPortFrom(netip.AddrFrom16(b), port)
}

// table finds live connections by key: open addressing with linear probing, at most 3/4 full. The hash is seeded for
// each table, so that no capture can be made to collide; nothing that is shown depends on the order in it.
type table struct {
	seed  uint64
	slots []slot
	used  int
}

type slot struct {
	hash uint32
	conn *conn
}

func newTable() table {
	return table{seed: maphash.String(maphash.MakeSeed(), ""), slots: make([]slot, 1024)}
}

func (t *table) hash(k *key) uint32 {
	x := mix(k.low[0]^t.seed, k.high[0])
	x = mix(x^k.low[1], k.high[1]^t.seed)
	x = mix(x^uint64(k.ports)<<32^uint64(k.tunnel), k.network^t.seed)
	return uint32(x ^ x>>32)
}

func (t *table) find(k *key, hash uint32) *conn {
	mask := len(t.slots) - 1
	for i := int(hash) & mask; t.slots[i].conn != nil; i = (i + 1) & mask {
		if t.slots[i].hash == hash && t.slots[i].conn.key.is(k) {
			return t.slots[i].conn
		}
	}
	return nil
}

func (t *table) insert(c *conn, hash uint32) {
	if (t.used+1)*4 > len(t.slots)*3 {
		t.grow()
	}
	t.place(slot{hash, c})
	t.used++
}

func (t *table) place(s slot) {
	mask := len(t.slots) - 1
	i := int(s.hash) & mask
	for t.slots[i].conn != nil {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.conn != nil {
			t.place(s)
		}
	}
}

// remove takes c out and closes the gap, so that no probe sequence is broken.
func (t *table) remove(c *conn) {
	mask := len(t.slots) - 1
	i := int(t.hash(&c.key)) & mask
	for t.slots[i].conn != c {
		i = (i + 1) & mask
	}
	t.used--
	for next := (i + 1) & mask; t.slots[next].conn != nil; next = (next + 1) & mask {
		if home := int(t.slots[next].hash) & mask; (next-home)&mask >= (next-i)&mask {
			t.slots[i] = t.slots[next]
			i = next
		}
	}
	t.slots[i] = slot{}
}

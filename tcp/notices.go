package tcp

import (
	"cmp"
	"net/netip"
	"slices"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/unit"
)

// Notice sums the ICMP errors of one kind about the packets of one flow. Routers and hosts limit how many they send
// (RFC 1812 section 4.3.2.8), so that the count says little of how many packets they are about.
type Notice struct {
	Kind           string         `json:"kind"`      // packet-too-big, port-unreachable, host-unreachable, net-unreachable, prohibited, hops-exceeded, ...
	Transport      string         `json:"transport"` // of the packets: tcp, udp, other
	From           netip.Addr     `json:"from"`      // who says so
	Src            netip.AddrPort `json:"src"`       // of the packets
	Dst            netip.AddrPort `json:"dst"`
	Count          int64          `json:"count"`
	MTU            int            `json:"mtu,omitempty"`    // the smallest that was told
	LargestIPBytes int            `json:"largest_ip_bytes"` // of the packets quoted, by their headers
	Record         int64          `json:"record"`           // of the first
	Offset         int64          `json:"offset"`
	First          unit.Nanos     `json:"first_ns"`
	Last           unit.Nanos     `json:"last_ns"`
}

// noticeKey is what notices are summed by.
type noticeKey struct {
	kind     string
	from     netip.Addr
	src, dst netip.AddrPort
}

func (n *Notice) key() noticeKey { return noticeKey{n.Kind, n.From, n.Src, n.Dst} }

// add adds notices of the same key.
func (n *Notice) add(b *Notice) {
	n.Count += b.Count
	if n.MTU == 0 || b.MTU != 0 && b.MTU < n.MTU {
		n.MTU = b.MTU
	}
	n.LargestIPBytes = max(n.LargestIPBytes, b.LargestIPBytes)
	n.First, n.Last = min(n.First, b.First), max(n.Last, b.Last)
	if b.Record < n.Record {
		n.Record, n.Offset = b.Record, b.Offset
	}
}

// maxNotices bounds how many are kept apart.
const maxNotices = 4096

// notices gathers them.
type notices map[noticeKey]*Notice

var transportNames = [...]string{pcap.TCP: "tcp", pcap.UDP: "udp", pcap.OtherTransport: "other"}

// take takes an ICMP packet into account. It reports false if there was no room.
func (all *notices) take(p *pcap.Packet, h *pcap.Header, now unit.Nanos) bool {
	q, ok := h.Quoted(p)
	if !ok {
		return true
	}
	n := Notice{
		Kind: q.Kind, Transport: transportNames[q.Transport], From: h.Source().Addr(), Src: q.Src, Dst: q.Dst, Count: 1, MTU: q.MTU, LargestIPBytes: q.IPLen,
		Record: p.Record, Offset: p.Offset, First: now, Last: now,
	}
	return all.sum(&n)
}

func (all *notices) sum(n *Notice) bool {
	if have := (*all)[n.key()]; have != nil {
		have.add(n)
		return true
	}
	if len(*all) >= maxNotices {
		return false
	}
	if *all == nil {
		*all = notices{}
	}
	kept := *n
	(*all)[n.key()] = &kept
	return true
}

// list returns them in the order of their first packets.
func (all notices) list() []Notice {
	list := make([]Notice, 0, len(all))
	for _, n := range all {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(a, b Notice) int { return cmp.Compare(a.Record, b.Record) })
	return list
}

// noticed takes an ICMP packet into account.
func (t *Tracker) noticed(p *pcap.Packet, h *pcap.Header, now unit.Nanos) {
	if !t.notices.take(p, h, now) {
		t.ledger.Add("notice-not-kept", source.Note, t.at(p.Record, p.Offset), 1,
			"more flows with ICMP errors than are kept apart: rules do not judge the further ones")
	}
}

// about returns the notices of some kinds about packets between two ends, whichever way these went.
func (c *Capture) about(a, b netip.AddrPort, kinds ...string) []*Notice {
	var list []*Notice
	for i := range c.Notices {
		n := &c.Notices[i]
		same := n.Src == a && n.Dst == b || n.Src == b && n.Dst == a
		if same && slices.Contains(kinds, n.Kind) {
			list = append(list, n)
		}
	}
	return list
}

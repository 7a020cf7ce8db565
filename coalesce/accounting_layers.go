package coalesce

import (
	"fmt"
	"strings"

	"nettrace/unit"
)

// The layers of a host and their counters (Linux net/ipv4/proc.c, Documentation/networking/snmp_counter.rst). TcpOutSegs
// counts segments without retransmissions, IpOutRequests the packets that offloads leave to be cut later. TcpInSegs and
// IpInReceives count once what receive offload merged, the counters by ECN mark (IpExtInNoECTPkts and so on) count its
// segments: they tell merging from loss.

func sentNames() []string {
	return []string{"TcpOutSegs", "TcpRetransSegs", "UdpOutDatagrams", "UdpLiteOutDatagrams", "Udp6OutDatagrams", "IcmpOutMsgs", "Icmp6OutMsgs"}
}

func arrivedNames() []string {
	var names []string
	for _, ip := range []string{"IpExt", "Ip6"} {
		for _, mark := range []string{"InNoECTPkts", "InECT0Pkts", "InECT1Pkts", "InCEPkts"} {
			names = append(names, ip+mark)
		}
	}
	return names
}

func ipLosses() []string {
	return []string{"IpInHdrErrors", "IpInAddrErrors", "IpInUnknownProtos", "IpInDiscards", "IpExtInTruncatedPkts", "IpExtInNoRoutes", "IpReasmFails",
		"Ip6InHdrErrors", "Ip6InDiscards", "Ip6InTruncatedPkts"}
}

func transportLosses() []string {
	return []string{"TcpInErrs", "UdpNoPorts", "UdpInCsumErrors", "Udp6NoPorts", "Udp6InCsumErrors"}
}

// socketLosses are counters of packets for which a socket had no room.
func socketLosses() []string {
	return []string{"UdpRcvbufErrors", "Udp6RcvbufErrors", "UdpLiteRcvbufErrors", "UdpMemErrors", "Udp6MemErrors", "TcpExtTCPBacklogDrop", "TcpExtTCPRcvQDrop", "TcpExtRcvPruned", "TcpExtTCPZeroWindowDrop"}
}

func (a *Accounting) layer(h *Host, name, unit string, terms, losses []Term) *Layer {
	a.Layers = append(a.Layers, Layer{Name: name, Host: h.Name, Unit: unit, Packets: total(terms), Terms: terms, Losses: losses})
	return &a.Layers[len(a.Layers)-1]
}

// send adds the sender's layers.
func (a *Accounting) send(h *Host, i *Interface) {
	a.Sent = a.layer(h, "tcp and udp out", "segments", h.terms(sentNames()...), h.terms("UdpSndbufErrors", "Udp6SndbufErrors")).Packets
	ip := a.layer(h, "ip out", "packets", h.terms("IpOutRequests", "Ip6OutRequests"), h.terms("IpOutDiscards", "IpOutNoRoutes", "Ip6OutDiscards", "Ip6OutNoRoutes"))
	if a.Sent > ip.Packets && ip.Packets > 0 {
		ip.Merged = a.Sent - ip.Packets
	}
	if udp := total(h.terms("UdpOutDatagrams", "Udp6OutDatagrams")); 20*udp > a.Sent {
		a.udp = true
	}
	if i == nil {
		return
	}
	for _, s := range i.Counters {
		for k := range s.Counters {
			if c := &s.Counters[k]; s.Tool == "tc-qdisc" && strings.HasSuffix(c.Name, " dropped") && c.Delta > 0 {
				a.layer(h, "qdisc", "packets", []Term{}, []Term{term(c)})
			}
		}
	}
	dropped := i.terms("tx_dropped", "tx_errors")
	if i.veth() {
		dropped = i.terms("tx_dropped")
		a.layer(h, "interface out", "frames", append(i.terms("tx_packets"), dropped...), nil)
		a.layer(h, "ring", "frames", i.terms("tx_packets"), dropped)
		return
	}
	a.layer(h, "interface out", "frames", i.terms("tx_packets"), dropped)
}

// veth reports whether the interface is one end of a pair within the machine: what it drops in sending found no room in
// the other end's ring of 256 packets (drivers/net/veth.c).
func (i *Interface) veth() bool {
	if i == nil {
		return false
	}
	if i.Driver != nil {
		return i.Driver.Name == "veth"
	}
	for _, s := range i.Counters {
		if s.Tool == "ethtool-S" && len(s.Counters) > 0 && s.Counters[0].Name == "peer_ifindex" {
			return true
		}
	}
	return false
}

// receive adds the receiver's layers.
func (a *Accounting) receive(h *Host, i *Interface) {
	if i != nil {
		var losses []Term
		for _, l := range i.Losses() {
			if l.Place.AtReceiver() {
				losses = append(losses, Term{Name: l.Name, Delta: l.Delta, Pos: l.Pos})
			}
		}
		a.layer(h, "interface in", "frames", i.terms("rx_packets"), losses)
	}
	a.softnet(h)
	ip := a.layer(h, "ip in", "packets", h.terms("IpInReceives", "Ip6InReceives"), h.terms(ipLosses()...))
	if a.Arrived = total(h.terms(arrivedNames()...)); a.Arrived > ip.Packets {
		ip.Merged = a.Arrived - ip.Packets
	}
	a.layer(h, "tcp and udp in", "packets", append(h.terms("TcpInSegs", "IcmpInMsgs", "Icmp6InMsgs"), h.terms(udpIn()...)...), h.terms(transportLosses()...))
	a.layer(h, "socket", "packets", h.terms("TcpInSegs", "UdpInDatagrams", "Udp6InDatagrams"), h.terms(socketLosses()...))
}

func udpIn() []string {
	return []string{"UdpInDatagrams", "UdpInErrors", "UdpNoPorts", "Udp6InDatagrams", "Udp6InErrors", "Udp6NoPorts"}
}

// softnet adds the backlog of the CPUs, which counts for all interfaces and namespaces of the machine together.
func (a *Accounting) softnet(h *Host) {
	for _, s := range h.tables("proc-softnet_stat") {
		var terms, losses []Term
		for _, r := range s.Rows {
			t := Term{Name: r.Key, Delta: r.Delta, Pos: r.Last.Pos}
			switch {
			case r.Key == "processed":
				terms = append(terms, t)
			case r.Key == "dropped" && r.Delta > 0:
				losses = append(losses, t)
			}
		}
		if len(s.Snapshots) > 1 {
			a.layer(h, "softnet", "packets", terms, losses)
			return
		}
	}
}

// balanceWay compares what was sent with what arrived: by segments and by frames.
func (a *Accounting) balanceWay(sender, receiver *Host, from, to *Interface) {
	var ring []Term
	if from.veth() {
		ring = from.terms("tx_dropped")
	}
	if arrived := receiver.terms(arrivedNames()...); len(arrived) > 0 {
		a.balance("segments", append(sender.terms(sentNames()...), minus(ring)...), arrived, "lost where no counter tells, or sent to other hosts, or merged before they were lost")
	}
	if from != nil && to != nil {
		a.balance("frames", from.terms("tx_packets"), to.terms("rx_packets"), "lost on the wire or in a switch, or of other hosts, or cut and merged by offloads")
	}
}

func (a *Accounting) balance(name string, left, right []Term, note string) {
	b := Balance{Name: name, Left: left, Right: right, Difference: int64(total(left) - total(right))}
	if b.Difference != 0 {
		b.Note = note
	}
	a.Balances = append(a.Balances, b)
}

// balanceQueues compares the interface's count with the sum of its queues.
func (a *Accounting) balanceQueues(i *Interface) {
	if i == nil {
		return
	}
	var queues []Term
	for _, q := range i.QueueLoad() {
		if q.Packets > 0 {
			queues = append(queues, Term{Name: q.Name, Delta: q.Packets, Pos: q.Pos})
		}
	}
	if len(queues) > 0 {
		a.balance("queues", i.terms("rx_packets"), queues, "counters are not read at one instant: a few packets may differ")
	}
}

func (a *Accounting) balanceDelivery(h *Host) {
	delivered := h.terms("IpInDelivers", "Ip6InDelivers")
	if len(delivered) == 0 {
		return
	}
	a.balance("delivery", delivered, append(h.terms("TcpInSegs", "IcmpInMsgs", "Icmp6InMsgs"), h.terms(udpIn()...)...), "datagrams in sockets that were not read, or were closed before; other protocols")
}

// conclude sums up the losses and says what came out.
func (a *Accounting) conclude(sender *Host) {
	most, onTheWay, where := uint64(0), uint64(0), ""
	for k, l := range a.Layers {
		lost := total(l.Losses)
		a.Lost += lost
		if l.Name != "socket" && l.Name != "tcp and udp in" && l.Name != "tcp and udp out" {
			onTheWay += lost
		}
		if lost > most {
			most, where = lost, l.Losses[0].Name
			a.LostAt = a.Layers[k].Name
		}
	}
	if sender != nil {
		a.Retransmitted = total(sender.terms("TcpRetransSegs"))
		if !a.udp {
			a.Needless = a.Retransmitted - min(a.Retransmitted, onTheWay)
		}
	}
	var parts []string
	switch {
	case a.Lost > 0:
		parts = append(parts, fmt.Sprintf("%s packets were lost, %s of them at the layer %q (%s)", count(a.Lost), count(most), a.LostAt, where))
	case a.missing() > 0:
		parts = append(parts, fmt.Sprintf("%s of %s segments did not arrive, and no counter tells where they were lost", count(uint64(a.missing())), count(a.Sent)))
	default:
		parts = append(parts, "nothing was lost")
	}
	if a.Needless > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s retransmissions were needless: reordering or late acknowledgements, not loss", count(a.Needless), count(a.Retransmitted)))
	}
	for _, l := range a.Layers {
		if l.Merged > l.Packets {
			parts = append(parts, fmt.Sprintf("%s: offload made %s packets of %s segments, which is no loss", l.Name, count(l.Packets), count(l.Packets+l.Merged)))
		}
	}
	a.Text = strings.Join(parts, "; ")
}

// missing returns how many segments are missing at the receiver, as far as that is counted.
func (a *Accounting) missing() int64 {
	for _, b := range a.Balances {
		if b.Name == "segments" {
			return b.Difference
		}
	}
	return 0
}

func count(n uint64) string { return unit.Count(int64(n & (1<<63 - 1))) }

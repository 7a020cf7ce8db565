package coalesce

import (
	"cmp"
	"slices"
	"strings"

	"nettrace/source"
)

// Where packets went between the socket of one host and that of another: each layer counts for itself, and what one
// passed on and the next did not see was merged or lost.

// Accounting follows the packets of one direction through the layers of the sender and of the receiver.
type Accounting struct {
	Sender        string    `json:"sender"` // host and interface, "" if only the receiver was recorded
	Receiver      string    `json:"receiver"`
	Layers        []Layer   `json:"layers"`        // from the sender's socket to the receiver's
	Balances      []Balance `json:"balances"`      // what has to be equal
	Lost          uint64    `json:"lost"`          // packets that the layers say they lost
	LostAt        string    `json:"lost_at"`       // the layer that lost most, "" if none did
	Retransmitted uint64    `json:"retransmitted"` // TCP segments
	Needless      uint64    `json:"needless"`      // retransmissions beyond what was lost on the way
	Sent          uint64    `json:"sent"`          // segments and datagrams
	Arrived       uint64    `json:"arrived"`       // of them, at the receiver's IP; 0 where the kernel does not count them
	Text          string    `json:"text"`          // the outcome in a sentence
	udp           bool      // a good part of the packets are not TCP
}

// Layer is what one layer passed on, and what it lost.
type Layer struct {
	Name    string `json:"name"` // "tcp and udp out", "ring", "ip in", "socket"
	Host    string `json:"host"`
	Unit    string `json:"unit"`    // segments, packets (of IP, which offloads make larger), frames (of the interface)
	Packets uint64 `json:"packets"` // that it passed on
	Merged  uint64 `json:"merged"`  // segments that went on as part of a larger packet, by TSO or GRO: not lost
	Terms   []Term `json:"terms"`   // whose sum is Packets
	Losses  []Term `json:"losses"`
}

// Term is the change of a counter.
type Term struct {
	Name  string     `json:"name"`
	Delta uint64     `json:"delta"`
	Minus bool       `json:"minus,omitempty"`
	Pos   source.Pos `json:"pos"`
}

// Balance is two counts of the same packets.
type Balance struct {
	Name       string `json:"name"`
	Left       []Term `json:"left"`
	Right      []Term `json:"right"`
	Difference int64  `json:"difference"` // left less right; 0 if the balance closes
	Note       string `json:"note"`       // what a difference can be
}

// Account follows the packets from one host to the other. A nil sender leaves its layers out.
func Account(sender, receiver *Host) *Accounting {
	a := &Accounting{Layers: []Layer{}, Balances: []Balance{}}
	var from, to *Interface
	if sender != nil {
		from = sender.busiestInterface("tx_packets")
		a.Sender = endName(sender, from)
		a.send(sender, from)
	}
	to = receiver.busiestInterface("rx_packets")
	a.Receiver = endName(receiver, to)
	a.receive(receiver, to)
	if sender != nil {
		a.balanceWay(sender, receiver, from, to)
	}
	a.balanceQueues(to)
	a.balanceDelivery(receiver)
	a.conclude(sender)
	return a
}

// Accounts pairs the hosts that were recorded together and follows both directions between them, the larger first.
func Accounts(hosts []*Host) []*Accounting {
	var all []*Accounting
	for _, h := range hosts {
		peer := h.peerAmong(hosts)
		if peer == nil || len(h.Protocols) == 0 || len(peer.Protocols) == 0 {
			continue
		}
		pair := []*Accounting{Account(peer, h), Account(h, peer)}
		slices.SortStableFunc(pair, func(a, b *Accounting) int { return cmp.Compare(b.Sent, a.Sent) })
		all = append(all, pair...)
	}
	return all
}

// peerAmong returns the other host of h: the one that tags call its peer or, of two hosts in all, the other.
func (h *Host) peerAmong(hosts []*Host) *Host {
	if h.Peer {
		return nil
	}
	for _, x := range hosts {
		if x.Peer && x.Name == strings.TrimSpace(h.Name+" peer") {
			return x
		}
	}
	if len(hosts) == 2 && hosts[0] == h && !hosts[1].Peer {
		return hosts[1]
	}
	return nil
}

func endName(h *Host, i *Interface) string {
	if i == nil {
		return h.Name
	}
	return strings.TrimSpace(h.Name + " " + i.Name)
}

// busiestInterface returns the interface with most of a counter, loopback aside, or nil if none has any.
func (h *Host) busiestInterface(name string) (busiest *Interface) {
	most := uint64(0)
	for _, i := range h.Interfaces {
		if c := i.kernelCounter(name); c != nil && i.Name != "lo" && c.Delta > most {
			busiest, most = i, c.Delta
		}
	}
	return busiest
}

// kernelCounter returns the kernel's own counter of an interface over several snapshots, by its name in sysfs, or nil.
func (i *Interface) kernelCounter(name string) *Counter {
	if i == nil {
		return nil
	}
	for _, s := range i.Counters {
		want := name
		switch s.Tool {
		case "proc-net-dev":
			want = strings.Replace(name, "dropped", "drop", 1)
		case "ip-s-link", "netstat-i":
		default:
			continue
		}
		k := slices.IndexFunc(s.Counters, func(c Counter) bool { return c.Name == want })
		if k >= 0 && len(s.Snapshots) > 1 {
			return &s.Counters[k]
		}
	}
	return nil
}

// terms returns those of the counters that the host has and that moved.
func (h *Host) terms(names ...string) []Term {
	terms := []Term{}
	for _, name := range names {
		if c := h.Protocol(name); c != nil && c.Delta > 0 {
			terms = append(terms, term(c))
		}
	}
	return terms
}

func term(c *Counter) Term { return Term{Name: c.Name, Delta: c.Delta, Pos: c.Last.Pos} }

func (i *Interface) terms(names ...string) []Term {
	terms := []Term{}
	for _, name := range names {
		if c := i.kernelCounter(name); c != nil && c.Delta > 0 {
			terms = append(terms, term(c))
		}
	}
	return terms
}

func total(terms []Term) (sum uint64) {
	for _, t := range terms {
		if !t.Minus {
			sum += t.Delta
		}
	}
	for _, t := range terms {
		if t.Minus {
			sum -= min(sum, t.Delta)
		}
	}
	return sum
}

func minus(terms []Term) []Term {
	negative := slices.Clone(terms)
	for k := range negative {
		negative[k].Minus = true
	}
	return negative
}

package tcp

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"net/netip"
	"slices"

	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// trial is one server of a capture before a rule.
type trial struct {
	*Server
	capture *Capture
	params  finding.Params
	own     []*Connection // those of the server that were kept
}

// connections returns the connections of the server that were kept.
func (s *trial) connections() []*Connection { return s.own }

// perServer judges every server of a capture. minds is what could fake the findings.
func perServer(minds doubt, judge func(*trial) (finding.Finding, bool)) func(*Capture, finding.Params) []finding.Finding {
	return func(c *Capture, p finding.Params) []finding.Finding {
		return judgeAll(c, p, c.Servers, func(e netip.AddrPort) netip.AddrPort { return e }, minds, judge)
	}
}

// judgeAll judges servers, whose connections are those with the same group.
func judgeAll(c *Capture, p finding.Params, servers []Server, group func(netip.AddrPort) netip.AddrPort, minds doubt, judge func(*trial) (finding.Finding, bool)) []finding.Finding {
	kept := map[netip.AddrPort][]*Connection{}
	for i := range c.Connections {
		k := &c.Connections[i]
		kept[group(k.Server)] = append(kept[group(k.Server)], k)
	}
	var found []finding.Finding
	for i := range servers {
		t := trial{&servers[i], c, p, kept[group(servers[i].Endpoint)]}
		f, ok := judge(&t)
		if !ok {
			continue
		}
		f.Source = c.Source
		f.Subject = t.subject()
		f.Start, f.End = t.Start, t.End
		f.Caveats = append(f.Caveats, t.caveats(minds)...)
		slices.SortStableFunc(f.Evidence, func(a, b finding.Evidence) int { return cmp.Compare(a.Record, b.Record) })
		c.locate(f.Evidence)
		found = append(found, f)
	}
	return found
}

func (s *Server) subject() finding.Subject {
	if s.Connections == 1 {
		return finding.Subject{Kind: "connection", Key: s.Key(), Name: s.Client.String() + " > " + s.Endpoint.String()}
	}
	to := s.Endpoint.String()
	if s.Endpoint.Port() == 0 { // several of the address
		to = s.Endpoint.Addr().String()
	}
	return finding.Subject{Kind: "server", Key: s.Key(), Name: fmt.Sprintf("%d connections to %s", s.Connections, to)}
}

// order says how well the order of sending is known on the connections whose packets were resent or late.
func (s *trial) order() (finding.Level, []string) {
	unknown := int64(0)
	for _, k := range s.connections() {
		for i := range k.Directions {
			d := &k.Directions[i]
			if d.RetransmittedPackets+d.ReorderedPackets > 0 && !d.IDsInOrder && !k.Handshake.Timestamps {
				unknown++
			}
		}
	}
	if s.missed() > 0 {
		return finding.Medium, []string{"the capture itself lacks packets"}
	}
	if unknown > 0 {
		return finding.Medium, []string{fmt.Sprintf("on %s neither IP identifications nor timestamps tell the order of sending: repeated data is certain, what fills a hole is told by the hole's age", count(unknown, "connection"))}
	}
	return finding.High, []string{"sequence numbers, and IP identifications or timestamps, tell the order of sending"}
}

// missed returns how many bytes the capture lacks.
func (s *trial) missed() int64 { return s.Directions[0].MissedBytes + s.Directions[1].MissedBytes }

// ways names the directions for people.
var ways = [2]string{"client to server", "server to client"}

// senders names who sends in a direction.
var senders = [2]string{"client", "server"}

// evidence returns a handful of examples of some kinds: the first, the worst, and those with the smallest hashes, so that
// the choice does not depend on the order of summing. text explains one.
func (s *trial) evidence(dir int, text func(*Connection, *Event) string, of ...kind) []finding.Evidence {
	const handful = 5
	type example struct {
		*Connection
		*Event
		hash uint64
	}
	var all []example
	for _, k := range s.connections() {
		for i := range k.Events {
			e := &k.Events[i]
			if e.Direction == dir && slices.ContainsFunc(of, func(k kind) bool { return kindNames[k] == e.Kind }) {
				h := fnv.New64a()
				fmt.Fprintf(h, "%s %s %d", e.Kind, s.Key(), e.Record)
				all = append(all, example{k, e, h.Sum64()})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	byRecord := func(a, b example) int { return cmp.Compare(a.Event.Record, b.Event.Record) }
	slices.SortFunc(all, byRecord)
	worst := slices.MaxFunc(all, func(a, b example) int { return cmp.Compare(a.Value, b.Value) })
	slices.SortStableFunc(all[1:], func(a, b example) int {
		if aWorst, bWorst := a.Event == worst.Event, b.Event == worst.Event; aWorst != bWorst {
			if aWorst {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.hash, b.hash)
	})
	all = all[:min(len(all), handful)]
	slices.SortFunc(all, byRecord)
	var list []finding.Evidence
	for _, e := range all {
		said := s.capture.explain(e.Connection, e.Event, text)
		if s.Connections > 1 {
			said = e.Connection.Name() + ": " + said
		}
		list = append(list, finding.At(source.Pos{Source: s.capture.Source, Offset: e.Event.Offset, Record: e.Event.Record}, "%s", said))
	}
	return list
}

// show is the advice to look at the packets in Wireshark, by a display filter on the server's endpoint.
func (s *Server) show(filter string) finding.Advice {
	port := fmt.Sprintf(" && tcp.port == %d", s.Endpoint.Port())
	if s.Endpoint.Port() == 0 {
		port = ""
	}
	family := "ip"
	if a := s.Endpoint.Addr(); a.Is6() && !a.Is4In6() {
		family = "ipv6"
	}
	return finding.Advice{
		Text:      fmt.Sprintf("to see them in Wireshark: %s.addr == %s%s && (%s)", family, s.Endpoint.Addr(), port, filter),
		Reference: "wireshark-filter(4)",
	}
}

// count prints a number with its noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return unit.Count(n) + " " + noun + "s"
}

// share returns a/b, 0 if b is 0.
func share[A, B int64 | unit.Nanos](a A, b B) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// surprise bounds the natural logarithm of the probability that of n trials, each of which succeeds with probability p,
// at least k do (Chernoff's bound with the Kullback-Leibler divergence).
func surprise(n, k int64, p float64) float64 {
	q := share(k, n)
	if n == 0 || q <= p {
		return 0
	}
	divergence := q * math.Log(q/p)
	if q < 1 {
		divergence += (1 - q) * math.Log((1-q)/(1-p))
	}
	return -float64(n) * divergence
}

package tcp

import (
	"cmp"
	"net/netip"
	"slices"

	"nettrace/finding"
	"nettrace/source"
)

// examples returns a handful of the connections that of picks, as evidence: the first, and those with the smallest hashes.
// of says where to look and what is there; "" stands for nothing.
func (s *trial) examples(of func(*Connection) (pos source.Pos, text string)) []finding.Evidence {
	const handful = 5
	type example struct {
		finding.Evidence
		hash uint64
	}
	var all []example
	for _, k := range s.connections() {
		pos, text := of(k)
		if text == "" {
			continue
		}
		pos.Source = s.capture.Source
		if s.Connections > 1 {
			text = k.Name() + ": " + text
		}
		all = append(all, example{finding.At(pos, "%s", text), mix(uint64(pos.Record), uint64(k.Client.Port()))})
	}
	byRecord := func(a, b example) int { return cmp.Compare(a.Record, b.Record) }
	slices.SortFunc(all, byRecord)
	if len(all) > handful {
		slices.SortStableFunc(all[1:], func(a, b example) int { return cmp.Compare(a.hash, b.hash) })
		all = all[:handful]
		slices.SortFunc(all, byRecord)
	}
	var list []finding.Evidence
	for _, e := range all {
		list = append(list, e.Evidence)
	}
	return list
}

// first is the place of a connection's first packet.
func (c *Connection) first() source.Pos { return source.Pos{Offset: c.Offset, Record: c.Record} }

// perHost judges the servers of one address together, so that a scan of its ports is one finding.
func perHost(minds doubt, judge func(*trial) (finding.Finding, bool)) func(*Capture, finding.Params) []finding.Finding {
	return func(c *Capture, p finding.Params) []finding.Finding {
		var hosts []Server
		for i := range c.Servers { // in the order of their endpoints
			server := &c.Servers[i]
			if n := len(hosts); n > 0 && hosts[n-1].Endpoint.Addr() == server.Endpoint.Addr() {
				hosts[n-1].join(server)
			} else {
				hosts = append(hosts, *server)
			}
		}
		return judgeAll(c, p, hosts, func(e netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(e.Addr(), 0) }, minds, judge)
	}
}

// join adds what opened and closed at another port of the same address; the port of the sum is 0.
func (s *Server) join(b *Server) {
	s.Endpoint = netip.AddrPortFrom(s.Endpoint.Addr(), 0)
	s.Connections += b.Connections
	s.Openings.add(&b.Openings)
	s.Start, s.End = min(s.Start, b.Start), max(s.End, b.End)
}

package tcp

import (
	"net/netip"
	"slices"

	"nettrace/unit"
)

// Server sums the connections to one endpoint: what rules judge, so that no connection is missing from a finding because
// its summary was not kept.
type Server struct {
	Endpoint     netip.AddrPort `json:"endpoint"`
	Connections  int64          `json:"connections"`
	First        int64          `json:"first"`  // number of the first connection
	Client       netip.AddrPort `json:"client"` // of that
	Start        unit.Nanos     `json:"start_ns"`
	End          unit.Nanos     `json:"end_ns"`
	Exchanges    int64          `json:"exchanges"`
	Openings     Openings       `json:"openings,omitzero"`
	ExchangeTime unit.Nanos     `json:"exchange_time_ns"`
	MSS          [2]int         `json:"effective_mss"` // the smallest by direction, 0 if there was no data
	Directions   [2]Activity    `json:"directions"`
}

// Key names the server in a way that is stable from run to run.
func (s *Server) Key() string { return serverKey(s.Endpoint) }

type servers map[netip.AddrPort]*Server

func newServers() servers { return servers{} }

// add enters a connection.
func (s servers) add(c *conn, client, server netip.AddrPort, did *[2]Activity, opening *Openings) {
	sum := s[server]
	if sum == nil {
		sum = &Server{Endpoint: server, First: c.number, Client: client, Start: c.start, End: c.last}
		s[server] = sum
	}
	if c.number < sum.First {
		sum.First, sum.Client = c.number, client
	}
	sum.Connections++
	sum.Openings.add(opening)
	sum.Start, sum.End = min(sum.Start, c.start), max(sum.End, c.last)
	if e := c.exchanges; e != nil {
		sum.Exchanges += int64(e.count)
		sum.ExchangeTime += e.total
	}
	for i := range did {
		sum.Directions[i].add(&did[i])
		sum.MSS[i] = smallest(sum.MSS[i], int(c.dir[i].size))
	}
}

// smallest returns the smaller of two sizes that are known; 0 stands for an unknown one.
func smallest(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (s servers) merge(other servers) {
	for endpoint, more := range other {
		sum := s[endpoint]
		if sum == nil {
			s[endpoint] = more
			continue
		}
		if more.First < sum.First {
			sum.First, sum.Client = more.First, more.Client
		}
		sum.Connections += more.Connections
		sum.Openings.add(&more.Openings)
		sum.Start, sum.End = min(sum.Start, more.Start), max(sum.End, more.End)
		sum.Exchanges += more.Exchanges
		sum.ExchangeTime += more.ExchangeTime
		for i := range more.Directions {
			sum.Directions[i].add(&more.Directions[i])
			sum.MSS[i] = smallest(sum.MSS[i], more.MSS[i])
		}
	}
}

func (s servers) list() []Server {
	list := make([]Server, 0, len(s))
	for _, sum := range s {
		sum.Directions[0].Tails.ranked()
		sum.Directions[1].Tails.ranked()
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b Server) int { return byEndpoint(a.Endpoint, b.Endpoint) })
	return list
}

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
	Client       netip.AddrPort `json:"client"` // of the first connection
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

type servers struct {
	max int
	at  map[netip.AddrPort]*Server
}

func newServers(max int) servers { return servers{max, map[netip.AddrPort]*Server{}} }

// add enters a connection. It reports whether there was room.
func (s *servers) add(c *conn, client, server netip.AddrPort, did *[2]Activity, opening *Openings) bool {
	sum := s.at[server]
	if sum == nil {
		if len(s.at) >= s.max {
			return false
		}
		sum = &Server{Endpoint: server, Client: client, Start: c.start, End: c.last}
		s.at[server] = sum
	}
	sum.Connections++
	sum.Openings.add(opening)
	sum.Start, sum.End = min(sum.Start, c.start), max(sum.End, c.last)
	sum.Exchanges += int64(c.exchanges.count)
	sum.ExchangeTime += c.exchanges.total
	for i := range did {
		sum.Directions[i].add(&did[i])
		if size := int(c.dir[i].size); size > 0 && (sum.MSS[i] == 0 || size < sum.MSS[i]) {
			sum.MSS[i] = size
		}
	}
	return true
}

func (s *servers) list() []Server {
	list := make([]Server, 0, len(s.at))
	for _, sum := range s.at {
		list = append(list, *sum)
	}
	slices.SortFunc(list, func(a, b Server) int { return byEndpoint(a.Endpoint, b.Endpoint) })
	return list
}

package diagnose

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// place is where and when a finding was recorded, as far as its sources tell. What is not told ties with everything.
type place struct {
	folders   []string         // each stands for a host
	group     string           // of the tags in the files' names: a host of its own
	peer      bool             // the other host of the folder
	kinds     []analyze.Kind   // of its sources
	endpoints []netip.AddrPort // of the connection or server that it is about, or of the socket
	iface     string
	cpu       string
	from, to  time.Time // zero where no source has a date
}

// places tells where the findings of a result come from.
type places struct {
	result  *analyze.Result
	sources map[string][]*analyze.Source
	groups  []string
}

func newPlaces(r *analyze.Result) *places {
	p := &places{result: r, sources: map[string][]*analyze.Source{}}
	for i := range r.Sources {
		s := &r.Sources[i]
		p.sources[s.Path] = append(p.sources[s.Path], s)
	}
	for _, h := range r.Models.Hosts {
		if h.Group != "" && !slices.Contains(p.groups, h.Group) {
			p.groups = append(p.groups, h.Group)
		}
	}
	return p
}

// of returns the place of a finding: what its evidence and its subject tell.
func (p *places) of(f *finding.Finding) *place {
	x := &place{}
	for _, e := range f.Evidence {
		x.folder(hostFolder(e.Source))
		for _, s := range p.sources[e.Source] {
			if !slices.Contains(x.kinds, s.Kind) {
				x.kinds = append(x.kinds, s.Kind)
			}
			if s.Epoch != 0 {
				at := time.Unix(s.Epoch, 0)
				x.span(at.Add(time.Duration(s.Start)), at.Add(time.Duration(s.End)))
			}
		}
		name := source.ParseName(e.Source)
		x.peer = x.peer || name.Peer
		x.group = p.group(e.Source)
		if !name.Time.IsZero() {
			x.span(name.Time, name.Time)
		}
	}
	x.subject(&f.Subject)
	if cpu, known := f.Measure("cpu"); known {
		x.cpu = fmt.Sprintf("CPU %.0f", cpu)
	}
	return x
}

// group returns the group of counters that a file's name begins with: "server" of "server.perf.txt", if there are
// counters named "server-before.ethtool-S.20240305T101500Z.txt".
func (p *places) group(file string) string {
	base := path.Base(file)
	for _, g := range p.groups {
		if rest, ok := strings.CutPrefix(base, g); ok && rest != "" && strings.ContainsRune("-.", rune(rest[0])) {
			return g
		}
	}
	return ""
}

// hostFolder is the folder of the host that a file was recorded on: folders that are named after what is in them do not
// count.
func hostFolder(file string) string {
	dir := path.Dir(file)
	for slices.Contains([]string{"captures", "pcap", "counters", "settings", "ethtool", "perf", "stacks", "profiles", "locks", "bench", "benchmarks", "netperf", "proc", "net", "sys", "sos_commands"}, path.Base(dir)) {
		dir = path.Dir(dir)
	}
	return dir
}

func (x *place) folder(dir string) {
	if !slices.Contains(x.folders, dir) {
		x.folders = append(x.folders, dir)
	}
}

func (x *place) span(from, to time.Time) {
	if x.from.IsZero() || from.Before(x.from) {
		x.from = from
	}
	if to.After(x.to) {
		x.to = to
	}
}

// subject takes interface, CPU and endpoints out of what a finding is about. Keys of groups and peers have those before a
// slash (coalesce).
func (x *place) subject(s *finding.Subject) {
	last := s.Key[strings.LastIndexByte(s.Key, '/')+1:]
	switch s.Kind {
	case "interface", "interrupt":
		x.iface = last
	case "cpu":
		x.cpu = last
	case "connection", "socket": // both ends
		x.endpoints = endpointsIn(s.Name)
	case "server":
		x.endpoints = endpointsIn(last)
	}
}

func endpointsIn(text string) (list []netip.AddrPort) {
	for _, word := range strings.Fields(text) {
		if e, err := netip.ParseAddrPort(word); err == nil {
			list = append(list, e)
		}
	}
	return list
}

// otherConnection reports whether two places are of connections that cannot be the same: as many ends as both know have to
// agree.
func (x *place) otherConnection(y *place) bool {
	agree := 0
	for _, e := range x.endpoints {
		if slices.Contains(y.endpoints, e) {
			agree++
		}
	}
	return agree < min(len(x.endpoints), len(y.endpoints))
}

// apart says why two findings cannot belong together, "" if nothing speaks against it.
func (p *places) apart(a, b *place, apart unit.Nanos) string {
	switch gap := a.gap(b); {
	case p.otherHost(a, b):
		return "other host"
	case a.iface != "" && b.iface != "" && a.iface != b.iface:
		return "other interface"
	case a.cpu != "" && b.cpu != "" && a.cpu != b.cpu:
		return "other CPU"
	case a.otherConnection(b):
		return "other connection"
	case gap > apart:
		return "other time"
	}
	return ""
}

// gap is the time between two recordings, 0 if they overlap or if a date is missing.
func (x *place) gap(y *place) unit.Nanos {
	if x.from.IsZero() || y.from.IsZero() {
		return 0
	}
	return unit.Nanos(max(0, x.from.Sub(y.to), y.from.Sub(x.to)))
}

// between reports whether two hosts share the recordings: packets pass between them, and so do benchmarks.
func (x *place) between() bool {
	return !slices.ContainsFunc(x.kinds, func(k analyze.Kind) bool { return k != analyze.Capture && k != analyze.Benchmark })
}

// otherHost reports whether two places are of different hosts.
func (p *places) otherHost(a, b *place) bool {
	same := slices.ContainsFunc(a.folders, func(x string) bool {
		return slices.ContainsFunc(b.folders, func(y string) bool { return source.Within(x, y) || source.Within(y, x) })
	})
	switch {
	case a.between() && b.between():
		return false
	case a.between():
		return p.foreign(a, b, same)
	case b.between():
		return p.foreign(b, a, same)
	}
	return !same || a.peer != b.peer || a.group != "" && b.group != "" && a.group != b.group
}

// ofOtherHosts reports whether two places are in folders of their own that each have recordings of a host, or carry the tags
// of different hosts: benchmarks in them are of different pairs of hosts.
func (p *places) ofOtherHosts(a, b *place) bool {
	return a.peer != b.peer || a.group != b.group || !slices.Equal(a.folders, b.folders) && p.hosts(a.folders) && p.hosts(b.folders)
}

// hosts reports whether folders have recordings of a host beside captures and benchmarks, which are between two.
func (p *places) hosts(folders []string) bool {
	for path, list := range p.sources {
		if slices.Contains(folders, hostFolder(path)) && slices.ContainsFunc(list, func(s *analyze.Source) bool {
			return s.Kind != analyze.Capture && s.Kind != analyze.Benchmark && s.Kind != ""
		}) {
			return true
		}
	}
	return false
}

// foreign reports whether what passed between two hosts did not pass this one: it was recorded in another folder though
// the host's has a recording of the kind, or the host's addresses are known and none of them takes part.
func (p *places) foreign(passed, host *place, same bool) bool {
	for path, list := range p.sources {
		own := slices.Contains(host.folders, hostFolder(path))
		if !same && own && slices.ContainsFunc(list, func(s *analyze.Source) bool { return slices.Contains(passed.kinds, s.Kind) }) {
			return true
		}
	}
	addresses := p.addresses(host)
	return len(passed.endpoints) > 0 && len(addresses) > 0 && !p.speaks(passed, addresses)
}

// addresses returns the addresses of a host that its sockets tell (ss), without loopback.
func (p *places) addresses(host *place) (list []netip.Addr) {
	for _, h := range p.result.Models.Hosts {
		for i := range h.Sockets {
			s := &h.Sockets[i]
			if e, err := netip.ParseAddrPort(s.Local); err == nil && h.Peer == host.peer && slices.Contains(host.folders, hostFolder(s.Pos.Source)) && !e.Addr().IsLoopback() && !e.Addr().IsUnspecified() {
				list = append(list, e.Addr())
			}
		}
	}
	return list
}

// speaks reports whether an address takes part in a captured finding's connections.
func (p *places) speaks(passed *place, addresses []netip.Addr) bool {
	for _, c := range p.result.Models.Captures {
		for i := range c.Connections {
			x := &c.Connections[i]
			if slices.Contains(passed.endpoints, x.Server) && (slices.Contains(addresses, x.Server.Addr()) || slices.Contains(addresses, x.Client.Addr())) {
				return true
			}
		}
	}
	return false
}

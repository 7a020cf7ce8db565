package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/unit"
)

// SocketBuffer finds packets that reached the host and found no room in a socket.
func SocketBuffer() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "socket/receive-buffer",
			Title: "packets arrive, but sockets have no room for them",
			Method: "UdpRcvbufErrors and Udp6RcvbufErrors are set against the datagrams that reached UDP; TCPRcvQDrop, TCPBacklogDrop and RcvPruned against TcpInSegs. " +
				"The NIC, its ring and the kernel's backlog have done their work on these packets: the program reads too slowly, or its buffer does not hold a burst.",
			Params: []finding.Param{
				{Name: "share", Default: 1e-5, Unit: "ratio", Doc: "lost of those that arrived, for a notice; the same as for rings"},
				{Name: "warning-share", Default: 1e-3, Unit: "ratio", Doc: "for a warning; in the recorded flood it is 0.66"},
				{Name: "least-lost", Default: 10, Unit: "packets", Doc: "fewer say nothing"},
			},
			FalsePositives: "A flood test (iperf3 -u -b 0) loses here by design. The counters are of a network namespace, not of one socket: ss -uampn shows the drops (d) of each. Without -a, nstat counts from its last call.",
			References:     []string{"Linux Documentation/networking/snmp_counter.rst", "udp(7), rmem_max", "ss(8), -m"},
		},
		Judge: judgeSocketBuffer,
	}
}

func judgeSocketBuffer(h *Host, p finding.Params) []finding.Finding {
	udp := append(h.terms("UdpInDatagrams", "Udp6InDatagrams"), h.terms("UdpRcvbufErrors", "Udp6RcvbufErrors")...)
	tcp := h.terms("TcpInSegs")
	var found []finding.Finding
	for _, c := range []struct {
		protocol string
		of       uint64
		names    []string
		advice   []finding.Advice
	}{
		{"UDP", total(udp), []string{"UdpRcvbufErrors", "Udp6RcvbufErrors"}, []finding.Advice{
			{Text: "sysctl -w net.core.rmem_max=26214400, and SO_RCVBUF of that size in the program (or net.core.rmem_default for all): it holds bursts; against a steady excess only reading faster helps: recvmmsg, SO_REUSEPORT with several readers, or a slower sender", Reference: "udp(7); recvmmsg(2)"},
			{Text: "find the socket: ss -uampn, column d of skmem", Reference: "ss(8)"}}},
		{"TCP", total(tcp), []string{"TcpExtTCPRcvQDrop", "TcpExtTCPBacklogDrop", "TcpExtRcvPruned"}, []finding.Advice{
			{Text: "raise the largest receive buffer: sysctl -w net.ipv4.tcp_rmem='4096 131072 33554432', and take SO_RCVBUF, which ends its growth, out of the program", Reference: "tcp(7), tcp_rmem"},
			{Text: "find the socket: ss -tmin state established, r and rb of skmem", Reference: "ss(8)"}}},
	} {
		if f, ok := h.socketLoss(c.protocol, c.of, c.names, p); ok {
			f.Advice = c.advice
			found = append(found, f)
		}
	}
	return found
}

func (h *Host) socketLoss(protocol string, of uint64, names []string, p finding.Params) (f finding.Finding, ok bool) {
	l := lost{what: map[string]string{"UDP": "datagrams", "TCP": "segments"}[protocol], of: of}
	for _, s := range h.Protocols {
		for _, name := range names {
			if c := h.Protocol(name); c != nil && c.Delta > 0 && c == s.counter(name) {
				l.delta += c.Delta
				if l.series == nil {
					l.series, l.counter, l.change = &s.Series, c.Name, c.Change
				}
			}
		}
	}
	severity, ok := l.grade(p)
	if !ok || l.series == nil || float64(l.delta) < p["least-lost"] {
		return f, false
	}
	f = l.finding(h.subject("socket", protocol), p["share"])
	f.Severity = severity
	f.Summary = fmt.Sprintf("%s found no room in the receive buffer of a %s socket: the program reads too slowly, the NIC is not at fault", l.text(), protocol)
	f.Reasons = append(f.Reasons, "the counter is raised only after the packet came through interface, IP and "+protocol)
	if t := h.deviceLosses(); t > 0 {
		f.Caveats = append(f.Caveats, fmt.Sprintf("interfaces lost %s packets as well", unit.Count(int64(t&(1<<63-1)))))
	}
	f.Caveats = append(f.Caveats, "which socket it is cannot be seen from the host's counters")
	return f, true
}

// counter returns a counter of the series, or nil.
func (s *CounterSeries) counter(name string) *Counter {
	for k := range s.Counters {
		if s.Counters[k].Name == name {
			return &s.Counters[k]
		}
	}
	return nil
}

func (h *Host) deviceLosses() (n uint64) {
	for _, i := range h.Interfaces {
		for _, l := range i.Losses() {
			if l.Place.AtReceiver() {
				n += l.Delta
			}
		}
	}
	return n
}

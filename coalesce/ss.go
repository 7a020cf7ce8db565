package coalesce

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// ss -tinmO: what the kernel knows of each TCP connection (TCP_INFO), its own word on what kept a sender from sending.
//
//	State Recv-Q Send-Q  Local Address:Port  Peer Address:Port Process
//	ESTAB 0      2807212 127.0.0.1:52982    127.0.0.1:5001  skmem:(r0,rb131072,t0,tb4194304,f1876,w2857132,o0,bl0,d0)
//	 bbr wscale:1,10 rto:204 rtt:1.134/0.033 mss:47417 cwnd:12 bytes_sent:97492788 ... busy:2412ms rwnd_limited:1940ms(80.4%)
//
// Written by ss of iproute2 (misc/ss.c, tcp_show_info), all on one line with -O, else with the details on a line below
// that begins with a tab. Fields depend on the kernel's and ss' version and on which are not zero; those that Socket does
// not have are passed over. Sizes in skmem are of the socket's memory (linux/sock_diag.h, SK_MEMINFO_*).

// Socket is a TCP connection as its host's kernel sees it. Times and bytes are since it began.
type Socket struct {
	Local      string     `json:"local"` // "127.0.0.1:52982"
	Peer       string     `json:"peer"`
	State      string     `json:"state"`
	Congestion string     `json:"congestion"` // "cubic", "bbr"
	RecvQ      uint64     `json:"recv_q"`     // bytes received that nobody read
	SendQ      uint64     `json:"send_q"`     // bytes not yet acknowledged
	RcvBuf     uint64     `json:"rcvbuf"`     // limits of the socket's memory, bytes
	SndBuf     uint64     `json:"sndbuf"`
	Dropped    uint64     `json:"dropped"` // packets for which the socket had no room
	RTT        unit.Nanos `json:"rtt_ns"`
	MinRTT     unit.Nanos `json:"min_rtt_ns"`
	MSS        uint64     `json:"mss"`
	CWnd       uint64     `json:"cwnd"` // segments
	SSThresh   uint64     `json:"ssthresh"`
	Unacked    uint64     `json:"unacked"` // segments
	Retrans    uint64     `json:"retrans"` // segments retransmitted
	Lost       uint64     `json:"lost"`
	Reordering uint64     `json:"reordering"`
	Sent       uint64     `json:"bytes_sent"` // with retransmissions
	Resent     uint64     `json:"bytes_retrans"`
	Received   uint64     `json:"bytes_received"`
	NotSent    uint64     `json:"not_sent"` // bytes in the send buffer
	AppLimited bool       `json:"app_limited"`

	Busy          unit.Nanos `json:"busy_ns"`           // time with data to send
	RwndLimited   unit.Nanos `json:"rwnd_limited_ns"`   // of it, waiting for the peer's window
	SndbufLimited unit.Nanos `json:"sndbuf_limited_ns"` // of it, with too small a send buffer
	Known         bool       `json:"known"`             // the kernel told the three

	Pos source.Pos `json:"pos"`
}

// maxSockets bounds the sockets of a host.
const maxSockets = 1024

// SniffSockets recognises ss by its head, or by lines of sockets with their details.
func SniffSockets(head []byte) source.Match {
	line, rest := firstLine(head)
	if bytes.HasPrefix(line, []byte("State ")) && bytes.Contains(line, []byte("Recv-Q")) && bytes.Contains(line, []byte("Send-Q")) || bytes.HasPrefix(line, []byte("Netid ")) && bytes.Contains(line, []byte("Send-Q")) {
		return source.Strong
	}
	if !isSocketLine(line) {
		return source.No
	}
	if next, _ := firstLine(rest); isSocketDetail(line) || isSocketDetail(next) {
		return source.Strong
	}
	return source.No
}

func isSocketLine(line []byte) bool {
	for _, state := range [...]string{"ESTAB ", "SYN-SENT ", "SYN-RECV ", "FIN-WAIT-1 ", "FIN-WAIT-2 ", "TIME-WAIT ", "CLOSE-WAIT ", "LAST-ACK ", "LISTEN ", "CLOSING ", "UNCONN ", "tcp "} {
		if bytes.HasPrefix(line, []byte(state)) {
			return true
		}
	}
	return false
}

func isSocketDetail(line []byte) bool {
	return bytes.Contains(line, []byte(" rto:")) && bytes.Contains(line, []byte(" mss:")) || bytes.Contains(line, []byte("skmem:("))
}

// ReadSockets reads ss.
func ReadSockets(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "ss", Pos: l.Pos()}
	if SniffSockets(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no ss -ti begins here; \"State Recv-Q Send-Q\" was expected"}
	}
	var s *Socket
	for l.Next() {
		line := l.Bytes()
		switch {
		case len(line) > 0 && !l.Complete():
			cut(ledger, l.Pos(), "the input ends inside a line of ss; it is left out")
		case isSocketLine(line):
			s = out.socket(line, l.Pos())
			if s == nil {
				ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(line)+" is no socket of ss; it is left out")
			}
		case len(line) > 0 && (line[0] == '\t' || line[0] == ' ') && s != nil:
			s.details(bytes.Fields(line))
		case bytes.Contains(line, []byte("Recv-Q")), len(line) == 0:
		default:
			l.Back()
			return out, nil
		}
	}
	return out, nil
}

// socket reads the line of a socket and what of its details stands there.
func (o *Output) socket(line []byte, pos source.Pos) *Socket {
	words := bytes.Fields(line)
	if string(words[0]) == "tcp" {
		words = words[1:]
	}
	if len(words) < 5 || len(o.Sockets) >= maxItems {
		return nil
	}
	s := Socket{State: string(words[0]), Local: string(words[3]), Peer: string(words[4]), Pos: pos}
	var okR, okS bool
	s.RecvQ, okR = parseUint(words[1])
	s.SendQ, okS = parseUint(words[2])
	if !okR || !okS || len(s.Local) > 80 || len(s.Peer) > 80 {
		return nil
	}
	s.details(words[5:])
	o.Sockets = append(o.Sockets, s)
	return &o.Sockets[len(o.Sockets)-1]
}

// details reads "key:value" words.
func (s *Socket) details(words [][]byte) {
	for k, w := range words {
		key, value, ok := bytes.Cut(w, []byte{':'})
		switch {
		case string(w) == "app_limited":
			s.AppLimited = true
		case !ok && k+1 < len(words) && (bytes.HasPrefix(words[k+1], []byte("wscale:")) || bytes.HasPrefix(words[k+1], []byte("rto:"))) && len(w) <= 16:
			s.Congestion = string(w)
		case ok:
			s.detail(key, value)
		}
	}
}

// count returns the field of a detail that is a plain number, or nil.
func (s *Socket) count(key []byte) *uint64 {
	switch string(key) {
	case "mss":
		return &s.MSS
	case "cwnd":
		return &s.CWnd
	case "ssthresh":
		return &s.SSThresh
	case "unacked":
		return &s.Unacked
	case "lost":
		return &s.Lost
	case "reordering":
		return &s.Reordering
	case "bytes_sent":
		return &s.Sent
	case "bytes_retrans":
		return &s.Resent
	case "bytes_received":
		return &s.Received
	case "notsent":
		return &s.NotSent
	}
	return nil
}

func (s *Socket) detail(key, value []byte) {
	if to := s.count(key); to != nil {
		*to, _ = parseUint(value)
		return
	}
	switch string(key) {
	case "rtt":
		mean, _, _ := bytes.Cut(value, []byte{'/'})
		s.RTT = millis(mean)
	case "minrtt":
		s.MinRTT = millis(value)
	case "retrans": // now/in all
		_, all, _ := bytes.Cut(value, []byte{'/'})
		s.Retrans, _ = parseUint(all)
	case "busy":
		s.Busy, s.Known = millis(value), true
	case "rwnd_limited":
		s.RwndLimited = millis(value)
	case "sndbuf_limited":
		s.SndbufLimited = millis(value)
	case "skmem":
		s.memory(bytes.Trim(value, "()"))
	}
}

// memory reads "r0,rb131072,t0,tb4194304,f1876,w2857132,o0,bl0,d0".
func (s *Socket) memory(list []byte) {
	for item := range strings.SplitSeq(string(list), ",") {
		name := strings.TrimRight(item, "0123456789")
		n, ok := parseUint([]byte(item[len(name):]))
		switch {
		case !ok:
		case name == "rb":
			s.RcvBuf = n
		case name == "tb":
			s.SndBuf = n
		case name == "d":
			s.Dropped = n
		}
	}
}

// millis reads milliseconds: "1.134", "2412ms", "1940ms(80.4%)".
func millis(word []byte) unit.Nanos {
	word, _, _ = bytes.Cut(word, []byte{'('})
	v, ok := parseFloat(bytes.TrimSuffix(word, []byte("ms")))
	if !ok || v < 0 || v > 1e12 {
		return 0
	}
	return unit.FromSeconds(v / 1000)
}

// addSockets keeps the last reading of each connection, those that were busy longest or moved most.
func (h *Host) addSockets(sockets []Socket) {
	for _, s := range sockets {
		if s.State == "LISTEN" || s.State == "UNCONN" {
			continue
		}
		k := slices.IndexFunc(h.Sockets, func(x Socket) bool { return x.Local == s.Local && x.Peer == s.Peer })
		if k >= 0 {
			h.Sockets[k] = s
		} else {
			h.Sockets = append(h.Sockets, s)
		}
		if len(h.Sockets) >= 2*maxSockets {
			h.boundSockets()
		}
	}
	h.boundSockets()
}

func (h *Host) boundSockets() {
	slices.SortStableFunc(h.Sockets, func(a, b Socket) int {
		return cmp.Or(-cmp.Compare(a.Busy, b.Busy), -cmp.Compare(a.Sent+a.Received, b.Sent+b.Received), cmp.Compare(a.Local, b.Local), cmp.Compare(a.Peer, b.Peer))
	})
	h.Sockets = h.Sockets[:min(len(h.Sockets), maxSockets)]
}

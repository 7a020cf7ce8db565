package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// netstat -s: counters of the host's network protocols in sentences.
//
//	Tcp:
//	    81 active connection openings
//	    0 segments retransmitted
//	TcpExt:
//	    Quick ack mode was activated 7 times
//	    TCPLossProbes: 1
//
// Written by netstat of net-tools (statistics.c: sections of /proc/net/snmp and netstat; counters without a sentence stand
// by their name) and of FreeBSD (usr.bin/netstat: lower-case sections, tabs, parts of a count indented below it). The
// sentences that mean what nstat counts get nstat's name; the others are named by the section and the sentence without its
// numbers, of which the first is the count. Plurals differ by the count and are made one. Histograms of ICMP are left out.

// SniffNetstatSentences recognises netstat -s by a section and a sentence below.
func SniffNetstatSentences(head []byte) source.Match {
	line, rest := firstLine(head)
	section, ok := sentenceSection(line)
	if !ok {
		return source.No
	}
	next, _ := firstLine(rest)
	text := bytes.TrimLeft(next, " \t")
	if len(text) == len(next) || len(text) == 0 {
		return source.No
	}
	if section[0] >= 'a' && next[0] == '\t' && digit(text[0]) || section[0] < 'a' && bytes.HasPrefix(next, []byte("    ")) && (digit(text[0]) || bytes.HasPrefix(text, []byte("Forwarding"))) {
		return source.Strong
	}
	return source.No
}

// sentenceSection reads "Tcp:" or "tcp:".
func sentenceSection(line []byte) (section []byte, ok bool) {
	name, ok := bytes.CutSuffix(line, []byte{':'})
	if !ok || len(name) < 2 || len(name) > 12 {
		return nil, false
	}
	switch string(name) {
	case "Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt", "Sctp", "Ip6", "Icmp6", "Udp6",
		"tcp", "udp", "ip", "icmp", "igmp", "arp", "ip6", "icmp6", "sctp", "pim", "carp", "pfsync", "rip6", "ipsec", "ah", "esp":
		return name, true
	}
	return nil, false
}

// sentenceNames maps sentences, with their numbers as N, to nstat's names.
func sentenceNames() map[string]string {
	return map[string]string{
		"Ip: N total packets received": "IpInReceives", "Ip: N forwarded": "IpForwDatagrams", "Ip: N incoming packets discarded": "IpInDiscards",
		"Ip: N incoming packets delivered": "IpInDelivers", "Ip: N requests sent out": "IpOutRequests", "Ip: N outgoing packets dropped": "IpOutDiscards",
		"Ip: N dropped because of missing route": "IpOutNoRoutes", "Ip: N with invalid headers": "IpInHdrErrors", "Ip: N with invalid addresses": "IpInAddrErrors",
		"Ip: N with unknown protocol": "IpInUnknownProtos", "Ip: N packet reassemblies failed": "IpReasmFails", "Ip: N reassemblies required": "IpReasmReqds",
		"Icmp: N ICMP messages received": "IcmpInMsgs", "Icmp: N ICMP messages sent": "IcmpOutMsgs",
		"Tcp: N active connection openings": "TcpActiveOpens", "Tcp: N passive connection openings": "TcpPassiveOpens", "Tcp: N failed connection attempts": "TcpAttemptFails",
		"Tcp: N connection resets received": "TcpEstabResets", "Tcp: N segments received": "TcpInSegs", "Tcp: N segments sent out": "TcpOutSegs", "Tcp: N segments send out": "TcpOutSegs",
		"Tcp: N segments retransmitted": "TcpRetransSegs", "Tcp: N segments retransmited": "TcpRetransSegs", "Tcp: N bad segments received": "TcpInErrs", "Tcp: N resets sent": "TcpOutRsts",
		"Udp: N packets received": "UdpInDatagrams", "Udp: N packets to unknown port received": "UdpNoPorts", "Udp: N packet receive errors": "UdpInErrors",
		"Udp: N packets sent": "UdpOutDatagrams", "Udp: N receive buffer errors": "UdpRcvbufErrors", "Udp: N send buffer errors": "UdpSndbufErrors",
		"TcpExt: N packets pruned from receive queue": "TcpExtRcvPruned", "TcpExt: N packets pruned from receive queue because of socket buffer overrun": "TcpExtPruneCalled",
		"TcpExt: N packets collapsed in receive queue due to low socket buffer": "TcpExtTCPRcvCollapsed", "TcpExt: N SYNs to LISTEN sockets dropped": "TcpExtListenDrops",
		"TcpExt: N times the listen queue of a socket overflowed": "TcpExtListenOverflows", "TcpExt: N fast retransmits": "TcpExtTCPFastRetrans",
		"TcpExt: N delayed acks sent": "TcpExtDelayedACKs", "TcpExt: Quick ack mode was activated N times": "TcpExtDelayedACKLost", "TcpExt: N packet headers predicted": "TcpExtTCPHPHits",
		"TcpExt: N acknowledgments not containing data payload received": "TcpExtTCPPureAcks", "TcpExt: N predicted acknowledgments": "TcpExtTCPHPAcks",
		"TcpExt: N DSACKs received": "TcpExtTCPDSACKRecv", "TcpExt: N other TCP timeouts": "TcpExtTCPTimeouts",

		"tcp: N packets received": "TcpInSegs", "tcp: N packets sent": "TcpOutSegs", "tcp: N data packets (N bytes) retransmitted": "TcpRetransSegs",
		"tcp: N discarded for bad checksums": "TcpInErrs", "tcp: N connection requests": "TcpActiveOpens", "tcp: N connection accepts": "TcpPassiveOpens",
		"udp: N delivered": "UdpInDatagrams", "udp: N dropped due to full socket buffers": "UdpRcvbufErrors", "udp: N datagrams output": "UdpOutDatagrams", "udp: N dropped due to no socket": "UdpNoPorts",
		"ip: N total packets received": "IpInReceives", "ip: N packets for this host": "IpInDelivers", "ip: N packets sent from this host": "IpOutRequests",
		"ip: N output packets dropped due to no bufs, etc.": "IpOutDiscards", "ip: N output packets discarded due to no route": "IpOutNoRoutes",
	}
}

// ReadNetstatSentences reads netstat -s.
func ReadNetstatSentences(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "netstat-s", Pos: l.Pos()}
	if SniffNetstatSentences(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no netstat -s begins here; a section (\"Tcp:\") and sentences with counts were expected"}
	}
	names := sentenceNames()
	section, histogram := "", 0
	i := InterfaceOutput{Host: true}
	for l.Next() {
		line := l.Bytes()
		text := bytes.TrimLeft(line, " \t")
		if name, ok := sentenceSection(line); ok {
			section, histogram = string(name), 0
			continue
		}
		indent := len(line) - len(text)
		switch {
		case len(text) == 0:
			continue
		case indent == 0:
			l.Back()
			out.Interfaces = []InterfaceOutput{i}
			return out, nil
		case !l.Complete():
			cut(ledger, l.Pos(), "the input ends inside a line of netstat -s; it is left out")
			continue
		case bytes.HasSuffix(text, []byte("histogram:")):
			histogram = indent
			continue
		case histogram > 0 && indent > histogram:
			continue
		}
		histogram = 0
		name, n, ok := sentence(section, text)
		if nstat := names[name]; nstat != "" {
			name = nstat
		}
		if ok && len(i.Counters) < maxItems {
			i.Counters = append(i.Counters, Count{Name: name, Value: n, Line: l.Pos().Line, Offset: l.Pos().Offset})
		}
	}
	out.Interfaces = []InterfaceOutput{i}
	return out, nil
}

// sentence makes "81 active connection openings" the name "Tcp: N active connection openings" and its count, and
// "TCPLossProbes: 1" TcpExtTCPLossProbes.
func sentence(section string, text []byte) (name string, n uint64, ok bool) {
	if key, value, found := bytes.Cut(text, []byte(": ")); found && bytes.IndexByte(key, ' ') < 0 {
		n, ok = parseUint(value)
		return section + string(key), n, ok
	}
	var b strings.Builder
	b.WriteString(section + ":")
	for _, w := range bytes.Fields(text) {
		b.WriteByte(' ')
		bare := bytes.TrimLeft(w, "(")
		digits := bytes.TrimRight(bare, ")/:,")
		v, isNumber := parseUint(digits)
		if !isNumber {
			b.Write(w)
			continue
		}
		if !ok {
			n, ok = v, true
		}
		b.Write(w[:len(w)-len(bare)])
		b.WriteByte('N')
		b.Write(bare[len(digits):])
	}
	return plural(b.String(), n), n, ok && b.Len() < 200
}

// plural undoes what FreeBSD prints for a count of one: "1 datagram output".
func plural(name string, n uint64) string {
	if n != 1 {
		return name
	}
	for _, word := range []string{"packet", "datagram", "segment", "request", "accept"} {
		for _, end := range []string{" ", ""} {
			if end == " " {
				name = strings.Replace(name, "N "+word+" ", "N "+word+"s ", 1)
			} else if strings.HasSuffix(name, " "+word) {
				name += "s"
			}
		}
	}
	return strings.Replace(name, "N data packet ", "N data packets ", 1)
}

package pcap

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/source"
)

// checkHeader holds what is true of every header, however damaged the packet.
func checkHeader(t *testing.T, p *Packet, h *Header) {
	t.Helper()
	if h.Payload < 0 || h.PayloadAt < 0 || h.IPLen < 0 || h.Options.SACKs > 4 || h.Options.Length > 40 {
		t.Fatalf("%+v", h)
	}
	if (h.Transport == TCP || h.Transport == UDP) && (h.PayloadAt+h.Payload > p.WireLen && !h.inPart || h.Payload > h.IPLen || h.Network == NoNetwork) {
		t.Fatalf("payload of %d at %d in a packet of %d: %+v", h.Payload, h.PayloadAt, p.WireLen, h)
	}
	if h.Fragment && !h.FirstFrag && h.Transport != NoTransport || (h.Tunnels > 0) != (h.Tunnel != 0) {
		t.Fatalf("%+v", h)
	}
	_ = h.Fault.String() + h.TunnelKind.String() + h.Source().String()
	Verify(p, h)
	if q, ok := h.Quoted(p); ok && (h.Transport != ICMP || q.Kind == "" || q.MTU < 0 || q.IPLen < 0) {
		t.Fatalf("%+v", q)
	}
}

func FuzzReader(f *testing.F) {
	for _, path := range captures(f, fixtures) {
		if data := readAll(f, path); len(data) < 4_000 && Sniff(data) == source.Strong {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ledger source.Ledger
		r, err := NewReader(source.NewInput("fuzz", bytes.NewReader(data)), &ledger)
		if err != nil {
			return
		}
		var h Header
		var last Packet
		for count := 0; ; count++ {
			p, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || count > len(data) {
				t.Fatalf("%d packets of %d bytes, %v", count, len(data), err)
			}
			if p.Record <= last.Record || p.Offset < last.Offset || p.CapLen != len(p.Data) || p.CapLen > p.WireLen || int(p.Offset)+p.CapLen > len(data) || p.Interface >= len(r.Info().Interfaces) {
				t.Fatalf("%+v behind %+v", p, last)
			}
			last = *p
			h.Decode(p)
			checkHeader(t, p, &h)
			p.Comments()
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("behind the end: %v", err)
		}
		if r.Info().Packets == 0 {
			return
		}
		again, err := OpenAt(bytes.NewReader(data), "fuzz", r.Index(), last.Record)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := again.Next(); err != nil || p.Record != last.Record || p.Offset != last.Offset || p.Time != last.Time || !bytes.Equal(p.Data, last.Data) {
			t.Fatalf("opened %+v, %v; want %+v", p, err, last)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, name := range append(likeBase(), "bigtcp-ipv6.pcap", "any-sll2.pcap", "vxlan-tso-sender.pcap") {
		for _, d := range readFile(f, filepath.Join(fixtures, name)).packets[:4] {
			f.Add(uint16(d.LinkType), d.WireLen, d.Data)
		}
	}
	for link := range LinkType(300) {
		if link.Decoded() {
			f.Add(uint16(link), 60, []byte(cat(strings.Repeat("\x08\x00", 20), snap(0x0800), ip4(17, -1, 0, udpOf(2152, 8, "")))))
		}
	}
	f.Fuzz(func(t *testing.T, link uint16, wire int, data []byte) {
		p := &Packet{LinkType: LinkType(link), Data: data, CapLen: len(data), WireLen: min(max(wire, len(data)), 1<<32)}
		var h Header
		h.Decode(p)
		checkHeader(t, p, &h)
	})
}

func FuzzParseFilter(f *testing.F) {
	for _, expr := range []string{"tcp port 80 or 443", "not (src net 10/8 and vlan 5)", "src or dst portrange 1-100", "host 2001:db8::1 && less 100", "net 192.0.2.0 mask 255.255.255.0", "!icmp6||outbound",
		"tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "((ip[2:2] - ((ip[0]&0xf)<<2)) - ((tcp[12]&0xf0)>>2)) != 0", "len % 0 = 1 or ether[0:4] << 40 >= 1", "ip proto 6 and ether host 02:00:00:00:00:01 or arp"} {
		f.Add(expr)
	}
	p := &Packet{LinkType: LinkRaw, Data: []byte(ip4(6, -1, 0, tcpOf(noOpts, "", "payload"))), CapLen: 47, WireLen: 47}
	var h Header
	h.Decode(p)
	f.Fuzz(func(t *testing.T, expr string) {
		filter, err := ParseFilter(expr)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "filter ") {
				t.Fatal(err)
			}
			return
		}
		matched := filter.Match(p, &h)
		if strings.TrimSpace(expr) == "" {
			return
		}
		negated, err := ParseFilter("not (" + expr + ")")
		if err != nil {
			if strings.Contains(err.Error(), "parentheses") {
				return
			}
			t.Fatal(err)
		}
		if negated.Match(p, &h) == matched {
			t.Fatalf("%q and its negation both give %v", expr, matched)
		}
	})
}

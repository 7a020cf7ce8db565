package pcap

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func selected(t testing.TB, c capture, expr string) int {
	t.Helper()
	f, err := ParseFilter(expr)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range c.packets {
		if f.Match(&d.Packet, &d.Header) {
			n++
		}
	}
	return n
}

// TestFilterCounts holds how many packets a filter selects against tcpdump 4.99.3.
func TestFilterCounts(t *testing.T) {
	files := []string{"rr-4345-wire.pcap", "any-sll2.pcap", "refused-reset.pcap"}
	var captures []capture
	for _, file := range files {
		captures = append(captures, readFile(t, filepath.Join(fixtures, file)))
	}
	for expr, want := range map[string][3]int{
		"":                                {48, 38, 8},
		"tcp":                             {48, 38, 8},
		"udp or icmp":                     {0, 0, 0},
		"ip6 and not tcp":                 {0, 0, 0},
		"src host 192.0.2.1":              {34, 20, 4},
		"host 192.0.2.1 and greater 1000": {18, 16, 1},
		"less 66":                         {16, 0, 4},
		"dst net 198.51.100.0/24":         {34, 20, 4},
		"src net 192.0.2":                 {34, 20, 4},
		"net 192.0.0.0 mask 255.255.0.0":  {48, 38, 8},
		"tcp src port 5001":               {14, 18, 0},
		"port 80 or 5001":                 {48, 38, 0},
		"tcp port 22 or 23 or 5001 and src host 192.0.2.1":   {34, 20, 0},
		"portrange 4000-6000":                                {48, 38, 8},
		"not port 5001":                                      {0, 0, 8},
		"not (src port 5001 or dst host 192.0.2.1)":          {34, 20, 4},
		"src or dst port 5001":                               {48, 38, 0},
		"src and dst net 192.0.0.0/8":                        {0, 0, 0},
		"host 192.0.2.1 or 198.51.100.2":                     {48, 38, 8},
		"src host 192.0.2.1 or dst port 5001 and less 100":   {16, 12, 3},
		"!(src port 5001||dst host 192.0.2.1)&&greater 1000": {18, 8, 1},
		"outbound":                     {0, 20, 0},
		"inbound and tcp":              {0, 18, 0},
		"tcp[tcpflags] & tcp-syn != 0": {2, 2, 3},
		"tcp[13] & (tcp-syn|tcp-fin) != 0 and not src host 192.0.2.1": {2, 2, 1},
		"(tcp[tcpflags] & tcp-push) == tcp-push":                      {12, 16, 1},
		"ip[2:2] > 1000":                                              {18, 16, 1},
		"len > 100 and tcp":                                           {24, 16, 1},
		"ip proto 6":                                                  {48, 38, 8},
		"((ip[2:2] - ((ip[0]&0xf)<<2)) - ((tcp[12]&0xf0)>>2)) != 0":   {30, 16, 1},
		"tcp[2:2] = 5001 or tcp[0:2] = 5001":                          {48, 38, 0},
		"ip[8] < 64":                                                  {34, 18, 4},
		"! tcp[13] = 16":                                              {16, 20, 6},
		"icmp[icmptype] = icmp-unreach":                               {0, 0, 0},
		"tcp[4:4] % 2 = 0":                                            {18, 11, 4},
		"len - 14 = ip[2:2]":                                          {48, 0, 8},
	} {
		for n, c := range captures {
			if got := selected(t, c, expr); got != want[n] {
				t.Errorf("%s, %q: %d packets, want %d", files[n], expr, got, want[n])
			}
		}
	}
}

// TestFilterMore holds what tcpdump does otherwise or not at all: tags and extension headers hide nothing.
func TestFilterMore(t *testing.T) {
	for _, c := range []struct {
		file, expr string
		want       int
	}{
		{"bigtcp-ipv6.pcap", "tcp", 58},
		{"bigtcp-ipv6.pcap", "icmp6", 2},
		{"bigtcp-ipv6.pcap", "icmp", 0},
		{"bigtcp-ipv6.pcap", "ip6 host 2001:db8:1::1", 60},
		{"bigtcp-ipv6.pcap", "net 2001:db8::/32 and src 2001:db8:2::2 and tcp", 24},
		{"bigtcp-ipv6.pcap", "ip", 0},
		{"bigtcp-ipv6.pcap", "net 0.0.0.0/0", 0},
		{"bigtcp-ipv6.pcap", "net ::/0", 60},
		{"vlan.pcap", "tcp port 5001", 27},
		{"vlan.pcap", "vlan", 27},
		{"vlan.pcap", "vlan 100 and host 192.0.2.1", 27},
		{"vlan.pcap", "vlan 5", 0},
		{"qinq.pcap", "vlan 10", 27},
		{"base.pcap", "vlan", 0},
		{"base.pcap", "192.0.2.1", 27},
		{"base.pcap", "192.0.2.1 and tcp", 27},
		{"geneve.pcap", "udp", 0},
		{"geneve.pcap", "tcp port 5001", 27},
	} {
		if got := selected(t, readFile(t, filepath.Join(fixtures, c.file)), c.expr); got != c.want {
			t.Errorf("%s, %q: %d packets, want %d", c.file, c.expr, got, c.want)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"tpc":                       `column 1: "tpc" is not known here, did you mean "tcp"?`,
		"tcp prot 80":               `column 5: "prot" is not known here, did you mean "port"?`,
		"tcp port":                  `column 9: the filter ends behind "port"`,
		"port http":                 `column 6: port takes a number up to 65535, not "http"; names are not resolved`,
		"port 70000":                `column 6: port takes a number`,
		"port 80-90":                `column 6: port takes a number`,
		"portrange 90-80":           `column 11: portrange takes two numbers`,
		"portrange 90":              `column 11: portrange takes two numbers`,
		"host example.net":          `column 6: host takes an IPv4 or IPv6 address, not "example.net"; names are not resolved`,
		"src 80":                    `column 5: host takes an IPv4 or IPv6 address`,
		"dest host 192.0.2.1":       `column 1: "dest" is not known here, did you mean "dst"?`,
		"net 192.0.2.1/24":          `column 5: 192.0.2.1/24 has bits set behind its mask, did you mean 192.0.2.0/24?`,
		"net 192.0.2.0/33":          `column 5: net takes a network`,
		"net 10 mask 255.0.255.0":   `column 13: mask takes a network mask`,
		"tcp 80":                    `column 5: expected host, net, port or portrange between "tcp" and "80"`,
		"icmp port 80":              `column 11: icmp has no ports`,
		"(tcp":                      `column 5: the filter ends here, expected and, or, or ")"`,
		"tcp)":                      `column 4: ")" is not known here, expected and, or, or the end`,
		"tcp and":                   `column 8: the filter ends here, expected a protocol`,
		"not":                       `column 4: the filter ends here`,
		"tcp udp":                   `column 5: "udp" is not known here, expected and, or, or the end`,
		"tcp[tcpflags == tcp-syn":   `column 1: "tcp[tcpflags": expected a comparison such as tcp[tcpflags] & tcp-syn != 0`,
		"ip[0:3] = 5":               `expected a comparison`,
		"ip proto x":                `column 10: proto takes a number or a name, not "x"`,
		"ether host 192.0.2.1":      `column 12: ether host takes a hardware address`,
		"less":                      `column 5: expected a number up to`,
		"greater x":                 `column 9: expected a number up to`,
		"vlan 5000":                 `column 6: expected a number up to 4095`,
		"tcp & udp":                 `column 5: "&" is not known here`,
		"port 80 or http":           `column 12: "http" is not known here, expected a protocol`,
		strings.Repeat("(", 1000):   `more than 100 parentheses`,
		strings.Repeat("not ", 1e3): `more than 100 parentheses`,
	} {
		_, err := ParseFilter(expr)
		if syntax := (*FilterError)(nil); !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", expr, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for typed, want := range map[string]string{"pot": "port", "icpm": "icmp", "gretaer": "greater", "ip": "ip", "xyz": "", "q": "", "hsot": "host", strings.Repeat("p", 50): ""} {
		if got := nearest(typed, filterVocabulary()); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}

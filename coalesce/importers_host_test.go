package coalesce

import (
	"slices"
	"strings"
	"testing"

	"nettrace/source"
)

// What outputs of the whole host and of the link hold: values as "interface name" or, of tables, "key name cpu".
func TestHostOutputs(t *testing.T) {
	for _, c := range []struct {
		file, tool string
		count      int
		want       map[string]string
	}{
		{"udp.nstat.txt", "nstat", 393, map[string]string{" UdpRcvbufErrors": "2002334", " UdpInDatagrams": "1050258", " TcpExtTCPDelivered": "27"}},
		{"udp.nstat.json", "nstat", 393, map[string]string{" UdpRcvbufErrors": "2002334"}},
		{"udp.snmp.txt", "proc-net-snmp", 81, map[string]string{" UdpRcvbufErrors": "2002334", " TcpMaxConn": "absent"}},
		{"udp.netstat.txt", "proc-net-netstat", 0, map[string]string{" IpExtInOctets": "", " TcpExtTCPHPAcks": ""}},
		{"udp.stat.txt", "proc-stat", 14, map[string]string{"softirq 0": "", "ctxt 0": ""}},
		{"veth.ip-s-s-link.txt", "ip-s-link", 24, map[string]string{"lcv0 tx_dropped": "5336", "lcv0 tx_packets": "", "lcv0 mtu": "1500", "lcv0 carrier_changes": "2", "lcv0 rx_over_errors": "0"}},
		{"veth.ip-s-link.json", "ip-s-link", 14, map[string]string{"lcv0 tx_dropped": "5336", "lcv0 mtu": "1500"}},
		{"tc-s-qdisc.txt", "tc-qdisc", 10, map[string]string{"eth0 pfifo_fast 0: dropped": "0", "eth0 pfifo_fast 0: requeues": "1"}},
		{"vmstat-i.txt", "vmstat-i", 4, map[string]string{"irq17 em0 bge1 0": "2555941", "irq256 ix0:rxq0 0": "880021", "cpu0 timer 0": "9154"}},
		{"netstat-ibdn.txt", "netstat-i", 18, map[string]string{"ix0 rx_errors": "12", "ix0 rx_dropped": "7", "ix0 tx_dropped": "5", "lo0 tx_bytes": "5000"}},
		{"virtio.ethtool.txt", "ethtool", 4, map[string]string{"eth0 speed": "n/a", "eth0 full-duplex": "n/a", "eth0 auto-negotiation": "off", "eth0 link-detected": "on"}},
		{"ethtool-a.txt", "ethtool-a", 5, map[string]string{"eth0 rx": "on", "eth0 tx": "off", "eth0 rx-negotiated": "on"}},
		{"ethtool-a.json", "ethtool-a", 3, map[string]string{"eth0 rx": "on", "eth0 tx": "off", "eth0 autonegotiate": "on"}},
		{"ethtool-x.txt", "ethtool-x", 8, map[string]string{"eth0 rings": "4", "eth0 table-entries": "16", "eth0 table-entries 3": "4", "eth0 hash-toeplitz": "on", "eth0 hash-xor": "off"}},
		{"ethtool-n.txt", "ethtool-n", 2, map[string]string{" udp-ipv4 addresses": "on", " udp-ipv4 ports": "off"}},
	} {
		out := read(t, c.file)
		values := flat(out)
		if out.Tool != c.tool || c.count > 0 && len(values) != c.count {
			t.Errorf("%s: %s with %d values, want %s with %d", c.file, out.Tool, len(values), c.tool, c.count)
		}
		for name, want := range c.want {
			got, ok := values[name]
			switch {
			case want == "absent":
				if ok {
					t.Errorf("%s: %s is %s, want none", c.file, name, got)
				}
			case !ok || want != "" && got != want:
				t.Errorf("%s: %q is %q (%v), want %q", c.file, name, got, ok, want)
			}
		}
	}
}

func flat(o Output) map[string]string {
	values := map[string]string{}
	for _, i := range o.Interfaces {
		for _, s := range i.Settings {
			name := i.Name + " " + s.Name
			if s.Queue >= 0 {
				name += " " + Num(uint64(s.Queue)).String()
			}
			values[name] = s.Value.String()
		}
		for _, c := range i.Counters {
			values[i.Name+" "+c.Name] = Num(c.Value).String()
		}
	}
	if o.Table == nil {
		return values
	}
	for _, r := range o.Table.Rows {
		sum := uint64(0)
		for _, c := range r.Cells {
			sum += c.Value
		}
		values[strings.TrimSpace(r.Key+" "+r.Name)+" 0"] = Num(sum).String()
	}
	return values
}

// All ways in which a host tells its protocol counters tell the same.
func TestProtocolsAgree(t *testing.T) {
	nstat, snmp, netstat := flat(read(t, "udp.nstat.txt")), flat(read(t, "udp.snmp.txt")), flat(read(t, "udp.netstat.txt"))
	if len(snmp)+len(netstat) < 150 {
		t.Fatalf("%d and %d counters", len(snmp), len(netstat))
	}
	for _, some := range []map[string]string{snmp, netstat} {
		for name, value := range some {
			if name == " TcpRtoAlgorithm" || name == " TcpRtoMin" || name == " TcpRtoMax" || strings.Contains(name, "DefaultTTL") || name == " IpForwarding" || name == " TcpCurrEstab" {
				continue // nstat leaves out what is no count
			}
			if got, ok := nstat[name]; ok && got != value {
				t.Errorf("%s is %s, nstat says %s", name, value, got)
			}
		}
	}
}

// What the end of the input cut off is entered into the ledger, and a number that may be cut is left out.
func TestHostOutputsCut(t *testing.T) {
	for _, name := range []string{"udp.nstat.txt", "udp.nstat.json", "udp.snmp.txt", "udp.stat.txt", "veth.ip-s-s-link.txt", "veth.ip-s-link.json", "vmstat-i.txt", "netstat-ibdn.txt"} {
		text := fixture(t, "settings", name)
		whole := flat(read(t, name))
		for k := 6; k < 16; k++ {
			at := len(text) * k / 16
			if text[at-1] == '\n' {
				at--
			}
			outputs, ledger := readText(t, name, text[:at])
			if !slices.ContainsFunc(ledger.Entries(), func(e source.Entry) bool { return e.Name == "cut-input" }) && name != "veth.ip-s-s-link.txt" {
				t.Errorf("%s cut at %d of %d: no ledger entry", name, at, len(text))
			}
			for _, o := range outputs {
				for key, value := range flat(o) {
					if !strings.Contains(name, "stat.txt") && whole[key] != value {
						t.Errorf("%s cut at %d: %s is %s, whole %s", name, at, key, value, whole[key])
					}
				}
			}
		}
	}
}

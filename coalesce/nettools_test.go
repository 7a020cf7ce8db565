package coalesce

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/source"
)

// TestNetTools: ifconfig, old and new, and netstat -i tell the counters of /proc/net/dev under its names.
func TestNetTools(t *testing.T) {
	const modern = "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n" +
		"        inet 192.0.2.1  netmask 255.255.255.0  broadcast 192.0.2.255\n" +
		"        ether 02:00:00:00:00:01  txqueuelen 1000  (Ethernet)\n" +
		"        RX packets 476  bytes 46211 (45.1 KiB)\n" +
		"        RX errors 1  dropped 2  overruns 3  frame 4\n" +
		"        TX packets 312  bytes 34230 (33.4 KiB)\n" +
		"        TX errors 5  dropped 6 overruns 7  carrier 8  collisions 9\n" +
		"        device interrupt 19  base 0x2000\n\n" +
		"eth0:1: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n" +
		"        inet 192.0.2.2  netmask 255.255.255.0  broadcast 192.0.2.255\n\n"
	const old = "eth0      Link encap:Ethernet  HWaddr 02:00:00:00:00:01  \n" +
		"          inet addr:192.0.2.1  Bcast:192.0.2.255  Mask:255.255.255.0\n" +
		"          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n" +
		"          RX packets:476 errors:1 dropped:2 overruns:3 frame:4\n" +
		"          TX packets:312 errors:5 dropped:6 overruns:7 carrier:8\n" +
		"          collisions:9 txqueuelen:1000 \n" +
		"          RX bytes:46211 (45.1 KiB)  TX bytes:34230 (33.4 KiB)\n" +
		"          Interrupt:19 Base address:0x2000 \n\n"
	const short = "Kernel Interface table\n" +
		"Iface       MTU Met    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\n" +
		"eth0       1500   0      476      1      2      3      312      5      6      7 BMRU\n" +
		"eth0:1     1500   0       - no statistics available -                        BMRU\n"
	packets := map[string]uint64{"rx_packets": 476, "rx_errs": 1, "rx_drop": 2, "rx_fifo": 3, "tx_packets": 312, "tx_errs": 5, "tx_drop": 6, "tx_fifo": 7}
	all := map[string]uint64{"rx_bytes": 46211, "rx_frame": 4, "tx_bytes": 34230, "tx_carrier": 8, "tx_colls": 9}
	for name, n := range packets {
		all[name] = n
	}
	const foreign = "# uptime\n"
	for name, c := range map[string]struct {
		text, left string
		want       map[string]uint64
		ledger     int
	}{
		"new": {modern + foreign, foreign, all, 0}, "old": {old + foreign, foreign, all, 0}, "table": {short + foreign, foreign, packets, 0},
		"indented": {strings.ReplaceAll(old, "\neth0", "\n  eth0"), "", all, 0}, "without its title": {strings.SplitAfterN(short, "\n", 2)[1], "", packets, 0},
		"cut": {modern[:strings.Index(modern, "TX errors")+20], "", nil, 1}, "cut row": {short[:strings.Index(short, " BMRU")-20], "", map[string]uint64{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if SniffNetDev([]byte(c.text)) != source.Strong {
				t.Fatal("not recognised")
			}
			ledger := &source.Ledger{}
			l := source.NewLines(source.NewInput("t", strings.NewReader(c.text)), ledger)
			out, err := ReadNetDev(l, ledger)
			if err != nil || len(ledger.Entries()) != c.ledger {
				t.Fatalf("%v, ledger %+v", err, ledger.Entries())
			}
			got := map[string]uint64{}
			for _, i := range out.Interfaces {
				if i.Name != "eth0" {
					t.Errorf("interface %q", i.Name)
				}
				for _, n := range i.Counters {
					got[n.Name] = n.Value
				}
			}
			if diff := cmp.Diff(c.want, got); c.want != nil && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if left := string(l.Head(100)); left != c.left {
				t.Errorf("left behind: %q", left)
			}
		})
	}
	for _, bsd := range []string{"em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions=81249b<RXCSUM>\n", fmt.Sprintf("%-10s Mtu Network Address Ipkts\n", "Name")} {
		if SniffNetDev([]byte(bsd)) != source.No {
			t.Errorf("%q is taken for a command of Linux", bsd)
		}
	}
}

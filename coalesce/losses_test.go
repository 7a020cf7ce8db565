package coalesce

import (
	"slices"
	"strings"
	"testing"

	"nettrace/finding"
)

// Each driver has its own name for packets that found no room. A storm names the counter, whatever its name, and no larger
// ring or faster slot is advised while interrupts outnumber packets.
func TestStormNamesWhatOverflows(t *testing.T) {
	for _, c := range []struct{ driver, received, lost string }{
		{"igb", "rx_packets", "rx_no_buffer_count"},
		{"stmmac", "rx_pkt_n", "rx_buf_unav_irq"},
		{"stmmac", "rx_pkt_n", "mmc_rx_fifo_overflow"},
		{"macb", "rx_frames", "rx_resource_errors"},
		{"bcmgenet", "rx_pkts", "rbuf_ovflow_cnt"},
		{"mtk_eth_soc", "rx_packets", "rx_overflow"},
		{"mvpp2", "unicast_frames_received", "rx_fifo_overrun"},
		{"dpaa2", "[hw] rx frames", "[hw] rx nobuffer discards"},
		{"sfc", "port_rx_packets", "port_rx_nodesc_drops"},
		{"atlantic", "InPackets", "InDroppedDma"},
		{"qede", "rx_ucast_pkts", "no_buff_discards"},
		{"r8169", "rx_packets", "rx_missed"},
	} {
		h := recorded(t, map[string][]string{
			"ethtool-S-eth0":  nic(c.received, 40000, c.lost, 700000, "tx_packets", 100),
			"proc-interrupts": {interrupts(1000), interrupts(1821000)},
		})
		f := only(t, h, Storm(), nil)
		if f.Severity != finding.Critical || !strings.Contains(f.Summary, "while "+c.lost+" rises by 70,000/s") {
			t.Errorf("%s: %v %s", c.driver, f.Severity, f.Summary)
		}
		lost := append(RingOverrun().Run(h, nil), Missed().Run(h, nil)...)
		if len(lost) != 1 || !strings.Contains(lost[0].Summary, "700,000 of 740,000 packets") || len(lost[0].Advice) != 1 || !strings.Contains(lost[0].Advice[0].Text, "handle irq/storm first") {
			t.Errorf("%s: %+v", c.driver, lost)
		}
	}
}

// A share of packets that nobody counted is not known: the loss is told without one, and not as a warning.
func TestLossOfUncountedPacketsHasNoShare(t *testing.T) {
	f := only(t, recorded(t, map[string][]string{"ethtool-S-eth0": nic("rx_no_buffer_count", 700000, "a_frames", 5)}), RingOverrun(), nil)
	if _, told := f.Measure("lost_share"); told || f.Severity != finding.Notice || f.Effect.Share != 0 || !strings.Contains(f.Summary, "700,000 packets (how many came is not counted, 70,000/s)") {
		t.Errorf("%v %s %+v", f.Severity, f.Summary, f.Measures)
	}
}

// A larger backlog is no advice where one CPU does all the work.
func TestFullCPUIsSpreadBeforeItsBacklogGrows(t *testing.T) {
	for _, c := range []struct {
		name   string
		other  int // packets of the second CPU
		advice string
	}{{"one CPU", 10, "spread it first"}, {"two CPUs", 4000000, "netdev_max_backlog"}} {
		h := recorded(t, map[string][]string{"proc-softnet_stat": {softnet([3]int{0, 0, 0}, [3]int{0, 0, 0}), softnet([3]int{5000000, 30000, 0}, [3]int{c.other, 0, 0})}})
		if f := only(t, h, BacklogDrop(), nil); !strings.Contains(f.Advice[0].Text, c.advice) {
			t.Errorf("%s: %s", c.name, f.Advice[0].Text)
		}
	}
}

// Counters without rates are judged by no rule, which is said.
func TestUnjudgedCountersAreNamed(t *testing.T) {
	text := softnet([3]int{5000000, 0, 0}, [3]int{10, 0, 0})
	outs := func(names ...string) (list []Output) {
		for _, name := range names {
			read, _ := readText(t, name, text)
			list = append(list, read...)
		}
		return list
	}
	for _, c := range []struct {
		name    string
		outputs []Output
		options Options
		want    string
	}{
		{"one", outs("softnet.txt"), Options{}, "proc-softnet_stat: one snapshot"},
		{"two without a time", outs("a.txt", "b.txt"), Options{}, "the snapshots of proc-softnet_stat have no time"},
		{"two of known distance", outs("a.txt", "b.txt"), Options{Interval: 1e9}, ""},
		{"two whose names tell", outs("softnet-t0.txt", "softnet-t10.txt"), Options{}, ""},
		{"none", nil, Options{}, ""},
	} {
		texts := Unjudged(Join(c.outputs, c.options))
		if len(texts) > 1 || (c.want == "") != (len(texts) == 0) || !slices.ContainsFunc(append(texts, ""), func(s string) bool { return strings.HasPrefix(s, c.want) }) {
			t.Errorf("%s: %q", c.name, texts)
		}
	}
}

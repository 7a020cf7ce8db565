package coalesce

import (
	"math"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/kernel"
)

// Counters of many drivers, against the truths of their list: sums over the queues, and the busiest over the mean.

// queuesOf returns the packets of the queues of a direction, by the names of drivers.
func queuesOf(o Output, d kernel.Direction) map[int]uint64 {
	s := CounterSeries{}
	for _, c := range o.Interfaces[0].Counters {
		s.Counters = append(s.Counters, Counter{Name: c.Name, Change: Change{Last: Reading{Value: c.Value}}})
	}
	queues := map[int]uint64{}
	for _, c := range s.packets(d, true, -1) {
		q, _ := kernel.ParseQueueCounter(c.Name)
		queues[q.Queue] += c.Last.Value
	}
	return queues
}

func public(t *testing.T, name string) Output {
	t.Helper()
	outputs, _ := readFile(t, shared.Path(t, "data", "public-counters", name))
	if len(outputs) != 1 {
		t.Fatalf("%s: %d outputs", name, len(outputs))
	}
	return outputs[0]
}

func value(o Output, name string) uint64 {
	for _, i := range o.Interfaces {
		for _, c := range i.Counters {
			if c.Name == name {
				return c.Value
			}
		}
	}
	return 0
}

func TestPublicQueues(t *testing.T) {
	for _, c := range []struct {
		file      string
		direction kernel.Direction
		queues    int
		sum       uint64
		total     string // counter of the device that the sum equals
		skew      float64
	}{
		{"ethtool-S.bnx2x.ethq.txt", kernel.RX, 8, 0, "", 0},
		{"ethtool-S.bnxt_en.ethq.txt", kernel.RX, 12, 0, "", 0},
		{"ethtool-S.ena.ethq.txt", kernel.RX, 4, 0, "", 1.44},
		{"ethtool-S.i40e.goethtool01.txt", kernel.RX, 48, 2946091121154, "rx_packets", 1.79},
		{"ethtool-S.ixgbe.ethtool_exporter.txt", kernel.RX, 64, 207139908164, "rx_packets", 2.74},
		{"ethtool-S.mlx5_core.ethq.txt", kernel.RX, 16, 845320277, "rx_packets", 1.13},
		{"ethtool-S.mlx5_core.ethq.txt", kernel.TX, 16, 0, "", 1.81},
		{"ethtool-S.e1000e.ethq.txt", kernel.RX, 0, 0, "", 0},
		{"ethtool-S.tg3.ethq.txt", kernel.RX, 0, 0, "", 0},
		{"ethtool-S.virtio_net.ethq.txt", kernel.RX, 2, 0, "", 0},
	} {
		o := public(t, c.file)
		queues := queuesOf(o, c.direction)
		sum, most := uint64(0), uint64(0)
		for _, n := range queues {
			sum, most = sum+n, max(most, n)
		}
		skew := float64(most) * float64(len(queues)) / float64(max(1, sum))
		if len(queues) != c.queues || c.sum > 0 && sum != c.sum || c.total != "" && value(o, c.total) != sum || c.skew > 0 && math.Abs(skew-c.skew) > 0.006 {
			t.Errorf("%s %s: %d queues, sum %d (%s %d), busiest over mean %.3f; want %+v", c.file, c.direction, len(queues), sum, c.total, value(o, c.total), skew, c)
		}
	}
}

// Unicast packets alone, as the list has them for two drivers that count by kind.
func TestPublicUnicast(t *testing.T) {
	for file, want := range map[string]struct {
		sum  uint64
		skew float64
	}{"ethtool-S.bnx2x.ethq.txt": {1603125012, 1.27}, "ethtool-S.bnxt_en.ethq.txt": {122639312455, 1.02}} {
		var sum, most uint64
		n := 0
		for _, c := range public(t, file).Interfaces[0].Counters {
			if q, ok := kernel.ParseQueueCounter(c.Name); ok && q.Direction == kernel.RX && q.Counter == "ucast_packets" {
				sum, most, n = sum+c.Value, max(most, c.Value), n+1
			}
		}
		if skew := float64(most) * float64(n) / float64(max(1, sum)); sum != want.sum || math.Abs(skew-want.skew) > 0.006 {
			t.Errorf("%s: %d over %d queues, busiest over mean %.3f; want %+v", file, sum, n, skew, want)
		}
	}
}

// Losses where the list says that there are: and the same packets in two counters.
func TestPublicLosses(t *testing.T) {
	bnxt := public(t, "ethtool-S.bnxt_en.ethq.txt")
	discards := 0
	for _, c := range bnxt.Interfaces[0].Counters {
		if place, key := kernel.ParseLoss(c.Name); place == kernel.LossRing && key == "discards" && c.Value > 5e6 {
			discards++
		}
	}
	if discards != 12 {
		t.Errorf("bnxt_en: %d queues with discards, want all 12", discards)
	}
	ixgbe := public(t, "ethtool-S.ixgbe.ethtool_exporter.txt")
	ring := value(ixgbe, "rx_no_dma_resources")
	if lost := value(ixgbe, "rx_pkts_nic") - value(ixgbe, "rx_packets"); ring != 590843871 || lost != 590838585 {
		t.Errorf("ixgbe: %d without a descriptor, %d between NIC and host", ring, lost)
	}
	if place, _ := kernel.ParseLoss("rx_no_dma_resources"); place != kernel.LossRing {
		t.Errorf("rx_no_dma_resources is lost at %q", place)
	}
	i40e := public(t, "ethtool-S.i40e.goethtool01.txt")
	if value(i40e, "rx_crc_errors") != 201 || value(i40e, "port.rx_crc_errors") != 201 {
		t.Error("i40e: the CRC errors are not read")
	}
}

// Settings of many drivers and of three generations of ethtool.
func TestPublicSettings(t *testing.T) {
	for file, want := range map[string]map[string]string{
		"ethtool-c.be2net.netutils.txt":                  {"adaptive-rx": "on", "adaptive-tx": "on"},
		"ethtool-c.mlx4_en.netutils.txt":                 {"adaptive-rx": "on", "rx-frames": "44"},
		"ethtool-c.tg3.netutils.txt":                     {"rx-frames": "5"},
		"ethtool-c.hns3-ioctl.netdev-list.txt":           {"stats-block-usecs": "0", "cqe-mode-rx": "absent"},
		"ethtool-c.hns3-netlink-cqe-na.netdev-list.txt":  {"stats-block-usecs": "n/a", "cqe-mode-rx": "n/a"},
		"ethtool-c.hns3-netlink-cqe-off.netdev-list.txt": {"stats-block-usecs": "n/a", "cqe-mode-rx": "off", "cqe-mode-tx": "off"},
		"ethtool-c.usb-net-json.netdev-list.json":        {"rx-usecs": "15000", "rx-frames-low": "absent"},
	} {
		o := public(t, file)
		i := Interface{Dumps: []Dump{{Tool: o.Tool, Settings: o.Interfaces[0].Settings}}}
		for name, value := range want {
			if s, _ := i.Setting(o.Tool, name); s.Value.String() != value {
				t.Errorf("%s: %s is %s, want %s", file, name, s.Value, value)
			}
		}
	}
}

// What the kernel counts by CPU: rows of several widths, hexadecimal, columns by header.
func TestPublicTables(t *testing.T) {
	cell := func(o Output, key string, cpu int) uint64 {
		for _, r := range o.Table.Rows {
			for _, c := range r.Cells {
				if r.Key == key && c.CPU == cpu {
					return c.Value
				}
			}
		}
		return 0
	}
	if got := cell(public(t, "proc-softnet_stat.11col.node_exporter.txt"), "dropped", 1); got != 0x29 {
		t.Errorf("CPU 1 dropped %d, want 0x29", got)
	}
	strange := public(t, "proc-softnet_stat.strange-cpu.netutils.txt")
	squeezed := false
	for cpu := range 16 {
		squeezed = squeezed || cell(strange, "time_squeeze", cpu) == 0x2052
	}
	if !squeezed {
		t.Error("no CPU of the strange machine was squeezed 0x2052 times")
	}
	for file, cpus := range map[string]int{"proc-interrupts.ixgbe-24cpu.netutils.txt": 12, "proc-interrupts.tg3-be2net-mlx4.netutils.txt": 16, "proc-interrupts.igb-4cpu.netutils.txt": 4} { // by their headers
		if o := public(t, file); len(o.Table.CPUs) != cpus {
			t.Errorf("%s: %d CPUs, want %d", file, len(o.Table.CPUs), cpus)
		}
	}
	shared := public(t, "vmstat-i.freebsd-em-shared-irq.bsdrp.txt")
	found := false
	for _, r := range shared.Table.Rows {
		found = found || r.Key == "irq17" && r.Name == "em0 bge1"
	}
	if !found {
		t.Errorf("no shared interrupt irq17 among %d rows", len(shared.Table.Rows))
	}
}

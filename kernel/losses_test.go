package kernel

import "testing"

func TestParseLoss(t *testing.T) {
	for _, c := range []struct {
		name  string
		place LossPlace
		key   string
	}{
		{"rx_no_dma_resources", LossRing, "rx_no_dma_resources"},
		{"rx_no_buffer_count", LossRing, "rx_no_buffer_count"},
		{"[3]: rx_discards", LossRing, "discards"},
		{"queue_2_rx_empty_rx_ring", LossRing, "empty_rx_ring"},
		{"rx3_drops", LossRing, "drops"},
		{"rx7_dropped", LossRing, "dropped"},
		{"Rx Queue#0: pkts rx OOB", LossRing, "pkts rx OOB"},
		{"rx_no_buffers_posted[4]", LossRing, "no_buffers_posted"},
		{"rx_missed_errors", LossMissed, "rx_missed_errors"},
		{"rx_prio3_discards", LossMissed, "rx_prio3_discards"},
		{"rx_crc_errors_phy", LossWire, "rx_crc_errors_phy"},
		{"alloc_rx_page_failed", LossMemory, "alloc_rx_page_failed"},
		{"pps_allowance_exceeded", LossAllowance, "pps_allowance_exceeded"},
		{"rx_flow_control_xoff", PauseReceived, "rx_flow_control_xoff"},
		{"tx_pause_ctrl_phy", PauseSent, "tx_pause_ctrl_phy"},
		{"mac_stats.rx_missed_packets", LossMissed, "mac_stats.rx_missed_packets"},
		{"rx_resource_errors", LossRing, "rx_resource_errors"},
		{"rx_buf_unav_irq", LossRing, "rx_buf_unav_irq"},
		{"port_rx_nodesc_drops", LossRing, "port_rx_nodesc_drops"},
		{"[hw] rx nobuffer discards", LossRing, "[hw] rx nobuffer discards"},
		{"rx_overruns", LossMissed, "rx_overruns"},
		{"mmc_rx_fifo_overflow", LossMissed, "mmc_rx_fifo_overflow"},
		{"iflib.txq3.r_drops", LossTransmit, "r_drops"},
		{"rx_queue_0_drops", NoLoss, ""}, // veth: also what XDP drops
		{"rx_cache_empty", NoLoss, ""},   // not a loss, nor are the next two
		{"fdir_miss", NoLoss, ""},
		{"rx_csum_offload_errors", NoLoss, ""},
		{"rx_packets", NoLoss, ""},
		{"_allowance", NoLoss, ""},
	} {
		if place, key := ParseLoss(c.name); place != c.place || key != c.key {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, place, key, c.place, c.key)
		}
	}
}

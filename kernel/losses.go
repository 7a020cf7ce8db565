package kernel

import "strings"

// LossPlace is where a driver's counter says that packets were lost or held up.
type LossPlace string

const (
	NoLoss        LossPlace = ""
	LossWire      LossPlace = "wire"           // damaged on the cable, in the connector or the transceiver
	LossMissed    LossPlace = "packet buffer"  // the NIC's own buffer was full: the bus or the host was too slow
	LossRing      LossPlace = "ring"           // no receive descriptor: the CPU was too slow, or the ring is small
	LossMemory    LossPlace = "memory"         // no memory for receive buffers
	LossAllowance LossPlace = "allowance"      // over the cloud's limit of packets, bandwidth or connections
	LossTransmit  LossPlace = "transmit"       // in sending
	PauseReceived LossPlace = "pause received" // the other end of the cable makes this host wait: no loss
	PauseSent     LossPlace = "pause sent"     // this host makes the other end wait: it cannot keep up
)

// AtReceiver reports whether packets are lost there on their way in.
func (p LossPlace) AtReceiver() bool {
	switch p {
	case LossWire, LossMissed, LossRing, LossMemory, LossAllowance:
		return true
	}
	return false
}

type lossName struct {
	name  string // whole, or with a trailing or leading * for the rest
	place LossPlace
}

// lossNames lists counters of ethtool -S and of the kernel by what their rise means. Sources: the drivers' statistics
// tables (ixgbe, igb, e1000e, i40e, mlx4_en, mlx5_core, bnxt_en, tg3, bnx2, be2net, ena, gve, vmxnet3, virtio_net; of
// single chips stmmac, macb, bcmgenet, bcmsysport, mtk_eth_soc, mvpp2, dpaa2, sfc, atlantic, qede) and
// include/uapi/linux/if_link.h. Names of queues' counters are the rest that ParseQueueCounter returns.
func lossNames() []lossName {
	return []lossName{
		{"rx_crc_errors", LossWire}, {"rx_crc_errors_phy", LossWire}, {"rx_symbol_err_phy", LossWire}, {"rx_symbol_error", LossWire}, {"align_errors", LossWire},
		{"rx_align_errors", LossWire}, {"rx_frame_errors", LossWire}, {"rx_fcs_errors", LossWire}, {"port.rx_crc_errors", LossWire}, {"port.illegal_bytes", LossWire},
		{"rx_jabber_errors", LossWire}, {"rx_in_range_len_errors_phy", LossWire}, {"rx_frame", LossWire}, {"rx_fragments", LossWire}, {"rx_jabbers", LossWire},
		{"rx_missed_errors", LossMissed}, {"rx_missed", LossMissed}, {"rx_fifo_errors", LossMissed}, {"rx_discards_phy", LossMissed}, {"port.rx_dropped", LossMissed},
		{"port.rx_discards", LossMissed}, {"rx_fw_discards", LossMissed}, {"mbuf_lwm_thresh_hit", LossMissed}, {"rx_prio*_discards", LossMissed},
		{"rx_no_dma_resources", LossRing}, {"rx_no_buffer_count", LossRing}, {"rx_out_of_buffer", LossRing}, {"rxbds_empty", LossRing}, {"rx_discards", LossRing},
		{"rx_drops_no_frags", LossRing}, {"rx_ring_overflow", LossRing}, {"discards", LossRing}, {"empty_rx_ring", LossRing}, {"no_buffers_posted", LossRing},
		{"pkts rx OOB", LossRing}, {"ring full", LossRing}, {"queue_drop_cnt", LossRing}, {"rx_out_of_buffer_count", LossRing},
		{"alloc_rx_page_failed", LossMemory}, {"alloc_rx_buff_failed", LossMemory}, {"rx_alloc_buff_failed", LossMemory}, {"rx_alloc_page_failed", LossMemory},
		{"rx_buff_alloc_err", LossMemory}, {"buff_alloc_err", LossMemory}, {"page_alloc_fail", LossMemory}, {"rx_drops_no_skbs", LossMemory}, {"rx buf alloc fail", LossMemory},
		{"rx_alloc_fail", LossMemory}, {"skb_alloc_fail", LossMemory},
		{"rx_resource_errors", LossRing}, {"rx_buf_unav_irq", LossRing}, {"rx_missed_cntr", LossRing}, {"rdma_ovflow_cnt", LossRing}, {"rx_nodesc_drop_cnt", LossRing}, // macb, stmmac, bcmsysport, sfc
		{"rx_nodesc_drops", LossRing}, {"port_rx_nodesc_drops", LossRing}, {"InDroppedDma", LossRing}, {"no_buff_discards", LossRing}, {"[hw] rx nobuffer discards", LossRing}, // sfc, atlantic, qede, dpaa2
		{"rx_overruns", LossMissed}, {"rx_overflow", LossMissed}, {"port_rx_overflow", LossMissed}, {"rx_fifo_overrun", LossMissed}, {"rx_ppv2_overrun", LossMissed}, // macb, mtk_eth_soc, sfc, mvpp2
		{"rx_overflow_cntr", LossMissed}, {"rx_overflow_irq", LossMissed}, {"rx_gmac_overflow", LossMissed}, {"mmc_rx_fifo_overflow", LossMissed}, {"rbuf_ovflow_cnt", LossMissed}, // stmmac, bcmgenet
		{"brb_discards", LossMissed}, {"brb_truncates", LossMissed},
		{"rx_frame_check_sequence_errors", LossWire}, {"rx_alignment_errors", LossWire}, {"mmc_rx_crc_error", LossWire}, {"mmc_rx_align_error", LossWire}, {"bad_crc_event", LossWire},
		{"mmc_rx_pause_frames", PauseReceived}, {"mmc_tx_pause_frame", PauseSent},
		{"mac_stats.rx_missed_packets", LossMissed}, {"mac_stats.missed_packets", LossMissed}, {"mac_stats.recv_no_buff", LossRing}, {"mac_stats.crc_errs", LossWire}, // FreeBSD's sysctl
		{"mac_stats.rec_len_errs", LossWire}, {"r_drops", LossTransmit}, {"discarded", LossRing},
		{"*_allowance_exceeded", LossAllowance},
		{"tx_timeout", LossTransmit}, {"tx_timeout_count", LossTransmit}, {"tx_queue_dropped", LossTransmit}, {"tx_aborted_errors", LossTransmit}, {"tx_carrier_errors", LossTransmit},
		{"rx_flow_control_xon", PauseReceived}, {"rx_flow_control_xoff", PauseReceived}, {"rx_pause_ctrl_phy", PauseReceived}, {"rx_xoff_pause_rcvd", PauseReceived},
		{"rx_xon_pause_rcvd", PauseReceived}, {"rx_pause_frames", PauseReceived}, {"port.link_xoff_rx", PauseReceived}, {"rx_pause", PauseReceived},
		{"tx_flow_control_xon", PauseSent}, {"tx_flow_control_xoff", PauseSent}, {"tx_pause_ctrl_phy", PauseSent}, {"tx_xoff_sent", PauseSent}, {"tx_xon_sent", PauseSent},
		{"tx_pause_frames", PauseSent}, {"port.link_xoff_tx", PauseSent}, {"tx_pause", PauseSent},
	}
}

// ParseLoss says what a rise of a counter means. key names what is counted, without the queue: counters of one place
// and different keys may count the same packets.
func ParseLoss(name string) (place LossPlace, key string) {
	key = name
	if q, ok := ParseQueueCounter(name); ok {
		key = q.Counter
		if q.Direction == RX && key == "drops" && strings.HasPrefix(name, "rx") && !strings.HasPrefix(name, "rx_queue_") { // virtio_net
			return LossRing, key
		}
		if q.Direction == RX && key == "dropped" { // mlx4_en
			return LossRing, key
		}
	}
	for _, l := range lossNames() {
		if fitsName(l.name, key) || fitsName(l.name, name) {
			return l.place, key
		}
	}
	return NoLoss, ""
}

// fitsName matches a name against one with at most one *.
func fitsName(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

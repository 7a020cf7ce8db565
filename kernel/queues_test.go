package kernel

import "testing"

func TestParseQueueCounter(t *testing.T) {
	for name, want := range map[string]QueueCounter{
		"rx_queue_11_packets":       {RX, 11, "packets"},          // ixgbe
		"tx_queue_0_bytes":          {TX, 0, "bytes"},             //
		"rx_queue_3_xdp_packets":    {RX, 3, "xdp_packets"},       // veth
		"rx-0.packets":              {RX, 0, "packets"},           // i40e
		"tx-47.tx_packets":          {TX, 47, "tx_packets"},       // older i40e
		"rx5_packets":               {RX, 5, "packets"},           // mlx4_en, mlx5_core
		"tx3_1_packets":             {TX, 3, "packets"},           // mlx5_core with traffic classes
		"tx15_stopped":              {TX, 15, "stopped"},          //
		"[7]: rx_ucast_packets":     {RX, 7, "ucast_packets"},     // bnxt_en
		"queue_2_rx_cnt":            {RX, 2, "cnt"},               // ena
		"queue_2_tx_bytes":          {TX, 2, "bytes"},             //
		"rxq0: rx_pkts":             {RX, 0, "pkts"},              // be2net
		"rx_no_buffers_posted[3]":   {RX, 3, "no_buffers_posted"}, // gve
		"Rx Queue#1: ucast pkts rx": {RX, 1, "ucast pkts rx"},     // vmxnet3
		"queue3.rx_packets":         {RX, 3, "packets"},           // ix of FreeBSD
		"iflib.txq07.r_drops":       {TX, 7, "r_drops"},           //
		"ch4_events":                {Both, 4, "events"},          // mlx5_core
	} {
		if got, ok := ParseQueueCounter(name); !ok || got != want {
			t.Errorf("%s is read as %+v, %v; want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"rx_packets", "rx_64_or_less_octet_packets", "rx_prio_0", "rx_queue_", "rx_queue_1_", "rx", "", "tx_single_collisions", "vport_rx_packets", "rx_1024_to_1522_octet_packets"} {
		if got, ok := ParseQueueCounter(name); ok {
			t.Errorf("%q is read as a queue's: %+v", name, got)
		}
	}
}

package kernel

import "strings"

// Direction is the way of the packets that a queue, a counter or a vector is about, seen from the host.
type Direction string

// Both stands for a vector that serves a receive and a transmit queue, and for a counter of a channel.
const (
	NoDirection Direction = ""
	RX          Direction = "rx"
	TX          Direction = "tx"
	Both        Direction = "rxtx"
)

// QueueCounter is what the name of a driver's counter tells of the queue that it counts for.
type QueueCounter struct {
	Direction Direction
	Queue     int
	Counter   string // the rest of the name, in the driver's spelling: "packets", "ucast pkts rx"
}

// queuePattern is a way in which a driver names the counters of its queues: # stands for the queue's number, * for the
// counter. The first pattern that fits decides.
type queuePattern struct {
	pattern   string
	direction Direction
}

// queuePatterns lists the names that drivers give to the counters of their queues in ethtool -S.
func queuePatterns() []queuePattern {
	return []queuePattern{
		{"rx_queue_#_*", RX}, {"tx_queue_#_*", TX}, // ixgbe, igb, ice, fm10k, veth, virtio_net since 6.8
		{"rx-#.*", RX}, {"tx-#.*", TX}, // i40e, iavf, sfc
		{"rx#_*", RX}, {"tx#_#_*", TX}, {"tx#_*", TX}, // mlx4_en, mlx5_core (txN_TC_ with traffic classes), virtio_net
		{"[#]: rx_*", RX}, {"[#]: tx_*", TX}, {"[#]: tpa_*", RX}, // bnxt_en, bnx2x
		{"queue_#_rx_*", RX}, {"queue_#_tx_*", TX}, // ena
		{"rxq#: rx_*", RX}, {"txq#: tx_*", TX}, // be2net
		{"Rx Queue##: *", RX}, {"Tx Queue##: *", TX}, // vmxnet3, whose sections the importer puts before the name
		{"rx_*[#]", RX}, {"tx_*[#]", TX}, // gve
		{"queue#.rx_*", RX}, {"queue#.tx_*", TX}, {"queue_rx_#.*", RX}, {"queue_tx_#.*", TX}, // FreeBSD's sysctl: ix, igb, em
		{"iflib.rxq#.*", RX}, {"iflib.txq#.*", TX}, {"rxq.#.*", RX}, {"txq.#.*", TX}, // iflib, cxgbe
		{"ch#_*", Both}, // mlx5_core: events, polls and arms of a channel
	}
}

// ParseQueueCounter reads the name of an ethtool -S counter. ok is false for a counter of the whole device.
func ParseQueueCounter(name string) (c QueueCounter, ok bool) {
	if !strings.ContainsAny(name, "0123456789") {
		return c, false
	}
	for _, p := range queuePatterns() {
		if queue, rest, fits := fit(p.pattern, name); fits {
			return QueueCounter{p.direction, queue, rest}, true
		}
	}
	return c, false
}

// fit matches name against a pattern; where several # occur, the first is the queue.
func fit(pattern, name string) (queue int, rest string, ok bool) {
	queue = -1
	for len(pattern) > 0 {
		switch {
		case strings.HasPrefix(pattern, "##"): // a literal # and the number
			if !strings.HasPrefix(name, "#") {
				return 0, "", false
			}
			name, pattern = name[1:], pattern[1:]
			continue
		case pattern[0] == '#':
			n, digits := number(name)
			if digits == 0 {
				return 0, "", false
			}
			if queue < 0 {
				queue = n
			}
			name, pattern = name[digits:], pattern[1:]
		case pattern[0] == '*':
			end := len(name)
			if tail := pattern[1:]; tail != "" {
				if end = strings.LastIndexByte(name, tail[0]); end < 0 {
					return 0, "", false
				}
			}
			if end == 0 {
				return 0, "", false
			}
			name, rest, pattern = name[end:], name[:end], pattern[1:]
		case name == "" || name[0] != pattern[0]:
			return 0, "", false
		default:
			name, pattern = name[1:], pattern[1:]
		}
	}
	return queue, rest, name == ""
}

// number reads the digits at the beginning of s, at most six.
func number(s string) (n, digits int) {
	for digits < len(s) && digits < 6 && s[digits] >= '0' && s[digits] <= '9' {
		n = 10*n + int(s[digits]-'0')
		digits++
	}
	return n, digits
}

// PacketCounters returns the names under which drivers count the packets of a direction: each set is a whole count, its
// members are added, and the first set that a device has counts. For a queue they are the rest that ParseQueueCounter
// returns. Sources: locks-counters table of the drivers' ethtool -S names (ethq, netutils-linux and exporter samples), and the
// drivers' own tables of strings (qede, mvpp2, stmmac, bcmgenet, dpaa2, atlantic).
func PacketCounters(d Direction, ofQueue bool) [][]string {
	switch {
	case ofQueue && d == RX:
		return [][]string{{"packets"}, {"rx_packets"}, {"cnt"}, {"pkts"}, {"xdp_packets"},
			{"ucast_packets", "mcast_packets", "bcast_packets"}, {"ucast pkts rx", "mcast pkts rx", "bcast pkts rx"}}
	case ofQueue:
		return [][]string{{"packets"}, {"tx_packets"}, {"cnt"}, {"pkts"},
			{"ucast_packets", "mcast_packets", "bcast_packets"}, {"ucast pkts tx", "mcast pkts tx", "bcast pkts tx"}}
	case d == RX:
		return [][]string{{"rx_packets"}, {"port_rx_packets"}, {"rx_ucast_packets", "rx_mcast_packets", "rx_bcast_packets"},
			{"rx_unicast", "rx_multicast", "rx_broadcast"}, {"rx_total_frames"}, {"rx_frames"}, {"rx_ucast_pkts", "rx_mcast_pkts", "rx_bcast_pkts"},
			{"unicast_frames_received", "multicast_frames_received", "broadcast_frames_received"}, {"rx_pkt_n"}, {"rx_pkts"}, {"[hw] rx frames"}, {"InPackets"}, {"mac_stats.total_pkts_rcvd"}, {"mac_stats.total_pkts_recvd"}}
	default:
		return [][]string{{"tx_packets"}, {"port_tx_packets"}, {"tx_ucast_packets", "tx_mcast_packets", "tx_bcast_packets"},
			{"tx_unicast", "tx_multicast", "tx_broadcast"}, {"tx_total_frames"}, {"tx_frames"}, {"tx_ucast_pkts", "tx_mcast_pkts", "tx_bcast_pkts"},
			{"unicast_frames_sent", "multicast_frames_sent", "broadcast_frames_sent"}, {"tx_pkt_n"}, {"tx_pkts"}, {"[hw] tx frames"}, {"OutPackets"}, {"mac_stats.total_pkts_txd"}}
	}
}

// ByteCounters returns the names under which drivers count the bytes of a direction of the whole device.
func ByteCounters(d Direction) [][]string {
	return [][]string{{string(d) + "_bytes"}, {"port_" + string(d) + "_bytes"}, {string(d) + "_octets"}}
}

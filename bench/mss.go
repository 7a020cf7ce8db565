package bench

import (
	"fmt"

	"nettrace/unit"
)

// segmentSize is a usual largest segment (TCP) or datagram (UDP) with what makes it so.
type segmentSize struct {
	bytes int64
	why   string
}

// tcpSegments are the segment sizes of common paths, the most usual first: the MSS option counts IP and TCP headers of 20
// (IPv6: 40) and 20 bytes but no options (RFC 6691, RFC 9293 section 3.7.1); timestamps take 12 bytes of each segment
// (RFC 7323 section 3.2); 536 and 1220 hold without the option.
var tcpSegments = [...]segmentSize{
	{1448, "MTU 1500, TCP timestamps"},
	{1460, "MTU 1500, no timestamps"},
	{1428, "MTU 1500, IPv6, TCP timestamps"},
	{1440, "MTU 1500, IPv6, no timestamps"},
	{8948, "MTU 9000, TCP timestamps"},
	{8960, "MTU 9000, no timestamps"},
	{1220, "no MSS option, IPv6"},
	{536, "no MSS option"},
}

// udpSegments are the payloads of one unfragmented datagram.
var udpSegments = [...]segmentSize{{1472, "MTU 1500"}, {1452, "MTU 1500, IPv6"}, {8972, "MTU 9000"}, {8952, "MTU 9000, IPv6"}}

// multiple is a number of full segments at which a step lies.
type multiple struct {
	mss, full int64
	why       string
}

// multiple returns the segments at whose multiple the smaller size lies, or one byte below the larger.
func (st step) multiple() (multiple, bool) {
	for _, s := range segmentsOf(st.after[0]) {
		if full := st.sizes[0] / s.bytes; full > 0 && st.sizes[0]%s.bytes == 0 {
			return multiple{s.bytes, full, s.why}, true
		}
		if full := st.sizes[1] / s.bytes; full > 0 && st.sizes[1]%s.bytes == 1 {
			return multiple{s.bytes, full, s.why}, true
		}
	}
	return multiple{}, false
}

// text says where the larger size lies: "4,345 = 3 x 1,448 + 1 (MTU 1500, TCP timestamps)".
func (m multiple) text(sizes [2]int64) string {
	return fmt.Sprintf("%s = %d x %s + %s (%s)", unit.Count(sizes[1]), m.full, unit.Count(m.mss), unit.Count(sizes[1]-m.full*m.mss), m.why)
}

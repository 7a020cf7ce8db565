package datapath

import "encoding/binary"

// Segments cuts a super-segment into the segments that go to the wire, as TSO hardware and the kernel's own GSO do
// (net/ipv4/tcp_offload.c tcp_gso_segment and net/ipv4/af_inet.c inet_gso_segment of Linux 6.18): each has the headers of
// the whole; sequence numbers and the identifications of IPv4 count on; FIN and PSH are on the last only, CWR on the
// first only; lengths and checksums are each segment's own. A segment that fits is returned as it is, with its checksums.
func Segments(b []byte, mss int) ([][]byte, error) {
	v, err := ParseView(b)
	if err != nil {
		return nil, err
	}
	data := v.Payload()
	if mss < 1 {
		mss = max(1, len(data))
	}
	n := max(1, (len(data)+mss-1)/mss)
	list := make([][]byte, 0, n)
	arena := make([]byte, 0, n*v.payload+len(data))
	for at := 0; at == 0 || at < len(data); at += mss {
		piece := data[at:min(at+mss, len(data))]
		start := len(arena)
		arena = append(append(arena, v.Headers()...), piece...)
		s := arena[start:len(arena):len(arena)]
		c := v
		c.bytes = s
		c.SetSeq(v.Seq() + uint32(at))
		c.SetFlags(segmentFlags(v.Flags(), at == 0, at+mss >= len(data)))
		if v.version == 4 {
			binary.BigEndian.PutUint16(s[v.network+4:], v.ID()+uint16(len(list)))
		}
		c.SetLength()
		c.SetChecksums()
		list = append(list, s)
	}
	return list, nil
}

func segmentFlags(flags uint8, first, last bool) uint8 {
	if !first {
		flags &^= TCPCWR
	}
	if !last {
		flags &^= TCPFIN | TCPPSH
	}
	return flags
}

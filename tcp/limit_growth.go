package tcp

// Growth is how fast what a sender has in flight grew before the first loss, in round trips since its account began.
type Growth struct {
	FirstBytes   int64 `json:"first_bytes"`   // in flight at most, in the first round trip
	LargestBytes int64 `json:"largest_bytes"` // and in any
	LargestAfter int64 `json:"largest_after"` // round trips
	DoubledAfter int64 `json:"doubled_after"` // until it was twice the first: 1 or 2 where the bytes that ACKs acknowledge count, half of an ACK's degree where ACKs count; 0 if it never was
}

// note adds a round trip: n is how many there were before, most what was in flight.
func (g *Growth) note(n uint32, most uint64) {
	bytes := int64(most)
	if g.FirstBytes == 0 {
		g.FirstBytes = bytes
	}
	if bytes > g.LargestBytes {
		g.LargestBytes, g.LargestAfter = bytes, int64(n)
	}
	if g.DoubledAfter == 0 && bytes >= 2*g.FirstBytes {
		g.DoubledAfter = int64(n)
	}
}

package datapath

// socket is one end of the connection, with as much of TCP as an exchange without loss needs: bytes in order, an ACK at once
// when more than one MSS has arrived since the last one (Linux, __tcp_ack_snd_check), every data frame carrying the ACK.
type socket struct {
	link    *link
	app     *app
	traffic *traffic
	mss     int

	sent     uint64 // bytes sent
	received uint64 // bytes received in order
	unacked  int    // bytes received since the last ACK left
	pureACKs int64
}

// acksAtOnce reports whether bytes more have to be acknowledged before anything else happens.
func (t *socket) acksAtOnce(bytes int) bool { return t.unacked+bytes > t.mss }

// receive takes what a poll merged: the ACK leaves before the application is woken.
func (t *socket) receive(m merged) {
	if m.bytes == 0 {
		return
	}
	t.received += uint64(m.bytes)
	t.unacked += m.bytes
	if m.ackDue {
		t.pureACKs++
		t.transmit(0)
	}
	t.app.arrived(m.bytes)
}

// send gives a message to the link.
func (t *socket) send(bytes int) {
	s := segment(bytes, t.mss)
	for range s.segments {
		t.transmit(t.mss)
	}
	if s.remainder > 0 {
		t.transmit(s.remainder)
	}
}

func (t *socket) transmit(bytes int) {
	f := frame{seq: t.sent, ack: t.received, payload: uint32(bytes)}
	t.traffic.sent(f)
	t.link.send(f)
	t.sent += uint64(bytes)
	t.unacked = 0
}

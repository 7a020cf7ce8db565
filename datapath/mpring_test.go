package datapath

import (
	"testing"

	"pgregory.net/rapid"
)

// ringModel drives the ring's states as producers and a consumer would, in steps of the size of one swap of the word, and
// keeps what was reserved, published and consumed beside it.
type ringModel struct {
	t        *rapid.T
	size     int
	abdicate bool
	state    RingState
	reserved []uint16 // ends of reservations that are not published, oldest first
	put, got int      // items published and consumed
	pending  int      // items reserved and not published
	draining bool     // a consumer is inside the ring
}

func (m *ringModel) reserve() {
	n := rapid.IntRange(1, m.size).Draw(m.t, "items")
	next, ok := m.state.Reserve(n, m.size)
	if free := m.size - 1 - m.pending - (m.put - m.got); ok != (n < free) {
		m.t.Fatalf("%d items with room for %d: %v", n, free, ok)
	}
	if ok {
		m.state, m.pending = next, m.pending+n
		m.reserved = append(m.reserved, next.Head)
	}
}

func (m *ringModel) publish() {
	if len(m.reserved) == 0 {
		return
	}
	tail := m.reserved[0]
	n := (int(tail) - int(m.state.Tail) + m.size) % m.size
	before := m.state
	next, drain := m.state.Publish(tail, m.abdicate)
	m.reserved, m.state, m.pending, m.put = m.reserved[1:], next, m.pending-n, m.put+n
	if drain {
		if m.draining || m.abdicate {
			m.t.Fatalf("%+v: a producer is told to drain beside another", before)
		}
		m.draining = true
	}
}

func (m *ringModel) consume() {
	waiting := (int(m.state.Tail) - int(m.state.Consumer) + m.size) % m.size
	if !m.draining || waiting == 0 {
		return
	}
	n := rapid.IntRange(0, waiting).Draw(m.t, "done")
	consumer := advance(m.state.Consumer, n, m.size)
	m.got += n
	if n == 0 {
		m.state = m.state.Stall(consumer)
	} else {
		m.state = m.state.Consumed(consumer, rapid.Bool().Draw(m.t, "over budget"))
	}
	m.draining = m.state.Flag == RingBusy
}

func (m *ringModel) takeover() {
	next, ok := m.state.Takeover(rapid.Bool().Draw(m.t, "can drain"))
	if ok && m.draining {
		m.t.Fatalf("%+v: a second consumer", m.state)
	}
	if ok {
		m.state, m.draining = next, true
	}
}

// Property: whatever producers and consumers do, each item is drained once, at most one of them drains, the ring never holds
// more than its size, and what is left when all are gone is taken over by the next.
func TestRingStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &ringModel{t: t, size: rapid.IntRange(2, 40).Draw(t, "size"), abdicate: rapid.Bool().Draw(t, "abdicate")}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(*rapid.T) { m.reserve() }, "publish": func(*rapid.T) { m.publish() },
			"consume": func(*rapid.T) { m.consume() }, "takeover": func(*rapid.T) { m.takeover() },
			"": func(t *rapid.T) {
				held := (int(m.state.Tail) - int(m.state.Consumer) + m.size) % m.size
				if held != m.put-m.got || m.got > m.put || m.put-m.got+m.pending > m.size-1 {
					t.Fatalf("%+v: holds %d, %d published, %d drained, %d reserved", m.state, held, m.put, m.got, m.pending)
				}
				if m.draining != (m.state.Flag == RingBusy) {
					t.Fatalf("%+v, and draining is %v", m.state, m.draining)
				}
				if held > 0 && m.state.Flag == RingIdle {
					t.Fatalf("%+v: idle with items", m.state)
				}
			},
		})
	})
}

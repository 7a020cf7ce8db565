package datapath

import (
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var stress = flag.Duration("stress", 300*time.Millisecond, "how long producers of the transmit ring work against each other")

// packet is one that a producer numbered.
type packet struct{ producer, number int }

// TestTXRingUnderStress has 8 producers work against each other on a small ring that stalls now and then: every packet
// that was accepted comes out once, and those of a producer in their order. With -race and -stress it runs for longer.
func TestTXRingUnderStress(t *testing.T) {
	for _, abdicate := range []bool{false, true} {
		const producers = 8
		var out [producers]int // the next number of each, kept by the one consumer at a time
		var drained, wrong, inside, stalls atomic.Int64
		ring := NewTXRing(64, func(items []packet) int {
			if inside.Add(1) != 1 {
				wrong.Add(1)
			}
			defer inside.Add(-1)
			if drained.Load()%97 == 13 && stalls.Add(1)%3 != 0 {
				return 0
			}
			n := min(len(items), 7)
			for _, p := range items[:n] {
				if out[p.producer] != p.number {
					wrong.Add(1)
				}
				out[p.producer] = p.number + 1
				drained.Add(1)
			}
			return n
		})
		ring.Abdicate, ring.Budget = abdicate, 32
		var accepted [producers]int
		end := time.Now().Add(*stress)
		var all sync.WaitGroup
		for p := range producers {
			all.Go(func() {
				for n := 0; time.Now().Before(end); {
					batch := make([]packet, 1+n%5)
					for i := range batch {
						batch[i] = packet{p, n + i}
					}
					if ring.Enqueue(batch...) == nil {
						n += len(batch)
						accepted[p] = n
					} else {
						ring.CheckDrain()
						runtime.Gosched()
					}
					if abdicate {
						ring.CheckDrain()
					}
				}
			})
		}
		all.Wait()
		for ring.State().Consumer != ring.State().Tail {
			ring.CheckDrain()
		}
		total := 0
		for p := range producers {
			if out[p] != accepted[p] {
				t.Errorf("abdicate %v: producer %d has %d packets out of %d accepted", abdicate, p, out[p], accepted[p])
			}
			total += accepted[p]
		}
		if wrong.Load() > 0 || total == 0 {
			t.Errorf("abdicate %v: %d packets out of order or drained by two at once, of %d", abdicate, wrong.Load(), total)
		}
		t.Logf("abdicate %v: %d packets, %d stalls", abdicate, total, stalls.Load())
	}
}

// TestTXRingAgainstModel takes random steps on a ring and on a plain queue that has the same room: what is accepted, what
// comes out and when the ring is stalled are the same.
func TestTXRingAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(2, 40).Draw(t, "size")
		abdicate := rapid.Bool().Draw(t, "abdicate")
		room := 0 // of the hardware
		var out []int
		ring := NewTXRing(size, func(items []int) int {
			n := min(len(items), room)
			room -= n
			out = append(out, items[:n]...)
			return n
		})
		ring.Abdicate, ring.CanDrain = abdicate, func() bool { return room > 0 }
		next, queued := 0, 0 // the next item, and those accepted that are not out
		var want []int
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			before := len(out)
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				n := rapid.IntRange(1, 8).Draw(t, "items")
				items := make([]int, n)
				for i := range items {
					items[i] = next + i
				}
				fits := n < size-1-queued // the original wants one place more
				if err := ring.Enqueue(items...); (err == nil) != fits {
					t.Fatalf("%d items, %d queued in a ring of %d: %v", n, queued, size, err)
				}
				if fits {
					want = append(want, items...)
					next, queued = next+n, queued+n
				}
			case 1:
				room += rapid.IntRange(0, 20).Draw(t, "descriptors")
			case 2:
				ring.CheckDrain()
			}
			queued -= len(out) - before
			s := ring.State()
			if got := (int(s.Tail) - int(s.Consumer) + size) % size; got != queued || s.Head != s.Tail {
				t.Fatalf("%d items in the ring, expected %d; state %+v", got, queued, s)
			}
			if s.Flag == RingBusy || s.Flag == RingIdle && queued > 0 {
				t.Fatalf("nobody drains %d items: %+v", queued, s)
			}
		}
		for i := range out {
			if out[i] != want[i] {
				t.Fatalf("item %d is %d, expected %d", i, out[i], want[i])
			}
		}
	})
}

func BenchmarkTXRing(b *testing.B) {
	ring := NewTXRing(2048, func(items []packet) int { return len(items) })
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			for ring.Enqueue(packet{1, 2}) != nil {
				runtime.Gosched()
			}
		}
	})
}

package coalesce

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// watch reads a recording and returns the work in it, or nil.
func watch(t testing.TB, name, text string) (*Work, []source.Entry) {
	t.Helper()
	ledger := &source.Ledger{}
	reader := perf.NewScriptReader(source.NewLines(source.NewInput(name, strings.NewReader(text)), ledger), ledger)
	w := NewWorkWatcher(source.Pos{Source: name, Line: 1}, ledger)
	if err := perf.Each(reader, func(e *perf.Event) { perf.Show(e, []perf.Watcher{w.Event}) }); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	o := w.Work(unit.Second, 0)
	if o == nil {
		return nil, ledger.Entries()
	}
	return o.Work, ledger.Entries()
}

func recording(t *testing.T, name string) *Work {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(shared.Path(t, "data", "stacks"), name))
	if err != nil {
		t.Fatal(err)
	}
	w, _ := watch(t, name, string(text))
	if w == nil {
		t.Fatalf("%s shows no work", name)
	}
	return w
}

// The counts of the recordings, as perf printed them.
func TestWork(t *testing.T) {
	w := recording(t, "net-tracepoints.perf.txt")
	raised, runs, polls := int64(0), int64(0), int64(0)
	for _, s := range w.Softirqs {
		raised, runs = raised+s.Raised, runs+s.Runs
		if s.Runs > 0 && (s.Timed == 0 || s.Longest <= 0 || s.Time < s.Longest) {
			t.Errorf("%+v", s)
		}
	}
	for _, p := range w.Polls {
		sum := int64(0)
		for _, n := range p.Sizes {
			sum += n
		}
		if polls += p.Polls; sum != p.Polls || p.Budget != 64 {
			t.Errorf("%+v", p)
		}
	}
	if raised != 269 || runs != 269 || polls != 250 {
		t.Errorf("raised %d, runs %d, polls %d; want 269, 269, 250", raised, runs, polls)
	}
	received, queued, sent := int64(0), int64(0), int64(0)
	for _, d := range w.Devices {
		received, queued, sent = received+d.Received, queued+d.Queued, sent+d.Sent+d.Refused
	}
	if received != 318 || queued != 318 || sent != 318 {
		t.Errorf("received %d, queued %d, sent %d; want 318 each", received, queued, sent)
	}
	w = recording(t, "irq-handlers-g.perf.txt")
	handled, entered := int64(0), int64(0)
	for _, h := range w.Handlers {
		handled += h.Runs
		if h.Name == "" || h.Unhandled != 0 {
			t.Errorf("%+v", h)
		}
	}
	for _, s := range w.Softirqs {
		entered += s.Runs
	}
	if handled != 33 || entered != 288 {
		t.Errorf("handlers %d, softirqs %d; want 33, 288", handled, entered)
	}
}

const drops = `  swapper     0 [001]   963.607695:   skb:kfree_skb: skbaddr=0xffff8881565fd0e0 rx_sk=(nil) protocol=2048 location=tcp_v4_rcv+0x84 reason: TCP_OVERWINDOW
  swapper     0 [001]   963.607699:   skb:kfree_skb: skbaddr=0xffff8881565fd0e1 protocol=2048 location=udp_queue_rcv_one_skb+0x2d1 reason: SOCKET_RCVBUFF
  swapper     0 [001]   963.607702:   skb:kfree_skb: skbaddr=0xffff8881565fd0e2 protocol=2048 location=udp_queue_rcv_one_skb+0x2d1 reason: SOCKET_RCVBUFF
  swapper     0 [001]   963.607703: napi:napi_poll: napi poll on napi struct 0xffff888627c2d1c8 for device eth0 work 64 budget 64
  swapper     0 [001]   963.607704: napi:napi_poll: napi poll on napi struct 0xffff888627c2d1c8 for device eth0 work 0 budget 64
  swapper     0 [001]   963.607705: napi:napi_poll: napi poll on napi struct
  swapper     0 [001]   963.607706: irq:irq_handler_entry: irq=17 name=ehci_hcd:usb1
  swapper     0 [001]   963.607707: irq:irq_handler_exit: irq=17 ret=unhandled
  swapper     0 [001]   963.607708: net:net_dev_xmit: dev=eth0 skbaddr=0xffff888104febb00 len=66 rc=16
`

func TestWorkOfDrops(t *testing.T) {
	w, ledger := watch(t, "drops", drops)
	want := []WorkDrops{{"SOCKET_RCVBUFF", "udp_queue_rcv_one_skb+0x2d1", 2, w.Drops[0].Pos}, {"TCP_OVERWINDOW", "tcp_v4_rcv+0x84", 1, w.Drops[1].Pos}}
	if diff := cmp.Diff(want, w.Drops); diff != "" || w.Drops[0].Pos.Line != 2 {
		t.Errorf("%s, first at %v", diff, w.Drops[0].Pos)
	}
	if p := w.Polls[0]; p.Full != 1 || p.Empty != 1 || p.Packets != 64 || p.Sizes[0] != 1 || p.Sizes[7] != 1 {
		t.Errorf("%+v", p)
	}
	if h := w.Handlers[0]; h.Unhandled != 1 || h.Name != "ehci_hcd:usb1" {
		t.Errorf("%+v", h)
	}
	if d := w.Devices[0]; d.Refused != 1 || d.Sent != 0 {
		t.Errorf("%+v", d)
	}
	if k := slices.IndexFunc(ledger, func(e source.Entry) bool { return e.Name == "unreadable-tracepoint" && e.Count == 1 }); k < 0 {
		t.Errorf("ledger %+v", ledger)
	}
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var back Work
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*w, back); diff != "" {
		t.Error(diff)
	}
}

// Adding up allocates nothing for events of what is known.
func BenchmarkWork(b *testing.B) {
	w := NewWorkWatcher(source.Pos{}, &source.Ledger{})
	e := &perf.Event{Name: "napi:napi_poll", HasCPU: true, CPU: 1, Payload: []byte("napi poll on napi struct 0xffff888627c2d1c8 for device eth0 work 12 budget 64")}
	b.SetBytes(int64(len(e.Payload)))
	b.ReportAllocs()
	for b.Loop() {
		w.Event(e)
	}
}

func TestWorkAllocatesNothing(t *testing.T) {
	w := NewWorkWatcher(source.Pos{}, &source.Ledger{})
	for _, e := range []*perf.Event{
		{Name: "napi:napi_poll", HasCPU: true, Payload: []byte("napi poll on napi struct 0xffff888627c2d1c8 for device eth0 work 12 budget 64")},
		{Name: "irq:softirq_entry", HasCPU: true, HasTime: true, Payload: []byte("vec=3 [action=NET_RX]")},
		{Name: "net:netif_receive_skb", HasCPU: true, Payload: []byte("dev=eth0 skbaddr=0xffff888104febb00 len=66")},
		{Name: "irq:irq_handler_entry", HasCPU: true, Payload: []byte("irq=36 name=virtio1-req.0")},
		{Name: "skb:kfree_skb", HasCPU: true, Payload: []byte("skbaddr=0xffff8881 protocol=2048 location=tcp_v4_rcv+0x84 reason: TCP_OVERWINDOW")},
	} {
		w.Event(e)
		if n := testing.AllocsPerRun(100, func() { w.Event(e) }); n > 0 {
			t.Errorf("%s: %g allocations for an event", e.Name, n)
		}
	}
}

// FuzzWork: any recording gives a model whose sums hold.
func FuzzWork(f *testing.F) {
	f.Add(drops)
	f.Add("x 1 [000] 1.0: irq:softirq_entry: vec=3 [action=NET_RX]\nx 1 [000] 2.0: irq:softirq_exit: vec=3 [action=NET_RX]\n")
	f.Fuzz(func(t *testing.T, text string) {
		w, _ := watch(t, "fuzz", text)
		if w == nil {
			return
		}
		for _, p := range w.Polls {
			sum := int64(0)
			for _, n := range p.Sizes {
				sum += n
			}
			if sum != p.Polls || p.Empty > p.Polls || p.Full > p.Polls {
				t.Errorf("%+v", p)
			}
		}
		for _, s := range w.Softirqs {
			if s.Timed > s.Runs || s.Longest > s.Time && s.Timed > 0 {
				t.Errorf("%+v", s)
			}
		}
	})
}

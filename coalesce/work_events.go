package coalesce

import (
	"math/bits"
	"strings"

	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// Tracepoints of interrupts, softirqs, polls and packets in recordings of perf (include/trace/events/irq.h, napi.h, net.h
// and skb.h of Linux; the fields are read by name, since versions add some):
//
//	irq:irq_handler_entry: irq=36 name=virtio1-req.0          irq:irq_handler_exit: irq=36 ret=handled
//	irq:softirq_entry: vec=3 [action=NET_RX]                  irq:softirq_raise, irq:softirq_exit alike
//	napi:napi_poll: napi poll on napi struct 0xffff8881 for device eth0 work 2 budget 64
//	net:netif_receive_skb: dev=eth0 skbaddr=0xffff8881 len=16436      net:net_dev_queue alike
//	net:net_dev_xmit: dev=eth0 skbaddr=0xffff8881 len=66 rc=0
//	skb:kfree_skb: skbaddr=0xffff8881 protocol=2048 location=tcp_rcv_established+0x1a reason: TCP_OVERWINDOW
//
// skb:consume_skb is packets that were used, and ignored, as are the other events of these systems.

// maxWork bounds each list of a Work; further interrupts, devices and places are counted in the ledger.
const maxWork = 4096

// WorkWatcher adds up the tracepoints of one recording.
type WorkWatcher struct {
	ledger   *source.Ledger
	work     Work
	handlers map[handlerKey]int
	softirqs map[softirqKey]int
	polls    map[pollKey]int
	devices  map[string]int
	drops    map[dropKey]int
	running  map[softirqKey]unit.Nanos // when it was entered
}

type handlerKey struct {
	irq int64
	cpu int
}

type softirqKey struct {
	name string
	cpu  int
}

type pollKey struct {
	device string
	cpu    int
}

type dropKey struct{ reason, location string }

// NewWorkWatcher begins with a recording that begins at start.
func NewWorkWatcher(start source.Pos, ledger *source.Ledger) *WorkWatcher {
	return &WorkWatcher{ledger: ledger, work: Work{Pos: start, Handlers: []WorkHandler{}, Softirqs: []WorkSoftirq{}, Polls: []WorkPolls{}, Devices: []WorkDevice{}, Drops: []WorkDrops{}},
		handlers: map[handlerKey]int{}, softirqs: map[softirqKey]int{}, polls: map[pollKey]int{}, devices: map[string]int{}, drops: map[dropKey]int{}, running: map[softirqKey]unit.Nanos{}}
}

// Work returns what was seen, as an output of its host, or nil if that is nothing. Span and losses are the recording's.
func (w *WorkWatcher) Work(span unit.Nanos, lost int64) *Output {
	if !w.work.Any() {
		return nil
	}
	w.work.Span, w.work.Lost = span, lost
	w.work.sort()
	return &Output{Tool: "tracepoints", Pos: w.work.Pos, Work: &w.work}
}

// Event takes an event, and leaves all that are not of the network's work.
func (w *WorkWatcher) Event(e *perf.Event) {
	switch e.Name {
	case "irq:irq_handler_entry", "irq:irq_handler_exit":
		w.handler(e, e.Name == "irq:irq_handler_entry")
	case "irq:softirq_raise", "irq:softirq_entry", "irq:softirq_exit":
		w.softirq(e, strings.TrimPrefix(e.Name, "irq:softirq_"))
	case "napi:napi_poll":
		w.poll(e)
	case "net:netif_receive_skb", "net:net_dev_queue", "net:net_dev_xmit":
		w.packet(e, strings.TrimPrefix(e.Name, "net:"))
	case "skb:kfree_skb":
		w.drop(e)
	}
}

func (w *WorkWatcher) unreadable(e *perf.Event) {
	w.ledger.Add("unreadable-tracepoint", source.Warning, e.Pos, 1, "the fields of "+e.Name+" are not those of the kernel's print format; the event is left out of the network's work")
}

// full notes an interrupt, device or place that there is no room for.
func (w *WorkWatcher) full(e *perf.Event) {
	w.ledger.Add("too-much-work", source.Warning, e.Pos, 1, "more than 4,096 of the objects of "+e.Name+"; the rest is left out of the network's work")
}

func cpuOf(e *perf.Event) int {
	if e.HasCPU {
		return e.CPU
	}
	return AllCPUs
}

func (w *WorkWatcher) handler(e *perf.Event, entry bool) {
	irq, ok := perf.NumberField(e.Payload, "irq")
	if !ok {
		w.unreadable(e)
		return
	}
	key := handlerKey{irq, cpuOf(e)}
	k, known := w.handlers[key]
	if !known {
		if len(w.work.Handlers) == maxWork {
			w.full(e)
			return
		}
		k = len(w.work.Handlers)
		w.handlers[key] = k
		w.work.Handlers = append(w.work.Handlers, WorkHandler{IRQ: irq, CPU: key.cpu, Pos: e.Pos})
	}
	h := &w.work.Handlers[k]
	if entry {
		h.Runs++
		if h.Name == "" {
			name, _ := perf.Field(e.Payload, "name")
			h.Name = string(name[:min(len(name), 64)])
		}
	} else if ret, ok := perf.Field(e.Payload, "ret"); ok && string(ret) == "unhandled" {
		h.Unhandled++
	}
}

func (w *WorkWatcher) softirq(e *perf.Event, what string) {
	name, ok := perf.Field(e.Payload, "action")
	if !ok {
		w.unreadable(e)
		return
	}
	name = name[:min(len(name), 32)]
	k, known := w.softirqs[softirqKey{string(name), cpuOf(e)}]
	if !known {
		if len(w.work.Softirqs) == maxWork {
			w.full(e)
			return
		}
		key := softirqKey{string(name), cpuOf(e)}
		k = len(w.work.Softirqs)
		w.softirqs[key] = k
		w.work.Softirqs = append(w.work.Softirqs, WorkSoftirq{Name: key.name, CPU: key.cpu, Pos: e.Pos})
	}
	s := &w.work.Softirqs[k]
	key := softirqKey{s.Name, s.CPU}
	switch what {
	case "raise":
		s.Raised++
	case "entry":
		s.Runs++
		if e.HasTime && e.HasCPU {
			w.running[key] = e.Time
		}
	case "exit":
		began, running := w.running[key]
		if delete(w.running, key); running && e.HasTime && e.Time >= began {
			s.Timed++
			s.Time += e.Time - began
			if e.Time-began > s.Longest {
				s.Longest, s.Pos = e.Time-began, e.Pos
			}
		}
	}
}

func (w *WorkWatcher) poll(e *perf.Event) {
	device, ok := perf.Field(e.Payload, "device")
	work, okWork := perf.NumberField(e.Payload, "work")
	if !ok || !okWork || work < 0 {
		w.unreadable(e)
		return
	}
	device = device[:min(len(device), 32)]
	k, known := w.polls[pollKey{string(device), cpuOf(e)}]
	if !known {
		if len(w.work.Polls) == maxWork {
			w.full(e)
			return
		}
		key := pollKey{string(device), cpuOf(e)}
		k = len(w.work.Polls)
		w.polls[key] = k
		w.work.Polls = append(w.work.Polls, WorkPolls{Device: key.device, CPU: key.cpu, Sizes: []int64{}, Pos: e.Pos})
	}
	p := &w.work.Polls[k]
	budget, _ := perf.NumberField(e.Payload, "budget")
	p.Polls++
	p.Packets += work
	p.Budget = max(p.Budget, budget)
	if work == 0 {
		p.Empty++
	}
	if budget > 0 && work >= budget {
		p.Full++
	}
	for bin := min(bits.Len64(uint64(work)), 16); len(p.Sizes) <= bin; {
		p.Sizes = append(p.Sizes, 0)
	}
	p.Sizes[min(bits.Len64(uint64(work)), 16)]++
}

func (w *WorkWatcher) packet(e *perf.Event, what string) {
	name, ok := perf.Field(e.Payload, "dev")
	size, okSize := perf.NumberField(e.Payload, "len")
	if !ok || !okSize {
		w.unreadable(e)
		return
	}
	name = name[:min(len(name), 32)]
	k, known := w.devices[string(name)]
	if !known {
		if len(w.work.Devices) == maxWork {
			w.full(e)
			return
		}
		key := string(name)
		k = len(w.work.Devices)
		w.devices[key] = k
		w.work.Devices = append(w.work.Devices, WorkDevice{Name: key, Pos: e.Pos})
	}
	d := &w.work.Devices[k]
	switch what {
	case "netif_receive_skb":
		d.Received++
		d.ReceivedBytes += size
	case "net_dev_queue":
		d.Queued++
	default:
		if rc, _ := perf.NumberField(e.Payload, "rc"); rc != 0 {
			d.Refused++
			return
		}
		d.Sent++
		d.SentBytes += size
	}
}

func (w *WorkWatcher) drop(e *perf.Event) {
	location, ok := perf.Field(e.Payload, "location")
	if !ok {
		w.unreadable(e)
		return
	}
	reason, _ := perf.Field(e.Payload, "reason")
	if len(e.Stack) > 0 && len(location) > 2 && location[0] == '0' && location[1] == 'x' {
		if symbol := e.Stack[0].Symbol; symbol != "" { // an address that the stack names
			location = []byte(symbol)
		}
	}
	reason, location = reason[:min(len(reason), 64)], location[:min(len(location), 128)]
	k, known := w.drops[dropKey{string(reason), string(location)}]
	if !known {
		if len(w.work.Drops) == maxWork {
			w.full(e)
			return
		}
		key := dropKey{string(reason), string(location)}
		k = len(w.work.Drops)
		w.drops[key] = k
		w.work.Drops = append(w.work.Drops, WorkDrops{Reason: key.reason, Location: key.location, Pos: e.Pos})
	}
	w.work.Drops[k].Packets++
}

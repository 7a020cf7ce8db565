package coalesce

import (
	"cmp"
	"slices"

	"nettrace/source"
	"nettrace/unit"
)

// Work is what a recording of tracepoints shows of the work for the network: each interrupt, softirq and poll, not only
// their sums. It is bounded by the number of interrupts, CPUs, devices and places.
type Work struct {
	Pos      source.Pos    `json:"pos"` // where the recording begins
	Span     unit.Nanos    `json:"span_ns"`
	Lost     int64         `json:"lost"` // events, or chunks of them, that perf lost: all counts are too small
	Handlers []WorkHandler `json:"handlers"`
	Softirqs []WorkSoftirq `json:"softirqs"`
	Polls    []WorkPolls   `json:"polls"`
	Devices  []WorkDevice  `json:"devices"`
	Drops    []WorkDrops   `json:"drops"`
}

// WorkHandler is the runs of an interrupt's handlers on one CPU.
type WorkHandler struct {
	IRQ       int64      `json:"irq"`
	Name      string     `json:"name"`
	CPU       int        `json:"cpu"`
	Runs      int64      `json:"runs"`
	Unhandled int64      `json:"unhandled"` // that found nothing to do
	Pos       source.Pos `json:"pos"`
}

// WorkSoftirq is the runs of a softirq on one CPU.
type WorkSoftirq struct {
	Name    string     `json:"name"` // "NET_RX"
	CPU     int        `json:"cpu"`
	Raised  int64      `json:"raised"`
	Runs    int64      `json:"runs"`
	Timed   int64      `json:"timed"` // runs of which beginning and end are there
	Time    unit.Nanos `json:"time_ns"`
	Longest unit.Nanos `json:"longest_ns"`
	Pos     source.Pos `json:"pos"` // of the longest
}

// WorkPolls is the NAPI polls of one device on one CPU.
type WorkPolls struct {
	Device  string     `json:"device"` // "(no_device)" for backlogs and threaded queues
	CPU     int        `json:"cpu"`
	Budget  int64      `json:"budget"` // 0 on kernels before 4.8, which do not print it
	Polls   int64      `json:"polls"`
	Packets int64      `json:"packets"`
	Empty   int64      `json:"empty"` // polls without a packet
	Full    int64      `json:"full"`  // polls that used up their budget
	Sizes   []int64    `json:"sizes"` // polls with 0, 1, 2 to 3, 4 to 7, ... packets
	Pos     source.Pos `json:"pos"`   // of the first
}

// WorkDevice is the packets of one device.
type WorkDevice struct {
	Name          string     `json:"name"`
	Received      int64      `json:"received"` // packets given to the stack, after GRO
	ReceivedBytes int64      `json:"received_bytes"`
	Queued        int64      `json:"queued"` // given to the device's queueing discipline
	Sent          int64      `json:"sent"`   // taken by the driver
	SentBytes     int64      `json:"sent_bytes"`
	Refused       int64      `json:"refused"` // that the driver did not take (its ring was full)
	Pos           source.Pos `json:"pos"`
}

// WorkDrops is the packets that the kernel freed at one place for one reason, unlike those that were used.
type WorkDrops struct {
	Reason   string     `json:"reason"`   // "TCP_OVERWINDOW"; "" on kernels before 5.17
	Location string     `json:"location"` // symbol or address of the function
	Packets  int64      `json:"packets"`
	Pos      source.Pos `json:"pos"` // of the first
}

// Any reports whether the recording showed any work for the network.
func (w *Work) Any() bool {
	return len(w.Handlers)+len(w.Softirqs)+len(w.Polls)+len(w.Devices)+len(w.Drops) > 0
}

// sort puts what is most first.
func (w *Work) sort() {
	slices.SortStableFunc(w.Handlers, func(a, b WorkHandler) int {
		return cmp.Or(-cmp.Compare(a.Runs, b.Runs), cmp.Compare(a.IRQ, b.IRQ), cmp.Compare(a.CPU, b.CPU))
	})
	slices.SortStableFunc(w.Softirqs, func(a, b WorkSoftirq) int {
		return cmp.Or(-cmp.Compare(a.Runs, b.Runs), cmp.Compare(a.Name, b.Name), cmp.Compare(a.CPU, b.CPU))
	})
	slices.SortStableFunc(w.Polls, func(a, b WorkPolls) int {
		return cmp.Or(-cmp.Compare(a.Polls, b.Polls), cmp.Compare(a.Device, b.Device), cmp.Compare(a.CPU, b.CPU))
	})
	slices.SortStableFunc(w.Devices, func(a, b WorkDevice) int {
		return cmp.Or(-cmp.Compare(a.Received+a.Sent, b.Received+b.Sent), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(w.Drops, func(a, b WorkDrops) int {
		return cmp.Or(-cmp.Compare(a.Packets, b.Packets), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Location, b.Location))
	})
}

package bench

import (
	"nettrace/source"
	"nettrace/unit"
)

// Results are the runs of all sources of a bundle, in the order of reading: what the rules judge.
type Results struct {
	Runs []Run `json:"runs"`
}

// Run is one result of a benchmark. Sizes that the output does not tell are 0.
type Run struct {
	Pos   source.Pos `json:"pos"`   // of the result row
	Group int64      `json:"group"` // byte offset at which its output began; runs between which other text stood differ
	Tool  string     `json:"tool"`  // "netperf", "iperf3", "uperf", "ministat", "go", "numbers"
	Test  string     `json:"test"`  // as the tool's option names it: "TCP_RR"; "" where nothing tells
	Host  string     `json:"host"`  // the other end, as the output names it

	Unit    string  `json:"unit"` // "transactions/s", "10^6 bits/s": as printed, spelled in one way
	Rate    float64 `json:"rate"` // in Unit
	Seconds float64 `json:"seconds"`
	Partial bool    `json:"partial,omitempty"` // the result row is missing; Rate is the mean of the interim results

	Direction string   `json:"direction,omitempty"` // "reverse" where the data went from the server to the client
	Streams   int      `json:"streams,omitempty"`   // parallel connections, 0 where the output does not tell
	Summary   *Summary `json:"summary,omitempty"`   // of many runs, where the output tells no single ones; Rate is their mean

	// The single values of a long column that Summary tells of, in the order of reading, and how many each stands for.
	// They are not written: a reloaded result has the summary only.
	Values []float64 `json:"-"`
	Stride int       `json:"-"`

	Sizes   Sizes     `json:"sizes"`
	Sockets Sockets   `json:"sockets"`
	Local   *CPU      `json:"local_cpu,omitempty"`
	Remote  *CPU      `json:"remote_cpu,omitempty"`
	Receipt *Receipt  `json:"receipt,omitempty"`
	Interim []Interim `json:"interim,omitempty"`
	Missed  *Missed   `json:"confidence_missed,omitempty"`

	Settings  []Setting  `json:"settings,omitempty"` // options of the command line and of the banner
	Details   []Detail   `json:"details,omitempty"`  // what a verbose output adds
	Histogram *Histogram `json:"histogram,omitempty"`
}

// transactions is the unit of request/response tests.
const transactions = "transactions/s"

// megabits is the unit of what prints bits with prefixes that change from run to run: all of them are powers of ten.
const megabits = "10^6 bits/s"

// operationsUnit is uperf's unit: each write and each read counts, so that a transaction is two and more of them.
const operationsUnit = "operations/s"

// Summary is what is known of a set of values that are not printed, in the unit of the run.
type Summary struct {
	N      int     `json:"n"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"` // with N-1 below
}

// Sizes are what one call or one transaction moves, in bytes.
type Sizes struct {
	Request  int64 `json:"request"`
	Response int64 `json:"response"`
	Message  int64 `json:"message"`
}

// Sockets are the socket buffers in bytes, as the output gives them.
type Sockets struct {
	LocalSend  int64 `json:"local_send"`
	LocalRecv  int64 `json:"local_recv"`
	RemoteSend int64 `json:"remote_send"`
	RemoteRecv int64 `json:"remote_recv"`
}

// CPU is what a run cost one host.
type CPU struct {
	UtilPercent  float64 `json:"util_percent"`     // of all CPUs of the host
	DemandMicros float64 `json:"demand_us"`        // CPU time in microseconds for each DemandPer
	DemandPer    string  `json:"demand_per"`       // "KB" (1,024 bytes) or "transaction"; the two do not compare
	CPUs         int     `json:"cpus"`             // that utilisation, demand and rate imply together; 0 where they disagree
	Method       string  `json:"method,omitempty"` // netperf's letter for how utilisation was measured: "S" is /proc/stat
}

// Receipt is what arrived of a test whose sender does not wait for the receiver (UDP_STREAM).
type Receipt struct {
	SentMessages     int64   `json:"sent_messages"`
	SendErrors       int64   `json:"send_errors"`
	ReceivedMessages int64   `json:"received_messages"`
	Rate             float64 `json:"rate"` // in the run's Unit
	Seconds          float64 `json:"seconds"`
}

// Interim is the rate over one part of a run.
type Interim struct {
	Rate       float64    `json:"rate"` // in the run's Unit
	Length     unit.Nanos `json:"length_ns"`
	EndSeconds int64      `json:"end_s"`                // Unix time of its end; 0 where not printed
	EndNanos   unit.Nanos `json:"end_ns"`               // below the second
	Bytes      int64      `json:"bytes,omitempty"`      // moved in it, where printed
	Operations int64      `json:"operations,omitempty"` // done in it, where printed
	Datagrams  int64      `json:"datagrams,omitempty"`
	Lost       int64      `json:"lost_datagrams,omitempty"`
	Jitter     unit.Nanos `json:"jitter_ns,omitempty"` // 0 where it is not printed, or cannot be
	Pos        source.Pos `json:"pos"`
}

// Missed says that the confidence asked for was not reached: the widths of the intervals that were, in percent.
type Missed struct {
	ThroughputPercent float64 `json:"throughput_percent"`
	LocalCPUPercent   float64 `json:"local_cpu_percent"`
	RemoteCPUPercent  float64 `json:"remote_cpu_percent"`
}

// Setting is an option that a run was made with: {"-l", "60"}, {"first burst", "16"}, {"nodelay", ""}.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Detail is a further number of the output, under a snake_case name.
type Detail struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Histogram is a distribution of times.
type Histogram struct {
	Of   string `json:"of"`   // "request/response times"
	Bins []Bin  `json:"bins"` // those that hold something, ascending
}

// Bin counts the times from From on, below From + Width. The last bin, of 100 s and more, has no Width.
type Bin struct {
	From  unit.Nanos `json:"from_ns"`
	Width unit.Nanos `json:"width_ns"`
	Count int64      `json:"count"`
}

// Detail returns the value of the detail of that name, and whether the run has it.
func (r *Run) Detail(name string) (float64, bool) {
	for _, d := range r.Details {
		if d.Name == name {
			return d.Value, true
		}
	}
	return 0, false
}

// Setting returns the value of the setting of that name, and whether the run has it.
func (r *Run) Setting(name string) (string, bool) {
	for _, s := range r.Settings {
		if s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

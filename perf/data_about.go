package perf

import "fmt"

// Attr is what a recording tells of one of its events.
type Attr struct {
	Name      string // without modifiers
	Modifiers string
	Frequency uint64 // samples/s asked for, 0 where a period was
	Period    uint64 // events from one sample to the next, 0 where a frequency was asked for
	Samples   int64  // read up to now
}

// Rate says how the event was sampled.
func (a *Attr) Rate() string {
	if a.Frequency > 0 {
		return fmt.Sprintf("%d samples/s", a.Frequency)
	}
	return fmt.Sprintf("one sample in %d", a.Period)
}

// Attrs returns the recorded events in the order of the recording.
func (r *DataReader) Attrs() []Attr {
	list := make([]Attr, len(r.events.attrs))
	for i, a := range r.events.attrs {
		list[i] = Attr{Name: a.name, Modifiers: a.modifiers, Period: a.period, Samples: a.samples}
		if a.flags&flagFreq != 0 {
			list[i].Frequency, list[i].Period = a.period, 0
		}
	}
	return list
}

// Samples returns how many samples were read up to now.
func (r *DataReader) Samples() int64 { return r.counts.samples }

// SymbolFiles returns the files that gave names to functions of the recording.
func (r *DataReader) SymbolFiles() []string { return r.symbols.Used() }

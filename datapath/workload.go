package datapath

import (
	"fmt"
	"strconv"
	"strings"

	"nettrace/unit"
)

// Workload is what the applications do: the client sends requests and the server answers each with a response, as netperf
// TCP_RR does.
type Workload struct {
	Request  int        // bytes
	Response int        // bytes
	Depth    int        // requests outstanding
	Duration unit.Nanos // of the run
}

// Limits of a workload.
const (
	MaxMessage  = 65160 // bytes: 45 segments, what one TSO burst holds
	MaxDepth    = 64
	maxInFlight = ringFrames / 2 // frames: more than that in one direction could overrun a ring, and loss is not modelled
	maxDuration = 600 * unit.Second
)

// DefaultDuration is that of a netperf run.
const DefaultDuration = 10 * unit.Second

// ParseWorkload reads "rr:REQUEST,RESPONSE" or "rr:REQUEST,RESPONSE,DEPTH", sizes in bytes.
func ParseWorkload(text string) (Workload, error) {
	kind, sizes, _ := strings.Cut(text, ":")
	if kind != "rr" {
		return Workload{}, fmt.Errorf("workload %q is not known, expected rr:REQUEST,RESPONSE[,DEPTH]", text)
	}
	fields := strings.Split(sizes, ",")
	if len(fields) < 2 || len(fields) > 3 {
		return Workload{}, fmt.Errorf("workload %q has %d numbers, expected rr:REQUEST,RESPONSE[,DEPTH]", text, len(fields))
	}
	numbers := [3]int{2: 1}
	for i, field := range fields {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil {
			return Workload{}, fmt.Errorf("workload %q: %q is no number of bytes or requests", text, field)
		}
		numbers[i] = n
	}
	w := Workload{numbers[0], numbers[1], numbers[2], DefaultDuration}
	return w, w.Check()
}

// String returns the workload as ParseWorkload takes it.
func (w Workload) String() string {
	if w.Depth == 1 {
		return fmt.Sprintf("rr:%d,%d", w.Request, w.Response)
	}
	return fmt.Sprintf("rr:%d,%d,%d", w.Request, w.Response, w.Depth)
}

// Check reports what of the workload cannot be simulated.
func (w Workload) Check() error {
	switch {
	case w.Request < 1 || w.Request > MaxMessage:
		return fmt.Errorf("a request of %d bytes: expected 1 to %d, what one TSO burst holds", w.Request, MaxMessage)
	case w.Response < 1 || w.Response > MaxMessage:
		return fmt.Errorf("a response of %d bytes: expected 1 to %d, what one TSO burst holds", w.Response, MaxMessage)
	case w.Depth < 1 || w.Depth > MaxDepth:
		return fmt.Errorf("%d requests outstanding: expected 1 to %d", w.Depth, MaxDepth)
	case w.Duration <= 0 || w.Duration > maxDuration:
		return fmt.Errorf("a run of %v: expected up to %v", w.Duration, maxDuration)
	}
	return nil
}

// fits reports whether what is in flight is far from overrunning a ring.
func (w Workload) fits(mss int) error {
	if n := w.Depth * segment(max(w.Request, w.Response), mss).frames(); n > maxInFlight {
		return fmt.Errorf("%s has up to %d frames in flight: more than %d could overrun a ring, and loss is not modelled; lower the depth", w, n, maxInFlight)
	}
	return nil
}

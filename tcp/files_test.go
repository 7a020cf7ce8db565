package tcp

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/source"
)

const (
	fixtures = "../fixtures/pcap"
	bundle   = "../fixtures/bundles/rr-4345"
)

// judged is what the tracker makes of a capture file.
type judged struct {
	*Capture
	marks  []Mark // by record, from 0
	ledger source.Ledger
}

// read runs a capture file through a tracker.
func read(t testing.TB, path string) *judged {
	t.Helper()
	j := &judged{}
	for src, err := range source.Walk([]string{path}, nil, &j.ledger) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := pcap.NewReader(src.Input, &j.ledger)
		if err != nil {
			t.Fatal(err)
		}
		tracker := NewTracker(filepath.Base(path), Options{}, &j.ledger)
		var h pcap.Header
		for {
			p, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			h.Decode(p)
			j.marks = append(j.marks, tracker.Add(p, &h))
		}
		j.Capture = tracker.Finish()
	}
	return j
}

// flagged returns the frame numbers of the packets that carry a flag.
func (j *judged) flagged(f Flags) []int {
	frames := []int{}
	for i, m := range j.marks {
		if m.Flags&f != 0 {
			frames = append(frames, i+1)
		}
	}
	return frames
}

// rules are all rules of this package by name.
func rules() map[string]finding.On[*Capture] {
	all := map[string]finding.On[*Capture]{}
	for _, on := range everyRule() {
		all[on.Name] = on
	}
	return all
}

// measure returns the sum of a measure over the findings of a rule.
func measure(t testing.TB, c *Capture, rule, name string) float64 {
	t.Helper()
	on, ok := rules()[rule]
	if !ok {
		t.Fatalf("there is no rule %s", rule)
	}
	sum := 0.0
	for _, f := range on.Run(c, nil) {
		value, ok := f.Measure(name)
		if !ok {
			t.Fatalf("%s has no measure %s", rule, name)
		}
		sum += value
	}
	return sum
}

// everyRule lists the rules of this package about connections, and those about the capture itself.
func everyRule() []finding.On[*Capture] {
	return append(append(tcpRules(), udpRules()...), captureRules()...)
}

func tcpRules() []finding.On[*Capture] {
	return []finding.On[*Capture]{
		TSOSplit(), JustOverMSS(), StretchACK(), Retransmission(), SpuriousRetransmission(), Reordering(),
		DelayedACKStall(), ZeroWindow(), Timeout(), WindowFull(), NoWindowScale(), SlowHandshake(), Reset(), KeepAliveOnly(), LimitedBy(), PMTU(),
	}
}

func captureRules() []finding.On[*Capture] {
	return []finding.On[*Capture]{Duplicates(), AboveOffload(), Truncated(), ChecksumOffload(), Clock(), CaptureLoss()}
}

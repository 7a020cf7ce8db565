package diagnose

import (
	"context"
	"fmt"
	"os"
	"slices"

	"nettrace/analyze"
	"nettrace/datapath"
	"nettrace/finding"
	"nettrace/unit"
)

// Bounds of a recording that is replayed for a prediction: what is larger would take too long to read again.
const maxPredictedBytes = 8 << 20

// replayedWithin is how near the model has to come to the recording for a prediction to be made; the prediction's interval is
// wider (what-ifs of recordings that could be compared with another recording were off by up to 5 %).
const (
	replayedWithin = 0.10
	recordedError  = 0.15
)

// recordedChange is what the first advices of a rule come to in a replay.
type recordedChange struct {
	as      string   // with what the model has to give the recording; "" for as it was recovered
	changes []string // one for each advice, in their order
	what    string   // is predicted: exchange or transfer
	given   string   // what the advice leaves open, behind the unit
	differs string   // why there is no prediction if the changes change nothing

	needsPath bool // the gain is only there if the path takes more
}

// changesOf returns what to try of a recording that was replayed as it was.
func changesOf(f *finding.Finding, p *datapath.Playback) recordedChange {
	switch f.Rule {
	case "cross/stretch-ack":
		to := receiverIn(p)
		return recordedChange{as: "growth=acks", changes: []string{"growth=acks," + to + ".gro=off", "growth=bytes"}, what: "transfer", differs: "GRO at the receiver makes no difference to this transfer in the model"}
	case "cross/socket-buffer":
		to := receiverIn(p)
		return recordedChange{changes: []string{fmt.Sprintf("%s.receive-window=%d", to, min(2*windowIn(p), 1<<30))}, what: "transfer", given: " with twice the window", needsPath: true,
			differs: "twice the receive window makes no difference in the model, which has no send buffer"}
	}
	return recordedChange{changes: []string{"nodelay=on"}, what: "exchange", differs: "no write waits for an ACK in the model"}
}

// receiverIn names the end that most data went to.
func receiverIn(p *datapath.Playback) string {
	if p.Ends[0].Bytes > p.Ends[1].Bytes {
		return "server"
	}
	return "client"
}

// windowIn is the largest window that the receiver offered.
func windowIn(p *datapath.Playback) uint64 {
	if receiverIn(p) == "server" {
		return max(p.Ends[1].Window, 1)
	}
	return max(p.Ends[0].Window, 1)
}

// predictRecorded replays the cause's connection with what is advised. Without a capture that can be read again, or one that
// the model does not follow, there is no prediction.
func predictRecorded(ctx context.Context, t trial) ([]*finding.Prediction, string) {
	if n, ok := t.cause.Measure("nagle_stalls"); ok && n == 0 {
		return nil, "what holds the ACKs back is no algorithm of TCP that the model has"
	}
	path, why := t.capture()
	if why != "" {
		return nil, why
	}
	recordings, _, err := analyze.Recordings(ctx, path, analyze.Options{})
	if err != nil {
		return nil, err.Error()
	}
	var most *datapath.Recording
	for _, c := range recordings {
		if c.Key() == t.cause.Subject.Key && (most == nil || c.Exchanges.Count > most.Exchanges.Count) {
			most = c
		}
	}
	if most == nil {
		return nil, "the connection's data cannot be replayed"
	}
	base, err := most.Play(nil, "")
	if err != nil {
		return nil, err.Error()
	}
	return replayed(most, base, changesOf(t.cause, base), path)
}

// capture returns the capture among the evidence, or why it cannot be read again.
func (t trial) capture() (path, why string) {
	for _, e := range t.cause.Evidence {
		if kindOf(t.result, e.Source) != string(analyze.Capture) {
			continue
		}
		info, err := os.Stat(e.Source)
		switch {
		case err != nil || !info.Mode().IsRegular():
			return "", "the capture cannot be read a second time for a replay"
		case info.Size() > maxPredictedBytes:
			return "", fmt.Sprintf("the capture is larger than the %s that are replayed for a prediction; nettrace replay %s does it", unit.Bytes(maxPredictedBytes), e.Source)
		}
		return e.Source, ""
	}
	return "", "a replay needs a capture (tcpdump -s 128)"
}

// replayed plays a recording with each change. It has to come out as it was recorded before.
func replayed(c *datapath.Recording, base *datapath.Playback, change recordedChange, path string) (list []*finding.Prediction, why string) {
	of := func(x *datapath.Traffic) float64 {
		if change.what == "exchange" {
			return float64(x.ExchangeP50)
		}
		return float64(x.Duration)
	}
	as := &base.Baseline
	if change.as != "" {
		p, err := c.Play(nil, change.as)
		if err != nil {
			return nil, err.Error()
		}
		as = p.Changed
	}
	if !near(of(as), of(&base.Recorded), replayedWithin) {
		return nil, fmt.Sprintf("the model does not follow this recording: %v where %v were recorded, for %s", unit.Nanos(of(as)), unit.Nanos(of(&base.Recorded)), aOrAn(change.what))
	}
	for _, set := range change.changes {
		p, err := c.Play(nil, set)
		if err != nil {
			return nil, err.Error()
		}
		list = append(list, around(of(p.Changed)/float64(unit.Millisecond), recordedError, "ms/"+change.what+change.given,
			slices.Concat([]string{fmt.Sprintf("to see it: nettrace replay %s --connection %d --set %s", path, c.Number, set)}, p.Assumptions,
				[]string{fmt.Sprintf("%s of %s with %s; recorded %v, and the model gives %v of the recording itself; the interval allows for %s of error", figureName(change.what, &p.Recorded), c.Name(), set,
					unit.Nanos(of(&p.Recorded)), unit.Nanos(of(as)), unit.Percent(recordedError))})...))
	}
	if change.needsPath && base.RateMbps == 0 {
		list[0].High = max(list[0].High, of(&base.Recorded)/float64(unit.Millisecond))
		list[0].Assumptions = append(list[0].Assumptions, "the path has room: its rate is not seen in the recording, and one that is used up already leaves things as they are")
	}
	if near(list[0].Value*float64(unit.Millisecond), of(as), replayedWithin/10) {
		return nil, change.differs
	}
	return list, ""
}

// figureName says what is predicted.
func figureName(what string, recorded *datapath.Traffic) string {
	if what == "exchange" {
		return fmt.Sprintf("the median of %d exchanges", recorded.Exchanges)
	}
	return "from the first packet to the last"
}

func aOrAn(word string) string {
	if word == "exchange" {
		return "an " + word
	}
	return "a " + word
}

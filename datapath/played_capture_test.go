package datapath

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
)

// readCapture tracks the connections of a capture.
func readCapture(t rapid.TB, name string, content io.Reader) (*Recorder, *tcp.Capture) {
	t.Helper()
	var ledger source.Ledger
	in, err := pcap.NewReader(source.NewInput(name, content), &ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, tracker := NewRecorder(), tcp.NewTracker(name, tcp.Options{}, &ledger)
	var h pcap.Header
	for {
		p, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		h.Decode(p)
		if h.Fault != 0 {
			t.Fatalf("packet %d does not decode: fault %v", p.Record, h.Fault)
		}
		r.Add(p, &h, tracker.Add(p, &h))
	}
	for _, e := range ledger.Entries() {
		if e.Severity == source.Warning {
			t.Fatalf("the written capture is damaged: %+v", e)
		}
	}
	return r, tracker.Finish()
}

// measureOf returns a measure summed over all findings of a rule above info.
func measureOf(on finding.On[*tcp.Capture], c *tcp.Capture, measure string) (sum float64) {
	for _, f := range on.Run(c, nil) {
		v, _ := f.Measure(measure)
		sum += v
	}
	return sum
}

// loop plays a fixture with settings, writes the run as a capture and analyses that.
func loop(t rapid.TB, fixture, settings, place string) *tcp.Capture {
	t.Helper()
	f, err := os.Open("../fixtures/pcap/" + fixture + ".pcap")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, recorded := readCapture(t, fixture, f)
	p, err := r.Recordings(recorded)[0].Play(nil, settings)
	if err != nil {
		t.Fatalf("%s with %s: %v", fixture, settings, err)
	}
	var b bytes.Buffer
	if err := p.WriteCapture(&b, place, "test"); err != nil {
		t.Fatal(err)
	}
	_, c := readCapture(t, "written", &b)
	return c
}

// TestClosedLoop plays recordings with random settings, writes each run as a capture, and has the analysis find in it what
// the settings imply, and nothing that they do not: the stalls of Nagle and delayed ACKs, the remainders of TSO where they are
// packets of their own and where they hide, and ACKs stretched by GRO.
func TestClosedLoop(t *testing.T) {
	for range 2 { // 200 runs
		rapid.Check(t, closedLoop)
	}
}

func closedLoop(t *rapid.T) {
	place := rapid.SampledFrom([]string{"client", "server", "wire"}).Draw(t, "place")
	switch rapid.IntRange(0, 2).Draw(t, "story") {
	case 0:
		noDelay := rapid.Bool().Draw(t, "nodelay")
		settings := "nodelay=off"
		if noDelay {
			settings = "nodelay=on"
		}
		fixture := rapid.SampledFrom([]string{"nagle-wwr-stall", "nagle-wwr-nodelay"}).Draw(t, "recording")
		stalls := measureOf(tcp.DelayedACKStall(), loop(t, fixture, settings, place), "stalls")
		if noDelay != (stalls == 0) {
			t.Fatalf("%s with %s at %s: %g stalls", fixture, settings, place, stalls)
		}
	case 1:
		const mss, request = 1448, 4345
		segments := rapid.IntRange(1, 44).Draw(t, "gso-max-segs")
		c := loop(t, "rr-4345-sender", fmt.Sprintf("gso-max-segs=%d,gro=off", segments), place)
		visible, hidden := measureOf(tcp.TSOSplit(), c, "tails_visible"), measureOf(tcp.JustOverMSS(), c, "tails_hidden")
		rest := request % (segments * mss)
		apart := rest < mss || place != "client" // behind the sender's card each remainder is a packet of its own
		if apart != (visible > 0) || apart == (hidden > 0) {
			t.Fatalf("gso-max-segs=%d at %s: %g remainders seen, %g hidden", segments, place, visible, hidden)
		}
	case 2:
		gro := rapid.SampledFrom([]string{"on", "off"}).Draw(t, "gro")
		c := loop(t, "bulk-gro-receiver", "gro="+gro, place)
		stretched := measureOf(tcp.StretchACK(), c, "stretch_acks")
		if (gro == "on") != (stretched > 0) {
			t.Fatalf("gro=%s at %s: %g stretch ACKs", gro, place, stretched)
		}
	}
}

// TestWrittenCaptureIsTheRun reads back what was written: as many packets as the run has, with checksums right.
func TestWrittenCaptureIsTheRun(t *testing.T) {
	f, err := os.Open("../fixtures/pcap/rr-4345-sender.pcap")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, recorded := readCapture(t, "recording", f)
	p, err := r.Recordings(recorded)[0].Play(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.WriteCapture(&b, "", "test"); err != nil {
		t.Fatal(err)
	}
	again, c := readCapture(t, "written", bytes.NewReader(b.Bytes()))
	got := trafficOf(again.Recordings(c)[0].packets)
	if got != p.Baseline {
		t.Errorf("written %+v\nrun     %+v", got, p.Baseline)
	}
	if err := p.WriteCapture(&b, "nowhere", "test"); err == nil || !strings.Contains(err.Error(), "expected one of") {
		t.Errorf("a place that is none: %v", err)
	}
}

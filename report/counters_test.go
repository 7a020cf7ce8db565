package report

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/coalesce"
)

func countersOf(t *testing.T, dir string) []*coalesce.Host {
	t.Helper()
	r, errs := analyze.Inspect(context.Background(), []string{"../fixtures/counters/" + dir}, analyze.Options{})
	if len(errs) > 0 || len(r.Models.Hosts) == 0 {
		t.Fatalf("%s: %v, %d hosts", dir, errs, len(r.Models.Hosts))
	}
	return r.Models.Hosts
}

func TestCounters(t *testing.T) {
	var b bytes.Buffer
	if err := Counters(&b, countersOf(t, "f-napi-16flow"), false, Style{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"f-napi-16flow: 5.62 s, times from file name",
		"lcv1 565,015 1,497 4,103 66.5 - -",    // 3,174,257 packets in 5.62 s, 4,752,762,367 bytes
		"lcv1 rx 3 1,191,516 216,089 38 % - -", // of 3,174,257
		"tx_drop 5,336",
		"TcpRetransSegs 5,395",
		`5,336 packets were lost, 5,336 of them at the layer "ring" (tx_drop); 59 of 5,395 retransmissions were needless`,
		"balance of segments closes",
		"balance of queues closes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
	if strings.Contains(text, "tx_queue_0_xdp_xmit") {
		t.Error("a counter that did not change is listed")
	}
	b.Reset()
	if err := Counters(&b, countersOf(t, "f-napi-16flow"), true, Style{}); err != nil || !strings.Contains(b.String(), "tx_queue_0_xdp_xmit") {
		t.Errorf("with all, a counter that did not change is not listed: %v", err)
	}
}

// Interrupts and packets of one device: 80,000 interrupts/s for 30,000 packets/s, by queue where names tell.
func TestCountersPerInterrupt(t *testing.T) {
	var b bytes.Buffer
	if err := CountersJSON(&b, countersOf(t, "storm"), false); err != nil {
		t.Fatal(err)
	}
	var got struct{ Hosts []coalesce.Figures }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got.Hosts) != 1 || len(got.Hosts[0].Interfaces) != 1 {
		t.Fatalf("%v: %s", err, b.String())
	}
	i := got.Hosts[0].Interfaces[0]
	if i.PacketsPerInterrupt == nil || *i.PacketsPerInterrupt != 0.375 || i.InterruptsPerSecond == nil || *i.InterruptsPerSecond != 80000 {
		t.Errorf("%s", b.String())
	}
}

func TestBars(t *testing.T) {
	got := bars([]coalesce.Value{coalesce.Num(0), coalesce.Num(1), coalesce.Num(50), coalesce.Num(100), {State: coalesce.NotAvailable}})
	if got != "·▁▄█?" {
		t.Errorf("bars are %q", got)
	}
	long := make([]coalesce.Value, 240)
	for k := range long {
		long[k] = coalesce.Num(uint64(k / 120))
	}
	if got := bars(long); got != strings.Repeat("·", 20)+strings.Repeat("█", 20) {
		t.Errorf("240 steps are %q", got)
	}
	if got := bars(nil); got != "" {
		t.Errorf("no steps are %q", got)
	}
}

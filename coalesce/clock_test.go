package coalesce

import (
	"strings"
	"testing"
	"time"

	"nettrace/unit"
)

func TestClockLine(t *testing.T) {
	want := time.Date(2026, 11, 30, 16, 38, 15, 0, time.UTC)
	for _, line := range []string{"Mon Nov 30 16:38:15 UTC 2026", "zzz ***Mon Nov 30 16:38:15 UTC 2026", "### 2026-11-30 16:38:15 ###", "2026-11-30T16:38:15Z", "2026-11-30T17:38:15+01:00", "Mon, 30 Nov 2026 16:38:15 +0000",
		"[2026-11-30 16:38:15.000]", "Mon Nov 30 04:38:15 PM UTC 2026", "--- 20261130T163815.000Z"} {
		if got, ok := ClockLine([]byte(line)); !ok || !got.Equal(want) {
			t.Errorf("%q is %v (%v)", line, got, ok)
		}
	}
	for _, line := range []string{"", "16:38:15", "on Mon Nov 30 16:38:15 UTC 2026 it was", "rx_packets: 12", "2026-11-30", "           CPU0       CPU1"} {
		if got, ok := ClockLine([]byte(line)); ok {
			t.Errorf("%q is read as %v", line, got)
		}
	}
}

// A log of several readings in one file: its own times count, else --interval, and else there are no rates, although the
// name of the file has one.
func TestSeriesInOneFile(t *testing.T) {
	reading := func(packets string) string {
		return "NIC statistics:\n     rx_packets: " + packets + "\n     tx_packets: 1\n     rx_bytes: 2\n"
	}
	text := reading("100") + "\n" + reading("400") + "\n" + reading("1000")
	outputs, _ := readText(t, "log.eth0.20261130T163800.000Z.txt", text)
	if len(outputs) != 3 {
		t.Fatalf("%d outputs", len(outputs))
	}
	series := func(o Options) *CounterSeries { return Join(outputs, o)[0].Interfaces[0].Counters[0] }
	if s := series(Options{}); s.Timed() || s.Counters[0].Delta != 900 {
		t.Errorf("one name for three readings gives %v from %s", s.Span(), s.TimeFrom)
	}
	if s := series(Options{Interval: unit.Second}); s.Span() != 2*unit.Second || s.TimeFrom != TimeFromInterval {
		t.Errorf("with --interval %v from %s", s.Span(), s.TimeFrom)
	}
	start := time.Date(2026, 11, 30, 16, 38, 0, 0, time.UTC)
	for k := range outputs {
		outputs[k].At = start.Add(time.Duration(k*k) * time.Second)
	}
	s := series(Options{})
	if rate, ok := s.Counters[0].Rate(); s.TimeFrom != TimeFromContent || s.Span() != 4*unit.Second || !ok || rate != 225 {
		t.Errorf("with times in the text %v from %s, %g/s", s.Span(), s.TimeFrom, rate)
	}
}

func FuzzClockLine(f *testing.F) {
	f.Add("Mon Nov 30 16:38:15 UTC 2026")
	f.Add("### 2026-11-30T16:38:15Z")
	f.Fuzz(func(t *testing.T, line string) {
		if at, ok := ClockLine([]byte(line)); ok && (at.Year() <= 1990 || strings.Contains(line, "\n\n")) {
			t.Errorf("%q is %v", line, at)
		}
	})
}

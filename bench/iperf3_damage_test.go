package bench

import (
	"strings"
	"testing"
)

// A UDP run as iperf3 prints it, with room for what stands in the place of a number in line 3.
const udpRun = `{"start": {"version": "iperf 3.1.3", "test_start": {"protocol": "UDP", "num_streams": 1, "blksize": 250}},
"intervals": [
  {"sum": {"start": 0, "end": 1, "seconds": 1, "bytes": 250, "bits_per_second": 2000, "jitter_ms": 0.02, "lost_packets": 0, "packets": 1, "lost_percent": WORD}}],
"end": {"sum": {"start": 0, "end": 1, "seconds": 1, "bytes": 250, "bits_per_second": 2000, "jitter_ms": 0.02, "lost_packets": 0, "packets": 1, "lost_percent": 0}}}
`

// What C libraries print instead of a number is read over; anything else that is no JSON is told with its line and word.
func TestWordsInPlaceOfNumbers(t *testing.T) {
	for _, c := range []struct{ word, entry, says string }{
		{"-nan", "not-a-number", "nan or inf"},
		{"nan", "not-a-number", "nan or inf"},
		{"NaN", "not-a-number", "nan or inf"},
		{"-inf", "not-a-number", "nan or inf"},
		{"-nan(ind)", "not-a-number", "nan or inf"},
		{"nan(snan)", "not-a-number", "nan or inf"},
		{"-nan(", "bad-json", `"(}}],"`},
		{"n/a", "bad-json", `"n/a}}],"`},
		{"0,02", "bad-json", `"02}}],"`},
	} {
		runs, ledger := importText(t, "run.json", strings.Replace(udpRun, "WORD", c.word, 1))
		if len(ledger) != 1 || ledger[0].Name != c.entry || ledger[0].First.Line != 3 || !strings.Contains(ledger[0].Text, c.says) || strings.Contains(ledger[0].Text, "invalid character") {
			t.Errorf("%s: %+v", c.word, ledger)
		}
		if at := strings.Index(udpRun, `  {"sum"`); len(ledger) > 0 && ledger[0].First.Offset != int64(at) {
			t.Errorf("%s: at byte %d, not %d", c.word, ledger[0].First.Offset, at)
		}
		if want := c.entry == "not-a-number"; (len(runs) == 1) != want {
			t.Errorf("%s: %d runs", c.word, len(runs))
		}
	}
}

// A run that broke off has no result: not one of 0, and nothing to compare with.
func TestBrokenRunsAreRefused(t *testing.T) {
	whole := func(rate float64) Run { return Run{Tool: "iperf3", Test: "TCP", Unit: megabits, Rate: rate} }
	broken := whole(900)
	broken.Partial = true
	for _, c := range []struct {
		name                          string
		sets                          []Set
		samples, comparisons, refused int
	}{
		{"alone", []Set{{Label: "a", Runs: []Run{broken}}}, 0, 0, 1},
		{"beside a whole one", []Set{{Label: "a", Runs: []Run{broken, whole(910)}}}, 1, 0, 0},
		{"against whole ones", []Set{{Label: "a", Runs: []Run{broken}}, {Label: "b", Runs: []Run{whole(1), whole(2)}}}, 0, 0, 1},
		{"both", []Set{{Label: "a", Runs: []Run{broken}}, {Label: "b", Runs: []Run{broken}}}, 0, 0, 2},
	} {
		got := Compare(c.sets, CompareOptions{})
		if len(got.Samples) != c.samples || len(got.Comparisons) != c.comparisons || len(got.Refused) != c.refused {
			t.Errorf("%s: %d samples, %d comparisons, refused %+v", c.name, len(got.Samples), len(got.Comparisons), got.Refused)
		}
	}
}

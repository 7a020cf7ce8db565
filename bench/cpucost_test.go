package bench

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/finding"
)

func TestCPUCost(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"fires": {"netperf-cost-before.txt", "netperf-cost-after.txt", []string{
			"warning cpu-cost local TCP_STREAM, 65,536-byte messages",
			"warning cpu-cost remote TCP_STREAM, 65,536-byte messages",
		}},
		"near miss": {"netperf-cost-near-before.txt", "netperf-cost-near-after.txt", nil}, // dearer, and faster by more
		"clean":     {"netperf-cost-before.txt", "netperf-cost-before.txt", nil},
		"no costs":  {"netperf-tcp_stream.classic.txt", "netperf-tcp_stream.classic.txt", nil},
	} {
		before, _ := read(t, "before.txt", fixture(t, c.before))
		after, _ := read(t, "after.txt", fixture(t, c.after))
		if len(before) == 0 || len(after) == 0 {
			t.Fatalf("%s: %d and %d runs", name, len(before), len(after))
		}
		results := &Results{Runs: append(before, after...)}
		roundTrip(t, results)
		var got []string
		for _, f := range CPUCost().Run(results, nil) {
			got = append(got, fmt.Sprint(f.Severity, " ", f.Subject.Key))
			if rise := measure(t, f, "cost_rise"); rise < 0.2 || rise > 0.3 || f.Effect.Share <= 0 || len(f.Evidence) != 4 {
				t.Errorf("%s: the cost rises by %g, share %g, %d pieces of evidence", name, rise, f.Effect.Share, len(f.Evidence))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, f := range Difference().Run(results, nil) {
			if f.Severity > finding.Notice {
				t.Errorf("%s: bench/difference judges the cost as well: %s", name, f.Summary)
			}
		}
	}
}

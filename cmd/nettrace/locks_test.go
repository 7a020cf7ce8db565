package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/lockstat"
)

// lockEntries runs nettrace locks and reads what it says.
func lockEntries(t *testing.T, args ...string) []lockstat.Entry {
	t.Helper()
	code, out, errs := command(t, nil, append([]string{"locks", "-o", "json"}, args...)...)
	var list struct{ Locks []lockstat.Entry }
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	return list.Locks
}

// TestFewLongWaitsAreShown: three waits of writers are a thousandth of all waits and most of the time; whichever the
// order, both are shown.
func TestFewLongWaitsAreShown(t *testing.T) {
	for _, file := range []string{shared.Path(t, "data", "locks", "a.raw-events.txt.gz"), filepath.Join(root, "fixtures", "locks", "a.contention.txt")} {
		byWait, byCount := lockEntries(t, file), lockEntries(t, "--by", "count", file)
		if e := byWait[0]; e.Kind != "rwsem:W" || e.Contentions != 3 || e.WaitShare < 0.885 || e.WaitShare > 0.9 {
			t.Errorf("%s by wait: %+v", file, e)
		}
		if both := byWait[0].WaitShare + byWait[1].WaitShare; byWait[1].Kind != "rwsem:R" || both < 0.955 || both > 0.97 {
			t.Errorf("%s by wait: %+v, %v", file, byWait[1], both)
		}
		if e := byCount[0]; e.Kind != "spinlock" || e.Contentions < 1000 || e.WaitShare > 0.01 {
			t.Errorf("%s by count: %+v", file, e)
		}
		for order, want := range map[string]string{"wait": "first by count: ", "count": "first by wait: "} {
			if _, out, _ := command(t, nil, "locks", "--by", order, file); !strings.Contains(out, want) {
				t.Errorf("%s by %s does not show the other order:\n%s", file, order, out)
			}
		}
	}
}

// TestLocksOfARecording pairs the events of a perf.data with nanoseconds and checks each lock against perf's own reading
// of the same recording, and the sum against its other table.
func TestLocksOfARecording(t *testing.T) {
	at := func(name string) string { return filepath.Join(root, "fixtures", "locks", name) }
	ours, report := lockEntries(t, at("e.data.gz")), []lockstat.Measured{} // perf has a row for each lock, named by who takes it
	_, out, _ := command(t, nil, "records", at("e.report.txt"))
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var row lockstat.Row
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		report = append(report, row.Wait)
	}
	if len(ours) != len(report) || len(ours) != 5 {
		t.Fatalf("%d locks, perf has %d", len(ours), len(report))
	}
	for i, e := range ours { // both are sorted by wait
		p := report[i]
		if e.Contentions != p.Count || e.Wait < p.Total-p.Slack || e.Wait > p.Total+p.Slack || math.Abs(float64(e.WaitMax-p.Max)) > 0.005*float64(p.Max)+5 {
			t.Errorf("%s: %d waits of %s, longest %s; perf has %d of %s, longest %s", e.Name, e.Contentions, e.Wait, e.WaitMax, p.Count, p.Total, p.Max)
		}
	}
	if e := ours[0]; e.Kind != "mutex" || e.Contentions != 2605 || e.Spin == 0 || e.Spin >= e.Wait {
		t.Errorf("a mutex that was spun on and slept for: %+v", e)
	}
	var sums [2]lockstat.Entry
	for i, file := range []string{"e.data.gz", "e.contention.txt"} {
		for _, e := range lockEntries(t, at(file)) {
			sums[i].Contentions, sums[i].Wait = sums[i].Contentions+e.Contentions, sums[i].Wait+e.Wait
		}
	}
	if sums[0].Contentions != sums[1].Contentions || math.Abs(float64(sums[0].Wait-sums[1].Wait)) > 0.001*float64(sums[0].Wait) {
		t.Errorf("%d waits of %s, perf has %d of %s", sums[0].Contentions, sums[0].Wait, sums[1].Contentions, sums[1].Wait)
	}
}

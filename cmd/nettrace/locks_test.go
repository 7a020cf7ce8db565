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

// TestOldLayoutOfLockStat is a collected case: a queue lock under eight UDP senders, in the older layout of
// /proc/lock_stat. What must come out is quoted.
func TestOldLayoutOfLockStat(t *testing.T) {
	file := shared.Path(t, "cases", "23-lock-stat-v03", "lock_stat.txt")
	entries := lockEntries(t, file)

	// "Averages are computed, not read": class, contentions, acquisitions, contended, wait total, wait average, hold average
	for i, want := range []struct {
		name, kind                string
		contentions, acquisitions int64
		contended, wait           float64 // percent, ns
		waitMean, holdMean        int64
	}{
		{"&list->lock#3", "", 24600000, 44904000, 54.8, 56.516e9, 2297, 697},
		{"&rxq->lock", "", 181000, 2100400, 8.6, 0.241e9, 1330, 900},
		{"tasklist_lock", "write", 2, 1200, 0.2, 3000, 1500, 1200},
		{"tasklist_lock", "read", 1, 800, 0.1, 900, 900, 800},
	} {
		e := entries[i]
		if e.Name != want.name || e.Kind != want.kind || e.Contentions != want.contentions || e.Acquisitions != want.acquisitions ||
			math.Abs(100*e.ContendedShare-want.contended) > 0.05 || math.Abs(float64(e.Wait)-want.wait) > want.wait/400 || int64(e.WaitMean) != want.waitMean || int64(e.HoldMean) != want.holdMean {
			t.Errorf("%+v\nwant %+v", e, want)
		}
	}
	if len(entries) != 4 {
		t.Errorf("%d entries, want 4", len(entries))
	}

	// "The two blocks of points are kept apart"; "Module names of points ([netxen_nic]) are kept."
	queue := entries[0]
	if w, h := queue.Waiters, queue.Holders; len(w) != 2 || w[0] != (lockstat.Place{Caller: "dev_queue_xmit+0x2ea/0x468", Role: "transmit", Contentions: 15570000}) || w[1].Contentions != 9030000 ||
		len(h) != 2 || h[0].Contentions != 6680000 || h[1] != (lockstat.Place{Caller: "dev_queue_xmit+0x2ea/0x468", Role: "transmit", Contentions: 17920000}) {
		t.Errorf("%+v\n%+v", w, h)
	}
	if e := entries[1]; e.Waiters[0].Caller != "netxen_process_rcv_ring+0x90/0x5f0 [netxen_nic]" {
		t.Errorf("%+v", e)
	}

	// "Finding: &list->lock#3 has 99.6% of all wait time. Who waits: dev_queue_xmit 15570000 (63%), __qdisc_run 9030000
	// (37%). Who holds it meanwhile ... In terms of the datapath: the qdisc queue lock on transmit."
	r := result(t, nil, "analyze", file)
	f := r.Findings[0]
	if f.Rule != "lock/contention" {
		t.Fatalf("%s: %s", f.Rule, f.Summary)
	}
	for _, want := range []string{"&list->lock#3", "99.6 % of all lock wait", "dev_queue_xmit+0x2ea/0x468 63 %", "__qdisc_run+0x11b/0x1ef 37 %", "root lock of a queueing discipline"} {
		if !strings.Contains(f.Summary, want) {
			t.Errorf("no %q in %q", want, f.Summary)
		}
	}
	if share, _ := f.Measure("wait_share"); math.Abs(share-0.9957) > 0.0001 {
		t.Errorf("wait share %v", share)
	}
	held := 0
	for _, e := range f.Evidence {
		if strings.Contains(e.Text, "dev_queue_xmit+0x2ea/0x468 held it during 17,920,000") || strings.Contains(e.Text, "__qdisc_run+0x11b/0x1ef held it during 6,680,000") {
			held++
		}
	}
	if held != 2 {
		t.Errorf("holders are not cited: %+v", f.Evidence)
	}

	// "Must not: Read acq-bounces (34834000) as the wait average ...; read the class name as &list->lock with version 3 lost."
	if queue.WaitMean > 1e6 || queue.Name == "&list->lock" {
		t.Errorf("%+v", queue)
	}
	if v := r.Models.Locks[0].Tool.Version; v != "0.3" {
		t.Errorf("version %q", v)
	}
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

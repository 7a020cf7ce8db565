package lockstat

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/finding"
)

func judge(t *testing.T, table *Table, set map[string]float64) []finding.Finding {
	t.Helper()
	findings := finding.Rank(Contention().Run(table, set))
	for _, f := range findings {
		if f.Rule != "lock/contention" || f.Summary == "" || len(f.Evidence) == 0 || len(f.Reasons) == 0 {
			t.Errorf("incomplete finding: %+v", f)
		}
		for _, e := range f.Evidence {
			if e.Line == 0 || e.Source == "" {
				t.Errorf("evidence without a place: %+v", e)
			}
		}
	}
	return findings
}

func measure(t *testing.T, f *finding.Finding, name string) float64 {
	t.Helper()
	v, ok := f.Measure(name)
	if !ok {
		t.Errorf("no measure %s in %q", name, f.Summary)
	}
	return v
}

func TestContentionFires(t *testing.T) {
	table := one(t, filepath.Join(fixtures, "iflib-contended.txt"), SniffLockstat, ReadLockstat)
	findings := judge(t, table, nil)
	if len(findings) != 2 {
		t.Fatalf("%d findings: %+v", len(findings), findings)
	}
	f := findings[0]
	if f.Severity != finding.Warning || f.Subject.Key != "iflib-txq" || f.Confidence != finding.High {
		t.Errorf("%v %q %v", f.Severity, f.Subject.Key, f.Confidence)
	}
	wait := 3188112*1214 + 1050331*1655 + 41208*20366
	if got := measure(t, &f, "wait_total"); got != float64(wait) {
		t.Errorf("wait_total %v, want %d", got, wait)
	}
	if got := measure(t, &f, "contentions"); got != 3188112+1050331+41208 {
		t.Errorf("contentions %v", got)
	}
	if got := measure(t, &f, "wait_max"); got != 20366 {
		t.Errorf("wait_max %v, want the largest mean, 20366", got)
	}
	if got := measure(t, &f, "wait_share"); math.Abs(got-float64(wait)/float64(table.Total.Wait)) > 1e-12 || got < 0.99 {
		t.Errorf("wait_share %v", got)
	}
	if got := measure(t, &f, "spin_share"); math.Abs(got-float64(3188112*1214+1050331*1655)/10.006e9) > 1e-9 {
		t.Errorf("spin_share %v", got)
	}
	for _, want := range []string{"transmit 73 % of the wait (iflib_if_transmit+0x1c2)", "transmit reclaim 27 % (_task_fn_tx+0x14f)", "_task_fn_tx", "reclaims finished descriptors", "number 1 by time and 1 by count"} {
		if !strings.Contains(f.Summary, want) {
			t.Errorf("summary %q lacks %q", f.Summary, want)
		}
	}
	if caveats := strings.Join(f.Caveats, "; "); !strings.Contains(caveats, "recording took about 43 % of a CPU") || !strings.Contains(caveats, "number of CPUs") {
		t.Errorf("caveats %q", caveats)
	}
	if f := findings[1]; f.Severity != finding.Notice || f.Subject.Key != "at ufs_lookup_ino" || measure(t, &f, "wait_max") != 14200333 || measure(t, &f, "rank_by_time") != 2 || measure(t, &f, "rank_by_count") != 4 {
		t.Errorf("a few long waits: %+v", f)
	}
	if f := judge(t, table, map[string]float64{"lock/contention.cpus": 64})[0]; f.Severity != finding.Notice || f.Effect.Share > 0.09 {
		t.Errorf("on 64 CPUs: %v, share %v", f.Severity, f.Effect.Share)
	}
}

// TestContentionNearMiss has 0.99 % of a CPU spun, 0.03 waiters and waits of 9.9 ms.
func TestContentionNearMiss(t *testing.T) {
	table := one(t, filepath.Join(fixtures, "iflib-near.txt"), SniffLockstat, ReadLockstat)
	findings := judge(t, table, nil)
	if len(findings) != 1 || findings[0].Severity != finding.Info {
		t.Fatalf("%+v", findings)
	}
	for name, least := range map[string]float64{"spin-notice": 0.0098, "max-wait": 9.9e6, "waiters-notice": 0.029} {
		if f := judge(t, table, map[string]float64{"lock/contention." + name: least}); f[0].Severity != finding.Notice {
			t.Errorf("%s = %v does not fire", name, least)
		}
	}
}

func TestContentionClean(t *testing.T) {
	for _, name := range []string{"freebsd.default.txt", "freebsd.h.txt", "freebsd.p-stack.txt", "illumos.spin-unit.txt", "freebsd.b.txt"} {
		findings := judge(t, one(t, filepath.Join(fixtures, name), SniffLockstat, ReadLockstat), nil)
		if len(findings) != 1 || findings[0].Severity != finding.Info {
			t.Errorf("%s: %+v", name, findings)
		}
	}
	for name, ledger := range map[string]string{"freebsd.I.txt": "", "freebsd.D0.txt": "no-locks"} {
		if findings := judge(t, one(t, filepath.Join(fixtures, name), SniffLockstat, ReadLockstat, strings.Fields(ledger)...), nil); len(findings) != 0 {
			t.Errorf("%s: %+v", name, findings)
		}
	}
}

// TestTableJSON checks that a stored table gives the same findings.
func TestTableJSON(t *testing.T) {
	for _, name := range []string{"iflib-contended.txt", "freebsd.s8.txt"} {
		table := one(t, filepath.Join(fixtures, name), SniffLockstat, ReadLockstat)
		text, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		var back Table
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(judge(t, table, nil), judge(t, &back, nil)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		back.Rows = table.Rows
		if diff := cmp.Diff(table, &back); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

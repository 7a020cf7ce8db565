package bench

import (
	"strings"
	"testing"

	"nettrace/finding"
)

// opposites returns the findings of bench/not-comparable about the order of states.
func opposites(runs []Run) (found []finding.Finding) {
	for _, f := range NotComparable().Run(&Results{Runs: runs}, nil) {
		if strings.HasPrefix(f.Subject.Key, "not-comparable order") {
			found = append(found, f)
		}
	}
	return found
}

// TestOppositeOrder has the ring review's figures: with abdication the ring forwards more packets and sends fewer.
func TestOppositeOrder(t *testing.T) {
	found := opposites(tableFixture(t, "table-opposite.csv"))
	if len(found) != 1 || found[0].Severity != finding.Warning ||
		!strings.Contains(found[0].Summary, `tx_abdicate=on is 19 % ahead of tx_abdicate=off under "rate, load forwarding" and 44 % behind under "rate, load sending"`) {
		t.Errorf("%v", found)
	}
	// A lead of 9 % is one that single runs differ by, and one order under both loads is no contradiction.
	near := strings.NewReplacer("1073776.1", "980000").Replace(fixture(t, "table-opposite.csv"))
	same := strings.NewReplacer("1073776.1", "600000").Replace(fixture(t, "table-opposite.csv"))
	unknown := strings.NewReplacer("packets_per_s", "rate").Replace(fixture(t, "table-opposite.csv"))
	for name, text := range map[string]string{"near miss": near, "same order": same, "unknown unit": unknown} {
		runs, _ := readCSV(t, "x.csv", text)
		if found := opposites(runs); len(found) != 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	for _, clean := range []string{"table-tg3.cpu-util.csv", "table-ring-scaling.csv", "table-map-pages.csv", "table-sdp-cost.csv"} {
		if found := opposites(tableFixture(t, clean)); len(found) != 0 {
			t.Errorf("%s: %v", clean, found)
		}
	}
}

// TestOppositeBeforeAfter has a change that makes one test faster and another slower.
func TestOppositeBeforeAfter(t *testing.T) {
	run := func(phase, test string, rate float64) Run {
		r := Run{Tool: "netperf", Test: test, Unit: transactions, Rate: rate, Sizes: Sizes{Request: 1, Response: 1}}
		r.Pos.Source = phase + ".netperf.txt"
		return r
	}
	runs := []Run{run("before", "TCP_RR", 100), run("before", "UDP_RR", 100), run("after", "TCP_RR", 130), run("after", "UDP_RR", 70)}
	if found := opposites(runs); len(found) != 1 || !strings.Contains(found[0].Summary, `30 % ahead of before under "TCP_RR" and 30 % behind under "UDP_RR"`) {
		t.Errorf("%v", found)
	}
	runs[3].Rate = 110
	if found := opposites(runs); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

func TestLabelSettings(t *testing.T) {
	s, load := labelSettings("bypass_mpring=0 (default) and tx_abdicate=1: inet4 packets-per-second forwarded")
	if len(s) != 2 || s[1] != (Setting{"tx_abdicate", "1"}) || load != "inet4 packets-per-second forwarded" {
		t.Errorf("%v %q", s, load)
	}
	if c, ok := oneSetting(s, []Setting{{"bypass_mpring", "1"}, {"tx_abdicate", "1"}}); !ok || c.Setting != "bypass_mpring" || c.Others != "tx_abdicate=1" {
		t.Errorf("%+v", c)
	}
	if _, ok := oneSetting(s, []Setting{{"bypass_mpring", "1"}, {"tx_abdicate", "0"}}); ok {
		t.Error("two settings differ")
	}
	if _, ok := oneSetting(s, s); ok {
		t.Error("none differs")
	}
}

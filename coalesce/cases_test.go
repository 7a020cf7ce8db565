package coalesce

import (
	"strings"
	"testing"

	"nettrace/fixtures/shared"
)

// Public cases whose inputs the importers cover: what has to come out, as their expected.md say.

func TestCaseOneQueue(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "cases", "19-rss-one-queue"))
	h := Join(outputs, Options{})[0]
	for name, want := range map[string]struct {
		delta, last uint64
		rate        float64
	}{
		"rx_queue_0_packets":  {18000000, 16648368449, 600000},
		"rx_queue_1_packets":  {0, 0, 0},
		"rx_missed_errors":    {30000, 31200, 1000},
		"rx_no_buffer_count":  {30000, 31200, 1000},
		"rx_queue_0_csum_err": {0, 3618641, 0},
	} {
		c := counter(t, h, name)
		rate, known := c.Rate()
		if c.Delta != want.delta || c.Last.Value != want.last || rate != want.rate || !known {
			t.Errorf("%s: +%d to %d, %g/s (%v); want +%d to %d, %g/s", name, c.Delta, c.Last.Value, rate, known, want.delta, want.last, want.rate)
		}
	}
	if i := h.Interface("enp1s0"); i == nil || len(i.Counters) != 1 || i.NameFrom != NameFromOnly {
		t.Errorf("the counters are not those of enp1s0, the only interface that is named: %+v", i)
	}
}

func TestCaseRings(t *testing.T) {
	outputs, ledger := readDir(t, shared.Path(t, "cases", "21-ethtool-ring-na"))
	if len(outputs) != 3 || len(ledger) > 0 {
		t.Fatalf("%d outputs, ledger %+v; want 3 and nothing", len(outputs), ledger)
	}
	for _, o := range outputs {
		i := Interface{Dumps: []Dump{{Tool: o.Tool, Settings: o.Interfaces[0].Settings}}}
		get := func(name string) string { s, _ := i.Setting("ethtool-g", name); return s.Value.String() }
		got := strings.Join([]string{o.Interfaces[0].Name, get("rx"), get("rx-max"), get("tx"), get("tx-max"), get("rx-mini"), get("rx-jumbo-max"), get("rx-buf-len"), get("tx-push-buf-len"), get("tx-push-buf-len-max"), get("tx-push"), get("tcp-data-split")}, " ")
		want := map[string]string{
			"ring-old.txt":         "ens3 512 4096 512 4096 0 0 absent absent absent absent absent",
			"ring-new.txt":         "ens3 512 4096 512 4096 n/a n/a n/a n/a n/a off n/a",
			"ring-unsupported.txt": "wlan0 absent absent absent absent absent absent absent absent absent absent absent",
		}[o.Pos.Source[strings.LastIndexByte(o.Pos.Source, '/')+1:]]
		if got != want {
			t.Errorf("%s: %s, want %s", o.Pos.Source, got, want)
		}
	}
	refused := Join(outputs, Options{})[0].Interface("wlan0")
	if refused == nil || len(refused.Dumps) != 1 || !strings.HasSuffix(refused.Dumps[0].Refusal, "not supported") {
		t.Errorf("wlan0 is %+v, want a refusal", refused)
	}
}

func TestCaseSoftnet(t *testing.T) {
	outputs, _ := readDir(t, shared.Path(t, "cases", "18-softnet-cpu0-only"))
	for _, s := range Join(outputs, Options{})[0].tables("proc-softnet_stat") {
		for _, r := range s.Rows {
			var others, first uint64
			for _, c := range r.CPUs {
				if c.CPU == 0 {
					first = c.Delta
				} else {
					others += c.Delta
				}
			}
			want, judged := map[string][2]uint64{"processed": {30000000, 52000}, "time_squeeze": {5400, 1}}[r.Key]
			if len(s.Snapshots) == 2 && (!judged || first != want[0] || others != want[1] || s.Span().Seconds() != 60 || !s.CPUsAssumed) {
				t.Errorf("%s: CPU 0 +%d, others +%d over %v; want %v over 60 s", r.Key, first, others, s.Span(), want)
			}
			if len(s.Snapshots) == 1 && s.Timed() {
				t.Error("the small server's single snapshot has a rate")
			}
		}
	}
}

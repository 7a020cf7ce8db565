package flame

import (
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// TestFieldLabels: fields of tracepoints tell their samples apart, in views, in pprof and after a selection.
func TestFieldLabels(t *testing.T) {
	p, _ := readPerf(t, shared.Read(t, fixture("tracepoints.perf.txt")))
	for _, q := range map[string]*Profile{"as read": p, "selected": p.Select(Selection{MergeRecursion: true})} {
		seen := map[string]bool{}
		for _, s := range q.Pprof().Sample {
			for _, label := range FieldLabels() {
				if value := label.value(s); value != "" {
					seen[string(label)+"="+value] = true
				}
			}
		}
		for _, want := range []string{"dev=ntfl0", "action=NET_RX", "budget=64", "rc=0"} {
			if !seen[want] {
				t.Errorf("no sample with %s: %v", want, seen)
			}
		}
	}
	if got := folded(t, p.By("dev", Comm), Column{Event: "net:net_dev_xmit"}); !strings.Contains(got, "dev ntfl1;iperf3 ") {
		t.Error(got)
	}
	roundTrip(t, "tracepoints", p)
}

// TestDropFields: fields are the first that too many stacks cost.
func TestDropFields(t *testing.T) {
	ledger := &source.Ledger{}
	b := newBuilder("x", ledger)
	event := b.event("net:net_dev_xmit", "", source.Pos{})
	for i := range maxEntries + 10 {
		b.add(event, labels{cpu: int32(i % 2), hasCPU: true, fields: "dev=" + strings.Repeat("e", i%300) + string(rune('a'+i/300%26)) + string(rune('a'+i/7800)) + fieldEnd}, nil, 1, 1, place{})
	}
	p := &Profile{}
	b.finish(p)
	if len(p.pprof.Sample) != 2 || p.Events[0].Samples != maxEntries+10 {
		t.Errorf("%d stacks of %+v", len(p.pprof.Sample), p.Events)
	}
	if e := ledger.Entries(); len(e) != 1 || !strings.Contains(e[0].Text, "fields of tracepoints") {
		t.Errorf("ledger %+v", e)
	}
}

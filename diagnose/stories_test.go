package diagnose

import (
	"slices"
	"testing"

	"nettrace/finding"
)

// TestStories: the bundle of each story gives its cause first, with what it explains; without one of the recordings that
// tell it together there is no cause.
func TestStories(t *testing.T) {
	for _, test := range []struct {
		bundle, cause string
		explains      []string
		without       []string // parts of names of files without which the story cannot be told
	}{
		{"rr-4345", "cross/adaptive-rx", []string{"bench/cliff"}, []string{"netperf", "ethtool-c"}},
		{"map-lock", "cross/map-lock", []string{"lock/contention", "stack/dma-map-share", "stack/lock-spin"}, []string{"lock_stat", "folded"}},
		{"tx-ring", "cross/tx-ring", []string{"lock/contention", "stack/lock-spin"}, []string{"lockstat", "pmcstat"}},
		{"tag-race", "cross/tag-race", []string{"irq/tag-race"}, []string{"interrupts"}},
		{"zero-copy", "cross/zero-copy-threshold", nil, []string{"netperf"}},
		{"rx-ring-overrun", "cross/rx-ring-overrun", []string{"nic/ring-overrun", "nic/ring-small", "tcp/retransmission"}, []string{"pcap", "ethtool-S"}},
		{"softnet-drop", "cross/softnet-drop", []string{"softnet/drop", "softnet/squeeze", "tcp/retransmission"}, []string{"pcap", "softnet"}},
		{"one-cpu", "cross/one-cpu", []string{"softnet/one-cpu", "softnet/squeeze", "irq/imbalance"}, []string{"softnet"}},
		{"stretch-ack", "cross/stretch-ack", []string{"tcp/stretch-ack"}, []string{"pcap", "ethtool-k"}},
		{"lro-forwarding", "cross/lro-forwarding", []string{"tcp/pmtu", "tcp/retransmission"}, []string{"pcap", "ethtool-k"}},
		{"reordering", "cross/reordering", []string{"tcp/reordering"}, []string{"pcap", "steering"}},
		{"nagle-delayed-ack", "cross/nagle-delayed-ack", []string{"tcp/delayed-ack-stall"}, []string{"pcap", "nstat"}},
		{"offload-off", "cross/offload-off", []string{"nic/offload-off"}, []string{"ethtool-k", "ethtool-S", "proc-stat"}},
		{"socket-buffer", "cross/socket-buffer", []string{"tcp/limited-by", "tcp/window-full"}, []string{"pcap", "ss-tinm"}},
		{"c-state", "cross/c-state", []string{"host/c-state"}, []string{"cpuidle", "netperf"}},
	} {
		t.Run(test.bundle, func(t *testing.T) {
			r := changed(t, test.bundle)
			if len(r.Findings) == 0 || r.Findings[0].Rule != test.cause {
				t.Fatalf("first is %v", rulesOf(r.Findings))
			}
			cause := r.Findings[0]
			if len(cause.Evidence) == 0 || len(cause.Reasons) == 0 || len(cause.Advice) == 0 || len(cause.Caveats) == 0 {
				t.Errorf("the cause lacks evidence, reasons, advice or what else would look like it: %+v", cause)
			}
			for _, rule := range test.explains {
				if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule && f.CausedBy == cause.ID }) {
					t.Errorf("%s is not explained by the cause", rule)
				}
			}
			for _, f := range r.Findings {
				if f.CausedBy == cause.ID && f.Severity > cause.Severity {
					t.Errorf("%s is worse than its cause", f.Rule)
				}
			}
			for _, gone := range test.without {
				r := changed(t, test.bundle, without(gone))
				if slices.Contains(rulesOf(r.Findings), test.cause) {
					t.Errorf("without %s there is still %s", gone, test.cause)
				}
			}
		})
	}
}

func rulesOf(findings []finding.Finding) (names []string) {
	for _, f := range findings {
		names = append(names, f.Rule)
	}
	return names
}

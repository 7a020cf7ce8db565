package diagnose

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/finding"
)

// predicted returns the first finding of a changed bundle after predictions.
func predicted(t *testing.T, bundle string, changes ...change) *finding.Finding {
	t.Helper()
	r := changed(t, bundle, changes...)
	Predict(context.Background(), r)
	return &r.Findings[0]
}

// The first advice of every story has a prediction that says how it was made and what it assumes, or a sentence that says why
// there is none.
func TestEveryStoryPredictsOrSaysWhyNot(t *testing.T) {
	for _, path := range must(filepath.Glob("../fixtures/bundles/*")) {
		bundle := filepath.Base(path)
		if info, err := os.Stat(path); err != nil || !info.IsDir() || strings.HasPrefix(bundle, "clean-") {
			continue
		}
		f := predicted(t, bundle)
		a := f.Advice[0]
		if (a.Predicted == nil) == (a.NotPredicted == "") {
			t.Errorf("%s: predicted %+v, not predicted: %q", f.Rule, a.Predicted, a.NotPredicted)
		}
		if p := a.Predicted; p != nil && (len(p.Assumptions) == 0 || p.Low > p.Value || p.High < p.Value || p.Unit == "") {
			t.Errorf("%s: predicted %+v", f.Rule, p)
		}
	}
	for _, rule := range Rules() {
		if strings.HasPrefix(rule.Name, "cross/") && rule.Name != "cross/c-state" && predictors()[rule.Name] == nil { // c-state has that of its rule
			t.Errorf("%s has no predictor", rule.Name)
		}
	}
}

// What is predicted follows from the figures of the bundle. The values by hand: 672,000 packets/s in 98 % of a CPU's time are
// 686,000 at most, of which the busiest of four queues has 25.06 %; 4096 descriptors last 19.3 ms at 212,050 packets/s.
func TestPredictionsOfReceivers(t *testing.T) {
	for _, test := range []struct {
		bundle, name string
		changes      []change
		value        float64
		unit         string
	}{
		{"one-cpu", "as it is", nil, 672000 / 0.982 / 0.2506, "packets/s at most"},
		{"one-cpu", "two of the queues have nearly all", []change{replace("rx_queue_2_packets: 4218000", "rx_queue_2_packets: 2540100"), replace("rx_queue_3_packets: 4233000", "rx_queue_3_packets: 2555100"), replace("16925000", "13569200")}, 672000 / 0.982 / 0.5007, "packets/s at most"},
		{"one-cpu", "twice the time", []change{rename("T101510.000Z", "T101520.000Z")}, 336000 / 0.982 / 0.2506, "packets/s at most"},
		{"rx-ring-overrun", "as it is", nil, 4096 / 212.05, "ms that the CPU may be late"},
		{"rx-ring-overrun", "another largest ring", []change{replace("4096", "1024").only("ethtool-g")}, 1024 / 212.05, "ms that the CPU may be late"},
		{"rx-ring-overrun", "another interface", []change{rename("eth0", "ens3f1np1")}, 4096 / 212.05, "ms that the CPU may be late"},
	} {
		p := predicted(t, test.bundle, test.changes...).Advice[0].Predicted
		if p == nil || !near(p.Value, test.value, 0.01) || p.Unit != test.unit || p.Low >= p.Value {
			t.Errorf("%s, %s: predicted %+v, by hand %g", test.bundle, test.name, p, test.value)
		}
	}
}

// Where the bundle has not what a prediction needs, the advice says what it is.
func TestWhyNothingIsPredicted(t *testing.T) {
	for _, test := range []struct {
		bundle, name string
		changes      []change
		says         string
	}{
		{"one-cpu", "the CPU's time is not recorded", []change{without("proc-stat")}, "/proc/stat"},
		{"one-cpu", "queues are not counted", []change{without("ethtool-S")}, "ethtool -S"},
		{"rx-ring-overrun", "the link's speed is not known", []change{without("ethtool-eth0")}, "4096 by 19.3 ms"},
		{"rx-ring-overrun", "the ring is not known", []change{without("ethtool-g")}, "ethtool -g"},
	} {
		f := predicted(t, test.bundle, test.changes...)
		if a := f.Advice[0]; f.Rule != "cross/"+test.bundle || a.Predicted != nil || !strings.Contains(a.NotPredicted, test.says) {
			t.Errorf("%s, %s: %s predicts %+v, not predicted: %q", test.bundle, test.name, f.Rule, a.Predicted, a.NotPredicted)
		}
	}
}

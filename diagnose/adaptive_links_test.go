package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/finding"
)

// dated gives the settings of the story's bundle the time of its counters, a minute earlier, or another day.
func dated(at string) change { return rename("before.ethtool-c.txt", "before.ethtool-c."+at+".txt") }

// TestAdaptiveRXTies: recordings that are known to be of another host, interface or time are no evidence, and the confidence
// is lower without them; a benchmark of other hosts tells nothing.
func TestAdaptiveRXTies(t *testing.T) {
	captured := func(name, text string) (string, string) { // captures have dates of their own: without them here
		return "", text
	}
	const with, before, day = "20110720T231505.000Z", "20110720T231405.000Z", "20110719T231505.000Z"
	for _, test := range []struct {
		name       string
		changes    []change
		causes     int
		confidence finding.Level
		foreign    string // part of names of what must be no evidence
		says       string
	}{
		{"as it is", nil, 1, finding.High, "", ""},
		{"settings of the time of the counters, captures years later", []change{dated(with)}, 1, finding.Medium, ".pcap", "no capture shows"},
		{"counters of the next day", []change{dated(day)}, 1, finding.Medium, "", "apart from the first"},
		{"settings a minute before the counters", []change{dated(before), change(captured).only("pcap")}, 1, finding.Medium, "", "apart from the first"},
		{"counters of another host", []change{moved("a").only("ethtool-c"), moved("a").only("netperf"), moved("b").only("ethtool-S"), moved("b").only("interrupts"), moved("b").only("ethtool-i")}, 1, finding.Medium, "ethtool-S", "no counters show"},
		{"counters of another interface", []change{rename("ethtool-S.", "ethtool-S-eth7."), rename("eth2-", "eth7-")}, 1, finding.Medium, "ethtool-S", "no counters show"},
	} {
		found := causes(changed(t, "rr-4345", test.changes...))
		if len(found) != test.causes || found[0].Confidence != test.confidence {
			t.Errorf("%s: %d causes, confidence %s: %q", test.name, len(found), found[0].Confidence, found[0].Reasons)
			continue
		}
		for _, e := range found[0].Evidence {
			if test.foreign != "" && strings.Contains(e.Source, test.foreign) {
				t.Errorf("%s: %s is evidence", test.name, e.Source)
			}
		}
		if !strings.Contains(strings.Join(found[0].Reasons, "\n"), test.says) {
			t.Errorf("%s: no reason says %q: %q", test.name, test.says, found[0].Reasons)
		}
	}
}

// TestAdaptiveRXOfOtherHosts: a benchmark between other hosts, where the host has one of its own without a cliff, is not its.
func TestAdaptiveRXOfOtherHosts(t *testing.T) {
	plain, err := os.ReadFile("../fixtures/bundles/c-state/netperf.txt")
	if err != nil {
		t.Fatal(err)
	}
	own := func(name, text string) (string, string) {
		if strings.Contains(name, "ethtool-i") {
			return "a/netperf.txt", string(plain)
		}
		return name, text
	}
	r := changed(t, "rr-4345", moved("a").only("ethtool-c"), moved("b").only("netperf-"), own, without("pcap"), without("ethtool-S"), without("interrupts"))
	if found := causes(r); len(found) != 0 {
		t.Errorf("%s", found[0].Summary)
	}
}

// TestAdaptiveRXOfTwoInterfaces: of two interfaces with the setting that with the counters is the surer one.
func TestAdaptiveRXOfTwoInterfaces(t *testing.T) {
	r := twoInterfaces(t)
	confidence := map[string]finding.Level{}
	for _, f := range causes(r) {
		confidence[f.Subject.Key] = f.Confidence
	}
	if len(confidence) != 2 || confidence["interface/eth7"] != finding.High || confidence["interface/eth2"] != finding.Medium {
		t.Errorf("%v", confidence)
	}
}

func twoInterfaces(t *testing.T) *analyze.Result {
	dir := t.TempDir()
	for _, file := range must(filepath.Glob(bundle + "/*")) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, text := filepath.Base(file), string(data)
		switch {
		case strings.Contains(name, "ethtool-c"):
			text += "\n" + strings.ReplaceAll(text, "eth2", "eth7")
		case slices.ContainsFunc([]string{"ethtool-i", "interrupts"}, func(w string) bool { return strings.Contains(name, w) }):
			continue
		}
		name = strings.ReplaceAll(name, "ethtool-S.", "ethtool-S-eth7.")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return diagnosed(t, dir)
}

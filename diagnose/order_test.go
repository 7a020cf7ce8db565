package diagnose

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/analyze"
	"nettrace/finding"
)

// oneTime gives what two bundles recorded the same dates.
func oneTime(name, text string) (string, string) {
	times := strings.NewReplacer("20240305T101500", "20261130T170945", "20240305T101505", "20261130T170950", "20240305T101510", "20261130T170955", "20240305T1014", "20261130T1709", "20240305T101455", "20261130T170945")
	return times.Replace(name), text
}

// together diagnoses two bundles as one host's; of files of one name the first bundle's counts.
func together(t *testing.T, first, second string, changes ...change) *analyze.Result {
	t.Helper()
	dir := t.TempDir()
	for _, bundle := range []string{first, second} {
		for _, file := range must(filepath.Glob("../fixtures/bundles/" + bundle + "/*")) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, text := oneTime(filepath.Base(file), string(data))
			if strings.HasSuffix(name, ".pcap") {
				name = bundle + "-" + name
			}
			for _, c := range changes {
				name, text = c(name, text)
			}
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); name == "" || err == nil {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return diagnosed(t, dir)
}

// toldOf returns the finding of a rule, nil if there is none.
func toldOf(r *analyze.Result, rule string) *finding.Finding {
	if k := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule }); k >= 0 {
		return &r.Findings[k]
	}
	return nil
}

// TestFullCPUAndFullRing: where the CPU is seen to be full, the ring that it empties too late is a symptom; where it has time,
// or nothing is known of its time, the ring is the cause.
func TestFullCPUAndFullRing(t *testing.T) {
	idle := replace("cpu0 2001 0 3009 90008 0 0 5982", "cpu0 2001 0 3009 90908 0 0 5082").only("after.proc-stat")
	calm := replace("0000a0f0", "0000005a").only("after.proc-softnet")
	dropped := replace("010254d0 00000000", "010254d0 00001860").only("after.proc-softnet")
	other := func(name, text string) (string, string) { // the interrupts of another interface
		return name, strings.ReplaceAll(text, "eth0-", "eth7-")
	}
	for _, test := range []struct {
		name, first, under string
		changes            []change
	}{
		{"the CPU is full", "cross/one-cpu", "cross/rx-ring-overrun", nil},
		{"its time is not recorded, polls end with work left", "cross/one-cpu", "cross/rx-ring-overrun", []change{without("proc-stat")}},
		{"the CPU has time", "cross/rx-ring-overrun", "cross/one-cpu", []change{idle, calm}},
		{"nothing tells of the CPU's time", "cross/rx-ring-overrun", "cross/one-cpu", []change{without("proc-stat"), calm}},
		{"another interface's interrupts are on it", "cross/rx-ring-overrun", "", []change{change(other).only("interrupts"), without("softnet"), without("proc-stat")}},
		{"the backlog, and the CPU is full", "cross/one-cpu", "cross/softnet-drop", []change{without("ethtool"), dropped}},
		{"the backlog, and the CPU has time", "cross/softnet-drop", "cross/one-cpu", []change{without("ethtool"), dropped, idle, calm}},
		{"it is another host's", "cross/one-cpu", "", []change{moved("a").only("proc-"), moved("b").only("ethtool"), moved("b").only("pcap")}},
	} {
		r := together(t, "rx-ring-overrun", "one-cpu", test.changes...)
		cause := &r.Findings[0]
		if cause.Rule != test.first {
			t.Errorf("%s: first is %s", test.name, cause.Rule)
			continue
		}
		if f := toldOf(r, "softnet/one-cpu"); f != nil && f.CausedBy != cause.ID {
			t.Errorf("%s: softnet/one-cpu is not explained by the first cause", test.name)
		}
		for _, rule := range []string{"cross/one-cpu", "cross/rx-ring-overrun", "cross/softnet-drop"} {
			if f := toldOf(r, rule); rule == test.under && (f == nil || f.CausedBy != cause.ID) {
				t.Errorf("%s: %s is no symptom: %v", test.name, rule, rulesOf(r.Findings))
			} else if rule != test.under && f != nil && f.CausedBy != "" {
				t.Errorf("%s: %s is a symptom", test.name, rule)
			}
		}
	}
}

// TestPairsOfStories: of any two stories of one host no symptom is above its cause, and none explains itself in a ring.
func TestPairsOfStories(t *testing.T) {
	var bundles []string
	for _, path := range must(filepath.Glob("../fixtures/bundles/*")) {
		if name := filepath.Base(path); !strings.HasPrefix(name, "clean-") && filepath.Ext(name) == "" {
			bundles = append(bundles, name)
		}
	}
	for i, first := range bundles {
		for _, second := range bundles[i+1:] {
			sound(t, first+" and "+second, together(t, first, second))
		}
	}
}

// sound checks what holds of causes and symptoms in any result.
func sound(t *testing.T, name string, r *analyze.Result) {
	t.Helper()
	at := map[string]int{}
	for i, f := range r.Findings {
		at[f.ID] = i
	}
	if len(at) != len(r.Findings) {
		t.Errorf("%s: identifiers are not unique", name)
	}
	for _, f := range r.Findings {
		for steps, x := 0, f; x.CausedBy != ""; steps++ {
			cause, known := at[x.CausedBy]
			if !known || steps > len(r.Findings) {
				t.Fatalf("%s: %s is explained by %q, which leads nowhere", name, x.Rule, x.CausedBy)
			}
			up := r.Findings[cause]
			if cmp.Or(cmp.Compare(up.Severity, x.Severity), cmp.Compare(up.Effect.Share, x.Effect.Share)) < 0 {
				t.Errorf("%s: %s (%s, %g) is worse than its cause %s (%s, %g)", name, x.Rule, x.Severity, x.Effect.Share, up.Rule, up.Severity, up.Effect.Share)
			}
			x = up
		}
	}
	for i, f := range r.Findings { // what is explained is behind its cause, and all that is not is before what is
		if f.CausedBy != "" && at[f.CausedBy] > i {
			t.Errorf("%s: %s is shown above its cause", name, f.Rule)
		}
	}
}

// TestPrecedences: each line of the table is about stories that there are, and docs/diagnosis.md has them all.
func TestPrecedences(t *testing.T) {
	page, err := os.ReadFile("../docs/diagnosis.md")
	if err != nil {
		t.Fatal(err)
	}
	rules := Rules()
	for _, p := range precedences() {
		for _, name := range []string{p.cause, p.symptom} {
			if !slices.ContainsFunc(rules, func(r finding.Rule) bool { return r.Name == name }) {
				t.Errorf("no story is called %s", name)
			}
		}
		if p.cause == p.symptom || p.why == "" {
			t.Errorf("%+v", p)
		}
		told := slices.ContainsFunc(strings.Split(string(page), "\n"), func(line string) bool {
			cells := strings.Split(line, "|")
			return len(cells) == 5 && strings.Contains(cells[1], strings.TrimPrefix(p.cause, "cross/")) && strings.Contains(cells[2], strings.TrimPrefix(p.symptom, "cross/"))
		})
		if !told {
			t.Errorf("docs/diagnosis.md does not say that %s brings about %s", p.cause, p.symptom)
		}
	}
}

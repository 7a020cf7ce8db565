package flame

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// FuzzRead reads any text as perf script and as folded stacks: what comes out is valid, adds up, and can be written in
// every form and read back.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob(fixture("*"))
	for _, path := range files {
		if strings.HasSuffix(path, ".txt") || strings.HasSuffix(path, ".folded") {
			text := shared.Read(f, path)
			f.Add(text[:min(len(text), 1500)])
		}
	}
	f.Add([]byte("a;b_[i];c_[i] 1.5\n_[i] 2\n;; 3\nx 0.0000001\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func(*source.Lines, *source.Ledger) (*Profile, error){readPlainPerf, ReadFolded} {
			ledger := &source.Ledger{}
			p, err := read(source.NewLines(source.NewInput("x", strings.NewReader(string(text))), ledger), ledger)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Pprof().CheckValid(); err != nil {
				t.Fatal(err)
			}
			if len(p.Events) > 0 {
				check(t, p)
			}
		}
	})
}

func readPlainPerf(l *source.Lines, ledger *source.Ledger) (*Profile, error) {
	return ReadPerf(l, ledger, PerfOptions{})
}

func check(t *testing.T, p *Profile) {
	svg := svgOf(t, p, SVGOptions{})
	parse(t, svg)
	stacks := folded(t, p, Column{})
	again, _ := readFolded(t, []byte(stacks))
	if stacks != "" && len(again.Events) != 1 && !twoColumns([]byte(stacks)) {
		t.Fatalf("%q is read back with events %+v", stacks, again.Events)
	}
	if _, err := Top(p, Column{}, 5); err != nil {
		t.Fatal(err)
	}
	for _, rule := range stackRules() {
		rule.Run(p, nil)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Profile
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if string(svgOf(t, &back, SVGOptions{})) != string(svg) {
		t.Fatal("a profile that was written and read is drawn in another way")
	}
}

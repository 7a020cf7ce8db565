package flame

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// FuzzReadStacks reads any text as each of the formats that print stacks: what comes out is valid, adds up, and can be
// written in every form and read back.
func FuzzReadStacks(f *testing.F) {
	files, _ := filepath.Glob(fixture("*"))
	for _, path := range files {
		if strings.Contains(path, "pmcstat") || strings.Contains(path, "dtrace") || strings.Contains(path, "bpftrace") || strings.Contains(path, "bcc") {
			text := shared.Read(f, path)
			f.Add(text[:min(len(text), 1500)])
		}
	}
	f.Add([]byte("@s[\n    a+1\n, \n, x]: count 3, average 5, total 15\n@s[\n    b+1\n]: \n[1]   2 |@@@ |\n"))
	f.Add([]byte("  x  1\n      a`b+0x1\n\n      c`d\n   value  ------------- Distribution ------------- count\n   1 |@  3\n"))
	f.Add([]byte("Tracing 1 functions for \"f\"... Hit Ctrl-C to end.\n  a\n    --\n  b\n    tar [15187]\n    5\n\n    a\n    -      x (12)\n        3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, sniff := range []func([]byte) source.Match{SniffPmcstat, SniffDTrace, SniffBpftrace, SniffBCC, SniffPprof, SniffSpeedscope} {
			sniff(text)
		}
		for _, read := range []reader{ReadPmcstat, ReadDTrace, ReadBpftrace, ReadBCC} {
			p, ledger := readText(t, read, text)
			ledger.Entries()
			if adds(t, p); len(p.Events) > 0 && len(text) < 400 { // large ones would make few runs
				check(t, p)
			}
		}
	})
}

// FuzzReadProfile reads any bytes as pprof and as speedscope.
func FuzzReadProfile(f *testing.F) {
	files, _ := filepath.Glob(fixture("*"))
	for _, path := range files {
		if strings.Contains(path, "pprof") || strings.Contains(path, "speedscope") {
			f.Add(shared.Read(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func(*source.Input, *source.Ledger) (*Profile, error){ReadPprof, ReadSpeedscope} {
			ledger := &source.Ledger{}
			p, err := read(source.NewInput("x", bytes.NewReader(data)), ledger)
			if err != nil {
				if syntax := (*source.SyntaxError)(nil); !errors.As(err, &syntax) {
					t.Fatal(err)
				}
				continue
			}
			if err := p.Pprof().CheckValid(); err != nil {
				t.Fatal(err)
			}
			if len(p.Events) > 0 {
				check(t, p)
				adds(t, p)
			}
		}
	})
}

// adds checks that the samples add up to the totals, unless those are beyond what fits.
func adds(t *testing.T, p *Profile) {
	for i, e := range p.Events {
		var samples, period int64
		for _, s := range p.Pprof().Sample {
			samples, period = sum(samples, s.Value[2*i]), sum(period, s.Value[2*i+1])
		}
		if got := rounded(samples, p.Scale); got != e.Samples && samples < 1<<62 {
			t.Fatalf("%s: %d samples, the total is %d", e.Name, got, e.Samples)
		}
		if got := rounded(period, p.Scale); got != e.PeriodSum && period < 1<<62 {
			t.Fatalf("%s: a period of %d, the total is %d", e.Name, got, e.PeriodSum)
		}
	}
}

package lockstat

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
)

func pprofOf(t *testing.T, tables ...*Table) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := Pprof(tables).Write(&b); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPprofAddsUp checks that a profile holds all that the table does, of every form that tells locks.
func TestPprofAddsUp(t *testing.T) {
	for name, text := range fixtureTexts(t) {
		for _, f := range formats {
			tables, _ := readText(t, name, text, f.sniff, f.read)
			for _, table := range tables {
				p := pprofOf(t, table)
				if err := p.CheckValid(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				var got [4]int64
				for _, s := range p.Sample {
					for i, v := range s.Value {
						got[i] += v
					}
				}
				want := [4]int64{table.Total.Contentions, int64(table.Total.Wait), table.Total.Acquisitions, int64(table.Total.Hold)}
				if f.name == "klockstat" { // a caller's acquisitions are those of one of its two tables
					got[2], want[2] = 0, 0
				}
				if got != want {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
		}
	}
}

// TestPprofStacks looks at the stacks of raw events and of lockstat.
func TestPprofStacks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "convoy.perf"))
	if err != nil {
		t.Fatal(err)
	}
	tables, _ := pair(t, text)
	if diff := cmp.Diff([]string{"[qdisc-root] native_queued_spin_lock_slowpath __dev_xmit_skb"}, stacks(pprofOf(t, tables...))); diff != "" {
		t.Error(diff)
	}
	s := pprofOf(t, tables...).Sample[0]
	if s.Value[0] != tables[0].Total.Contentions || s.Label["kind"][0] != "spinlock" || s.Label["role"][0] != "transmit" || s.Label["lock"][0] != "0xffff888103a4d018" {
		t.Errorf("%+v", s)
	}
	table := one(t, filepath.Join(fixtures, "freebsd.s8.txt"), SniffLockstat, ReadLockstat)
	if got := stacks(pprofOf(t, table)); !strings.HasPrefix(got[0], "[iflib-txq] iflib_if_transmit ether_output_frame") {
		t.Errorf("%q", got)
	}
}

// TestPprofObjects tells the kernel's code from that of programs.
func TestPprofObjects(t *testing.T) {
	text := " tx 7 [000] 1.000010: lock:contention_begin: 0xff (flags=SPIN)\n\tffffffff8220389b _raw_spin_lock+0x3b ([kernel.kallsyms])\n\tffffffffc02a1000 ring_tx+0x10 ([veth])\n" +
		"\t    7fabccdee7c8 [unknown] (/usr/lib/libx.so (deleted))\n\t    55d0c0001139 main+0x9 (/usr/bin/tx)\n\n tx 7 [000] 1.000020: lock:contention_end: 0xff (ret=0)\n\n"
	tables, _ := pair(t, []byte(text))
	if got := tables[0].Locks[0].Sites[0]; got.Caller != "ring_tx+0x10" || got.Stacks[0].Frames[3] != "main+0x9 (tx)" {
		t.Errorf("%+v", got)
	}
	var got []string
	for _, l := range pprofOf(t, tables...).Sample[0].Location {
		got = append(got, l.Line[0].Function.Name+" in "+l.Mapping.File)
	}
	want := []string{"_raw_spin_lock in [kernel.kallsyms]", "ring_tx in [kernel.kallsyms]", "0x7fabccdee7c8 in libx.so (deleted)", "main in tx"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func stacks(p *profile.Profile) (list []string) {
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		list = append(list, strings.Join(names, " "))
	}
	return list
}

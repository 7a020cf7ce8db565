package perf

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// dump prints the samples of a text, one a line, in the words of the cases: comm pid/tid cpu time weight event stack.
func dump(t testing.TB, r *ScriptReader) []string {
	t.Helper()
	var lines []string
	for {
		e, err := r.Next()
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		stack := make([]string, 0, len(e.Stack))
		for i := len(e.Stack) - 1; i >= 0; i-- {
			f := e.Stack[i]
			name := f.Symbol
			if f.Inlined {
				name += " (inlined)"
			} else if f.DSO != "" {
				name += " [" + f.DSO + "]"
			}
			stack = append(stack, name)
		}
		orNone := func(has bool, v any) any {
			if has {
				return v
			}
			return "-"
		}
		lines = append(lines, fmt.Sprintf("%s|%v/%v|%v|%v|%d|%s|%s", e.Comm, orNone(e.HasPID, e.PID), orNone(e.HasTID, e.TID), orNone(e.HasCPU, e.CPU),
			orNone(e.HasTime, int64(e.Time)), e.Weight(), e.Name, strings.Join(stack, ";")))
	}
}

// names returns the entries of a ledger as name xCount@line.
func names(l *source.Ledger) []string {
	found := []string{}
	for _, e := range l.Entries() {
		found = append(found, fmt.Sprintf("%s x%d @%d", e.Name, e.Count, e.First.Line))
	}
	return found
}

func TestCases(t *testing.T) {
	root := shared.Path(t, "cases")
	app := "[/opt/app/app]"
	for _, c := range []struct {
		file string
		want []string
	}{
		{"01-perf-comm-spaces-brackets/bracket-comm.script", []string{
			"[ET_NET 0]|2101/2140|3|1371483014000|250000|cpu-clock|__send [/usr/lib/libc.so.6];tcp_sendmsg [[kernel.kallsyms]];tcp_sendmsg_locked [[kernel.kallsyms]]",
			"job 7 12|4400/4400|11|1371483264000|250000|cpu-clock|main [/opt/app/job];spin [/opt/app/job]",
			":-1|-1/-1|0|1371483514000|250000|cpu-clock|native_safe_halt [[kernel.kallsyms]]",
			"swapper|0/0|0|1371483764000|250000|cpu-clock|native_safe_halt [[kernel.kallsyms]]"}},
		{"01-perf-comm-spaces-brackets/three-words.script", []string{
			"Plex DLNA Serve|-/26638|1|856620530720000|2654110|cycles|__netif_receive_skb [[kernel.kallsyms]];ip_rcv [[kernel.kallsyms]]",
			"DOM Worker|-/21528|3|856620530990000|1200000|cycles|ip_rcv [[kernel.kallsyms]]"}},
		{"01-perf-comm-spaces-brackets/no-cpu-column.script", []string{
			"CUPSManager cup|-/11320|-|186448846888000|1008373|cycles|main [/usr/bin/cupsmgr];poll_printers [/usr/bin/cupsmgr]",
			"t|-/99076|-|10314749002559000|250000|cycles|_dl_setup_hash [/usr/lib/ld-2.17.so]"}},
		{"01-perf-comm-spaces-brackets/no-time-no-period.script", []string{
			"foobar [worker]|-/21332|-|-|1|cycles|my_other_func [/opt/app/foobar];my_func [/opt/app/foobar]"}},
		{"02-perf-parens-in-symbols/perf.script", []string{
			"app|-/900|2|50000001000|250000|cpu-clock|main [/home/u/bench/app];(anonymous namespace)::run(int, char**) [/home/u/bench/app];foo<(some_enum)0>::bar [/home/u/bench/app]",
			"app|-/900|2|50001001000|250000|cpu-clock|syscall [/apex/com.android.runtime/lib64/bionic/libc.so];java.lang.String.hashCode [[JIT app cache]]",
			"app|-/900|2|50002001000|250000|cpu-clock|runtime.goexit.abi0 [/opt/my tools/srv (deleted)];net/http.(*conn).serve [/opt/my tools/srv (deleted)]",
			"app|-/900|2|50003001000|250000|cpu-clock|main [/home/u/bench/app];main::{lambda(int)#1}::operator()(int) const [/home/u/bench/app];std::function<void (int)>::operator()(int) const [/home/u/bench/app];operator() (inlined)",
			"app|-/900|2|50004001000|250000|cpu-clock|mlx5e_xmit [[mlx5_core]];[unknown] [/usr/lib/libssl.so.3];[unknown] [[unknown]]"}},
		{"03-perf-last-event-crlf/one-event-no-blank-line.script", []string{"app|-/77|0|10000100000|250000|cpu-clock|main " + app + ";hot " + app}},
		{"03-perf-last-event-crlf/no-newline-at-end.script", []string{
			"app|-/77|0|10000100000|250000|cpu-clock|main " + app + ";hot " + app, "app|-/77|0|10000350000|250000|cpu-clock|main " + app + ";cold " + app}},
		{"03-perf-last-event-crlf/crlf.script", []string{
			"app|-/77|0|10000100000|250000|cpu-clock|main " + app + ";hot " + app, "app|-/77|0|10000350000|250000|cpu-clock|main " + app + ";cold " + app}},
		{"03-perf-last-event-crlf/header-only.script", nil},
	} {
		r, ledger := readAll(t, shared.Read(t, filepath.Join(root, c.file)))
		if diff := cmp.Diff(c.want, dump(t, r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, diff)
		}
		for _, e := range ledger.Entries() {
			if e.Severity == source.Warning {
				t.Errorf("%s: ledger has %s: %s", c.file, e.Name, e.Text)
			}
		}
	}
}

const twoSamples = `a 1 [000]     1.000001:         10 cycles: 
	            1000 f+0x1 (/bin/a)
	            2000 main+0x2 (/bin/a)

a 1 [000]     2.000001:         20 cycles: 
	            1100 g+0x1 (/bin/a)
	            2000 main+0x2 (/bin/a)

`

func TestDamage(t *testing.T) {
	first, second := "a|-/1|0|1000001000|10|cycles|main [/bin/a];f [/bin/a]", "a|-/1|0|2000001000|20|cycles|main [/bin/a];g [/bin/a]"
	for _, c := range []struct {
		name, text string
		want       []string
		ledger     []string
	}{
		{"whole", twoSamples, []string{first, second}, []string{}},
		{"no blank line between samples", strings.Replace(twoSamples, "\n\n", "\n", 1), []string{first, second}, []string{}},
		{"a broken frame", strings.Replace(twoSamples, "\t            1100 g", "x           1100 g", 1),
			[]string{first, "a|-/1|0|2000001000|20|cycles|main [/bin/a]"}, []string{"unrecognised-line x1 @6"}},
		{"a broken sample line", strings.Replace(twoSamples, "a 1 [000]     2.000001:", "a 1 [000]     2x000001:", 1),
			[]string{first}, []string{"frame-without-sample x2 @6", "unrecognised-line x1 @5"}},
		{"cut in a sample line", twoSamples[:strings.Index(twoSamples, " 20 cycles")], []string{first}, []string{"cut-input x1 @5"}},
		{"cut in a comm", twoSamples[:strings.Index(twoSamples, " 1 [000]     2.0")], []string{first}, []string{"cut-input x1 @5"}},
		{"cut in a frame's symbol", twoSamples[:strings.LastIndex(twoSamples, "ain")], []string{first, "a|-/1|0|2000001000|20|cycles|g [/bin/a]"}, []string{"cut-input x1 @7"}},
		{"cut in an object", twoSamples[:strings.LastIndex(twoSamples, "/a)")], []string{first, "a|-/1|0|2000001000|20|cycles|g [/bin/a]"}, []string{"cut-input x1 @7"}},
		{"cut in an address", twoSamples[:strings.LastIndex(twoSamples, "00 main")], []string{first, "a|-/1|0|2000001000|20|cycles|g [/bin/a]"}, []string{"cut-input x1 @7"}},
		{"cut behind a sample line", twoSamples[:strings.LastIndex(twoSamples, "\t            1100")], []string{first, "a|-/1|0|2000001000|20|cycles|"}, []string{"cut-input x1 @6"}},
		{"cut behind a frame", strings.TrimSuffix(twoSamples, "\n"), []string{first, second}, []string{"cut-input x1 @8"}},
		{"a prompt and other output", twoSamples + "root@host:~# uptime\n 10:00 up 3 days\n", []string{first, second}, []string{}},
		{"prose", twoSamples + "So far so good.\nRegards\n", []string{first, second}, []string{}},
		{"losses", "Processed 100 events and lost 2 chunks!\n\nCheck IO/CPU overload!\n\n" + twoSamples, []string{first, second}, []string{"recorder-loss x2 @1"}},
		{"lost records", "a 1 0.500000: PERF_RECORD_LOST lost 12\n" + twoSamples, []string{first, second}, []string{"recorder-loss x12 @1", "side-record x1 @1"}},
		{"share lost", "Processed 100 samples and lost 12.01%!\n" + twoSamples, []string{first, second}, []string{"recorder-loss x1 @1"}},
		{"source lines and instructions", strings.Replace(twoSamples, "\t            2000 main", "  a.c:12\n\t0000000000001000\tinsn: 55\n\t            2000 main", 1), []string{first, second}, []string{}},
		{"an empty chain", "a 1 [000] 1.000001: 10 cycles: \n\n" + twoSamples, []string{"a|-/1|0|1000001000|10|cycles|", first, second}, []string{}},
		{"a frame without a symbol", "a 1 [000] 1.000001: 10 cycles: \n\tffffffff81000000\n\n", []string{"a|-/1|0|1000001000|10|cycles|[unknown]"}, []string{}},
		{"an address on the line, then a chain", "a 1 [000] 1.000001: 1 page-faults:  7f4fa0ef2ad7 \n\t            1000 f+0x1 (/bin/a)\n\n", []string{"a|-/1|0|1000001000|1|page-faults|f [/bin/a]"}, []string{}},
		{"address and instruction on the line", "a 1 [000] 1.000001: 1 page-faults:      7f4fa0ef2ad7             1000 f+0x1 (/bin/a)\n", []string{"a|-/1|0|1000001000|1|page-faults|f [/bin/a]"}, []string{}},
		{"frames only", "\t            1000 f\n\t            2000 main\n\n\n\t            1100 g\n\n", []string{"|-/-|-|-|1|(none)|main;f", "|-/-|-|-|1|(none)|g"}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, ledger := readAll(t, []byte(c.text))
			if diff := cmp.Diff(c.want, dump(t, r)); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.ledger, names(ledger)); diff != "" {
				t.Errorf("ledger (-want +got):\n%s", diff)
			}
			if _, err := r.Next(); err != io.EOF {
				t.Errorf("Next behind the end: %v", err)
			}
		})
	}
}

// TestCutAnywhere cuts a text at each byte: the samples whose lines are whole stay, and a cut within a line is told.
func TestCutAnywhere(t *testing.T) {
	for n := range twoSamples {
		r, ledger := readAll(t, []byte(twoSamples[:n]))
		got := len(dump(t, r))
		want := strings.Count(twoSamples[:n], "cycles:")
		if got != want {
			t.Errorf("cut at %d: %d samples, want %d: %q", n, got, want, twoSamples[max(0, n-40):n])
		}
		atEnd := n == 0 || strings.HasSuffix(twoSamples[:n], "\n\n")
		if want > 0 && !atEnd && len(ledger.Entries()) == 0 {
			t.Errorf("cut at %d: nothing in the ledger: %q", n, twoSamples[max(0, n-40):n])
		}
	}
}

func TestHandsBack(t *testing.T) {
	ledger := &source.Ledger{}
	lines := source.NewLines(source.NewInput("x", strings.NewReader(twoSamples+"NAME: 3 events\nrest\n")), ledger)
	lines.Foreign = func(head []byte) bool { return bytes.HasPrefix(head, []byte("NAME:")) }
	r := NewScriptReader(lines, ledger)
	if got := dump(t, r); len(got) != 2 {
		t.Errorf("%d samples", len(got))
	}
	if !lines.Next() || string(lines.Bytes()) != "NAME: 3 events" {
		t.Errorf("the next line is %q", lines.Bytes())
	}
}

func TestPositions(t *testing.T) {
	r, _ := readAll(t, []byte(twoSamples))
	for _, want := range []source.Pos{{Source: "x", Line: 1}, {Source: "x", Line: 5, Offset: int64(strings.Index(twoSamples, "a 1 [000]     2"))}} {
		e, err := r.Next()
		if err != nil || e.Pos != want {
			t.Errorf("at %v, want %v (%v)", e.Pos, want, err)
		}
	}
}

func TestHeader(t *testing.T) {
	r, _ := readAll(t, shared.Read(t, filepath.Join("..", "fixtures", "stacks", "header-pidtid.perf.txt")))
	dump(t, r)
	want := Header{Captured: "Mon Nov 30 16:31:22 2026", Host: "vm", Release: "6.18.44-fc-v669", Version: "6.1.187", CPUs: 2, CPU: "Intel(R) Xeon(R) Processor",
		Command: "/usr/bin/perf record -F 999 -a -g -e cpu-clock -o p1.data -- sleep 4"}
	if diff := cmp.Diff(want, r.Header()); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

func TestPayload(t *testing.T) {
	r, _ := readAll(t, shared.Read(t, filepath.Join("..", "fixtures", "stacks", "tracepoints.perf.txt")))
	e, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if want := "dev=ntfl0 skbaddr=0xffff8881565fd0e0 len=16450"; string(e.Payload) != want || e.Name != "net:net_dev_queue" {
		t.Errorf("%s %q, want %q", e.Name, e.Payload, want)
	}
}

// TestAllocations reads a text a second time: then all names are known, and samples cost no allocation.
func TestAllocations(t *testing.T) {
	text := shared.Read(t, filepath.Join("..", "fixtures", "stacks", "default.perf.txt"))
	r, _ := readAll(t, bytes.Repeat(text, 200))
	for range 100 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(1000, func() { r.Next() }); n > 0 {
		t.Errorf("%v allocations a sample", n)
	}
}

// TestBranch: what -F +flags prints before the only frame, and the target behind it, are no part of the frame.
func TestBranch(t *testing.T) {
	const frame = "ffffffff81b6ccb0 _copy_to_iter+0x80 ([kernel.kallsyms])"
	for _, rest := range []string{frame, "jmp    " + frame, "tr end  call   " + frame, "jcc  " + frame + " => ffffffff81b6ccb4 f+0x84 ([kernel.kallsyms])"} {
		r, _ := readAll(t, []byte("swapper     0 [001]   621.000808:          1 branches:   "+rest+"\n"))
		e, err := r.Next()
		if err != nil || len(e.Stack) != 1 || e.Stack[0].Symbol != "_copy_to_iter" || e.Stack[0].DSO != "[kernel.kallsyms]" || e.Stack[0].Offset != 0x80 {
			t.Errorf("%q: %+v, %v", rest, e, err)
		}
	}
}

package perf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/source"
)

// columns is what perf script -F prints of a sample with a call chain.
type columns struct{ comm, pid, tid, cpu, misc, time, period, event bool }

// sampleText prints a sample as tools/perf/builtin-script.c of Linux 6.1 does, and what has to be read from it.
func sampleText(c columns, narrow bool, comm string, pid, tid, cpu int, nanos, period int64) (text, want string) {
	var b strings.Builder
	one, both := "%7d ", "%7d/%-7d "
	if narrow { // up to perf 4
		one, both = "%5d ", "%5d/%-5d "
	}
	read := []any{"", "-", "-", "-", "-", int64(1), NoEvent}
	if c.comm {
		b.WriteString(comm + " ")
		read[0] = comm
	}
	switch {
	case c.pid && c.tid:
		fmt.Fprintf(&b, both, pid, tid)
		read[1], read[2] = pid, tid
	case c.tid:
		fmt.Fprintf(&b, one, tid)
		read[2] = tid
	}
	if c.cpu {
		fmt.Fprintf(&b, "[%03d] ", cpu)
		read[3] = cpu
	}
	if c.misc {
		b.WriteString("K     ")
	}
	if c.time {
		fmt.Fprintf(&b, "%5d.%09d: ", nanos/1e9, nanos%1e9)
		read[4] = nanos
	}
	if c.period {
		fmt.Fprintf(&b, "%10d ", period)
		read[5] = period
	}
	if c.event {
		b.WriteString("cpu-clock:pppH: ")
		read[6] = "cpu-clock"
	}
	b.WriteString("\n\tffffffff81a0c3d1 tcp_sendmsg+0x71 ([kernel.kallsyms])\n\t          401150 main (/opt/my tools/a)\n\n")
	return b.String(), fmt.Sprintf("%s|%v/%v|%v|%v|%d|%s|main [/opt/my tools/a];tcp_sendmsg [[kernel.kallsyms]]", read...)
}

// TestColumns reads what perf prints for any choice of columns that tells a thread or a time: none is mistaken for another,
// and no name loses a part.
func TestColumns(whole *testing.T) {
	rapid.Check(whole, func(t *rapid.T) {
		c := columns{comm: rapid.Bool().Draw(t, "comm"), tid: rapid.Bool().Draw(t, "tid"), cpu: rapid.Bool().Draw(t, "cpu"),
			time: rapid.Bool().Draw(t, "time"), period: rapid.Bool().Draw(t, "period"), event: rapid.Bool().Draw(t, "event")}
		c.pid = c.tid && rapid.Bool().Draw(t, "pid")
		c.misc = (c.comm || c.tid) && rapid.Bool().Draw(t, "misc")
		if !c.comm && !c.tid && !c.time {
			t.Skip("no column that tells a sample")
		}
		narrow := rapid.Bool().Draw(t, "narrow")
		names := []string{"iperf3", "dd", "[ET_NET 0]", "Plex DLNA Serve", ":-1", "kworker/3:1-mm", "a: b", "f", "C2 CompilerThre"}
		if c.tid && c.time { // else a number at the end may be taken for a column
			names = append(names, "job 7 12", "7", "tx 12/3 [001]")
		}
		var text strings.Builder
		var want []string
		for range rapid.IntRange(1, 4).Draw(t, "samples") {
			one, read := sampleText(c, narrow, rapid.SampledFrom(names).Draw(t, "name"), rapid.IntRange(1, 99999).Draw(t, "process"), rapid.IntRange(1, 99999).Draw(t, "thread"),
				rapid.IntRange(0, 300).Draw(t, "at"), rapid.Int64Range(1, 1e16).Draw(t, "nanos"), rapid.Int64Range(1, 1e12).Draw(t, "weight"))
			text.WriteString(one)
			want = append(want, read)
		}
		if SniffScript([]byte(text.String())) != source.Strong {
			t.Fatalf("not recognised:\n%s", text.String())
		}
		r, ledger := readAll(whole, []byte(text.String()))
		if diff := cmp.Diff(want, dump(whole, r)); diff != "" {
			t.Errorf("%s(-want +got):\n%s", text.String(), diff)
		}
		if n := len(ledger.Entries()); n > 0 {
			t.Errorf("%d entries in the ledger of\n%s", n, text.String())
		}
	})
}

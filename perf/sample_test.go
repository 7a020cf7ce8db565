package perf

import (
	"testing"

	"nettrace/unit"
)

// TestSampleLine takes first lines of samples apart, as perf of several versions and simpleperf print them.
func TestSampleLine(t *testing.T) {
	type want struct {
		comm          string
		pid, tid, cpu int // -9 for none
		time          unit.Nanos
		period        int64
		event, rest   string
	}
	const none = -9
	for _, c := range []struct {
		line string
		want
	}{
		{"iperf3 10469 [000]   621.000803:    1001001 cpu-clock: ", want{"iperf3", none, 10469, 0, 621000803000, 1001001, "cpu-clock", ""}},
		{"iperf3 10469/10469 [000] K       621.000803707:    1001001 cpu-clock: ", want{"iperf3", 10469, 10469, 0, 621000803707, 1001001, "cpu-clock", ""}},
		{"     tx 12/3 [x] 23641   982.721033:    5025125 cpu-clock:      55d0bfacf8c8 f+0x18 (/x)", want{"tx 12/3 [x]", none, 23641, none, 982721033000, 5025125, "cpu-clock", "55d0bfacf8c8 f+0x18 (/x)"}},
		{"               7 23643   982.727894:    5025125 cpu-clock:      55d0bfacfd63 f (/x)", want{"7", none, 23643, none, 982727894000, 5025125, "cpu-clock", "55d0bfacfd63 f (/x)"}},
		{"worker: a;b 23642   982.735973:    5025125 cpu-clock: ", want{"worker: a;b", none, 23642, none, 982735973000, 5025125, "cpu-clock", ""}},
		{"job 7 12  4400/4400  [011]  1371.483264:     250000 cpu-clock:pppH: ", want{"job 7 12", 4400, 4400, 11, 1371483264000, 250000, "cpu-clock:pppH", ""}},
		{"[ET_NET 0]  2101/2140  [003]  1371.483014:     250000 cpu-clock:pppH: ", want{"[ET_NET 0]", 2101, 2140, 3, 1371483014000, 250000, "cpu-clock:pppH", ""}},
		{":-1    -1/-1    [000]  1371.483514:     250000 cpu-clock:pppH: ", want{":-1", -1, -1, 0, 1371483514000, 250000, "cpu-clock:pppH", ""}},
		{"t 99076 10314749.002559:     250000 cycles: ", want{"t", none, 99076, none, 10314749002559000, 250000, "cycles", ""}},
		{"Gecko\t25122 [007] 115539.936601:\t\t1000000 task-clock:u:", want{"Gecko", none, 25122, 7, 115539936601000, 1000000, "task-clock:u", ""}},
		{"shapes 27535 [001]  1114.725823:       sched:sched_switch: prev_comm=tx 12/3 [x] prev_pid=1 9 2.5: x", want{"shapes", none, 27535, 1, 1114725823000, 0, "sched:sched_switch", "prev_comm=tx 12/3 [x] prev_pid=1 9 2.5: x"}},
		{"goload 23097 [001]   973.597853: lock:contention_begin: 0xffff8881003c4cec (flags=SPIN)", want{"goload", none, 23097, 1, 973597853000, 0, "lock:contention_begin", "0xffff8881003c4cec (flags=SPIN)"}},
		{"iperf3 10469   621.000803: ", want{"iperf3", none, 10469, none, 621000803000, 0, "", ""}},
		{"iperf3 10469   621.000803:  ffffffff81b6ccb0 _copy_to_iter", want{"iperf3", none, 10469, none, 621000803000, 0, "", "ffffffff81b6ccb0 _copy_to_iter"}},
		{"a 1 621.000803:  4006 main (/a)", want{"a", none, 1, none, 621000803000, 0, "", "4006 main (/a)"}},
		{"swapper     0 [012] 2281339.604067:   20834821 cycles:", want{"swapper", none, 0, 12, 2281339604067000, 20834821, "cycles", ""}},
		{"a 1 [000] 5.000001: 10 cpu/mem-loads,ldlat=30/P: ", want{"a", none, 1, 0, 5000001000, 10, "cpu/mem-loads,ldlat=30/P", ""}},
		{"my app 2 7/8 [000] 2026-11-30 16:31:22.123456   5.000001: 10 cycles: ", want{"my app 2", 7, 8, 0, 5000001000, 10, "cycles", ""}},
		{"2026-11-30 16:31:22 7 [000] 5.000001: 10 cycles: ", want{"2026-11-30 16:31:22", none, 7, 0, 5000001000, 10, "cycles", ""}},
		{"VM: 1234 VCPU:001 qemu 7 [000] 5.000001: 10 cycles: ", want{"qemu", none, 7, 0, 5000001000, 10, "cycles", ""}},
		{"a 1 99999999999999.5: 99999999999999999999 cycles: ", want{"a", none, 1, none, -1, 1<<63 - 1, "cycles", ""}}, // beyond an int64
	} {
		var s sampleLine
		if !s.parse([]byte(c.line)) {
			t.Errorf("%q is no sample line", c.line)
			continue
		}
		got := want{string(s.comm), none, none, none, -1, s.period, string(s.event), string(s.rest)}
		if s.hasPID {
			got.pid = s.pid
		}
		if s.hasTID {
			got.tid = s.tid
		}
		if s.hasCPU {
			got.cpu = s.cpu
		}
		if s.hasTime {
			got.time = s.time
		}
		if got != c.want || s.hasPeriod != (c.period != 0) {
			t.Errorf("%q:\n got %+v\nwant %+v", c.line, got, c.want)
		}
	}
}

func TestNoSampleLine(t *testing.T) {
	for _, line := range []string{
		"", ":", "1.5:", " 1.5: x", "eth0: flags=4163", "a b 1.5: c",
		"          <idle>-0       [001] d..2.  1296.049883: contention_begin: 0xffff", // ftrace
		"[  621.000803] tcp: 12:34", "12:00:01.123456 IP 10.0.0.1.22 > 10.0.0.2.33: Flags [S]", "foo 12x 1.5: a:", "foo 1/2/3 1.5: a:", "foo 12 1.5.6: a:", "foo 12 .5: a:", "foo 12 5.5:a",
	} {
		var s sampleLine
		if s.parse([]byte(line)) {
			t.Errorf("%q is taken for a sample line: %+v", line, s)
		}
	}
}

func TestPartialLayouts(t *testing.T) {
	const frame, none = "\t            1000 f (/x)\n\n", -9
	for _, c := range []struct {
		line, behind string
		layout       layout
		comm         string
		tid, cpu     int
		period       int64
		event        string
	}{
		{"foobar [worker] 21332 cycles: ", "", tidAndEvent, "foobar [worker]", 21332, none, 0, "cycles"},
		{"worker: a;b 23642 1000 cpu-clock:u: ", "", tidAndEvent, "worker: a;b", 23642, none, 1000, "cpu-clock:u"},
		{"node-v011 31912 cpu-clock: ", "", tidAndEvent, "node-v011", 31912, none, 0, "cpu-clock"},
		{"18954 U        1003009 cpu-clock: ", frame, tidAndEvent, "", 18954, none, 1003009, "cpu-clock"},
		{"   77 K        1003009 cpu-clock: ", frame, tidAndEvent, "", 77, none, 1003009, "cpu-clock"},
		{"iperf3 [001] 621.000803:  1001001 cpu-clock: ", "", timeOnly, "iperf3", none, 1, 1001001, "cpu-clock"},
		{"              dd [001] K      4994.391388374: cpu-clock: ", "", timeOnly, "dd", none, 1, 0, "cpu-clock"},
		{"sh    1003009 cpu-clock: ", frame, eventOnly, "sh", none, none, 1003009, "cpu-clock"},
		{"my job [011] U     cycles:u: ", frame, eventOnly, "my job", none, 11, 0, "cycles:u"},
		{"sh ", frame, beforeFrames, "sh", none, none, 0, ""},
		{"job 7 ", frame, beforeFrames, "job 7", none, none, 0, ""},
		{"sh 18954    1003009 ", frame, beforeFrames, "sh", 18954, none, 1003009, ""},
		{"sh 18954/18954 [003] ", frame, beforeFrames, "sh", 18954, 3, 0, ""},
		{"sh [000] U     ", frame, beforeFrames, "sh", none, 0, 0, ""},
		{"   77 ", frame, beforeFrames, "", 77, none, 0, ""},
		{"sh", frame + "dd\n" + frame, beforeFrames, "sh", none, none, 0, ""},

		{"iperf3 12 packets: all of them", "", noLayout, "", none, none, 0, ""},
		{"The stack is this: ", frame, noLayout, "", none, none, 0, ""},
		{"This is where it hangs", frame, noLayout, "", none, none, 0, ""},
		{"sh ", "\tffffffff81 f\n", noLayout, "", none, none, 0, ""}, // of another tool, which pads otherwise
		{"sh ", frame + frame, noLayout, "", none, none, 0, ""},      // frames without any line about their sample
	} {
		var s sampleLine
		if got := partialLayout(&s, []byte(c.line), lookBehind([]byte(c.behind))); got != c.layout {
			t.Errorf("%q has layout %d, want %d", c.line, got, c.layout)
			continue
		}
		if c.layout == noLayout {
			continue
		}
		tid, cpu := none, none
		if s.hasTID {
			tid = s.tid
		}
		if s.hasCPU {
			cpu = s.cpu
		}
		if string(s.comm) != c.comm || tid != c.tid || cpu != c.cpu || s.period != c.period || string(s.event) != c.event {
			t.Errorf("%q: got %q %d %d %d %q", c.line, s.comm, tid, cpu, s.period, s.event)
		}
	}
}

func TestSplitEvent(t *testing.T) {
	for in, want := range map[string][2]string{
		"cycles": {"cycles", ""}, "cycles:ppp": {"cycles", "ppp"}, "cpu-clock:uhH": {"cpu-clock", "uhH"}, "cycles:P": {"cycles", "P"},
		"irq:softirq_entry": {"irq:softirq_entry", ""}, "cpu/mem-loads,ldlat=30/P": {"cpu/mem-loads,ldlat=30/", "P"}, "cpu/cycles/": {"cpu/cycles/", ""},
		"probe:tcp_sendmsg": {"probe:tcp_sendmsg", ""}, ":u": {":u", ""},
	} {
		name, modifiers := splitEvent([]byte(in))
		if string(name) != want[0] || string(modifiers) != want[1] {
			t.Errorf("splitEvent(%q) = %q, %q", in, name, modifiers)
		}
	}
}

package perf

import (
	"bytes"
	"testing"
)

func TestField(t *testing.T) {
	for _, c := range []struct{ payload, key, value string }{
		{"irq=36 name=virtio1-req.0", "irq", "36"},
		{"irq=36 name=virtio1-req.0", "name", "virtio1-req.0"},
		{"irq=9 name=my device 2", "name", "my device 2"},
		{"irq=36 ret=handled", "ret", "handled"},
		{"vec=3 [action=NET_RX]", "vec", "3"},
		{"vec=3 [action=NET_RX]", "action", "NET_RX"},
		{"napi poll on napi struct 0xffff888627c2d1c8 for device (no_device) work 1 budget 64", "device", "(no_device)"},
		{"napi poll on napi struct 0xffff888627c2d1c8 for device eth0 work 1 budget 64", "work", "1"},
		{"napi poll on napi struct 0xffff888627c2d1c8 for device eth0 work 1 budget 64", "budget", "64"},
		{"dev=ntfl1 skbaddr=0xffff888104febb00 len=66 rc=0", "len", "66"},
		{"dev=ntfl1 skbaddr=0xffff888104febb00 len=66 rc=0", "rc", "0"},
		{"skbaddr=0xffff8881 protocol=2048 location=0xffffffff81 reason: TCP_OVERWINDOW", "location", "0xffffffff81"},
		{"skbaddr=0xffff8881 protocol=2048 location=0xffffffff81 reason: TCP_OVERWINDOW", "reason", "TCP_OVERWINDOW"},
		{"0xffff888627c2ba80 (flags=SPIN)", "flags", "SPIN"},
		{"0xffff888627c2ba80 (flags=SPIN|READ)", "flags", "SPIN|READ"},
		{"0xffff888627c2ba80 (ret=-4)", "ret", "-4"},
		{"prev_comm=tx 12/3 [x] prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=2 next_prio=120", "prev_comm", "tx 12/3 [x]"},
		{"prev_comm=tx 12/3 [x] prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=2 next_prio=120", "prev_state", "R"},
		{"prev_comm=tx 12/3 [x] prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=2 next_prio=120", "next_comm", "a b"},
		{"prev_comm= prev_pid=1", "prev_comm", ""},
		{"uaddr: 0x7f0012, op: 0x00000189, val: 0x02", "uaddr", "0x7f0012"},
		{"uaddr: 0x7f0012, op: 0x00000189, val: 0x02", "val", "0x02"},
		{"comm=iperf3 pid=7 runtime=1234 [ns] vruntime=5678 [ns]", "runtime", "1234 [ns]"},
		{"a=1 data[b=2]", "b", "2"},
	} {
		value, ok := Field([]byte(c.payload), c.key)
		if !ok || string(value) != c.value {
			t.Errorf("%s of %q = %q, %v; want %q", c.key, c.payload, value, ok, c.value)
		}
	}
	for _, c := range []struct{ payload, key string }{
		{"irq=36 name=x", "ir"}, {"irq=36 name=x", "rq"}, {"", "irq"}, {"skbaddr=0x1", "addr"}, {"len", "len"}, {"work ", "work"}, {"a:b", "a"},
	} {
		if value, ok := Field([]byte(c.payload), c.key); ok {
			t.Errorf("%s of %q = %q; it has no such field", c.key, c.payload, value)
		}
	}
}

func TestNumberField(t *testing.T) {
	payload := []byte("len=66 rc=-1 skbaddr=0xffff888104febb00 runtime=12 [ns] name=x big=99999999999999999999")
	for key, want := range map[string]int64{"len": 66, "rc": -1, "skbaddr": -0x777e_fb01_4500, "runtime": 12, "big": 1<<63 - 1} {
		if n, ok := NumberField(payload, key); !ok || n != want {
			t.Errorf("%s = %d, %v; want %d", key, n, ok, want)
		}
	}
	for _, key := range []string{"name", "absent"} {
		if n, ok := NumberField(payload, key); ok {
			t.Errorf("%s = %d; it is no number", key, n)
		}
	}
}

// FuzzField: a value is a part of the payload behind its key, and holds no field boundary that a second look finds.
func FuzzField(f *testing.F) {
	f.Add([]byte("prev_comm=tx 12/3 [x] prev_pid=1 ==> next_comm=a b next_pid=2"), "prev_comm")
	f.Add([]byte("vec=3 [action=NET_RX]"), "action")
	f.Add([]byte("uaddr: 0x7f, op: 0x1"), "op")
	f.Fuzz(func(t *testing.T, payload []byte, key string) {
		value, ok := Field(payload, key)
		if !ok {
			return
		}
		if !bytes.Contains(payload, append([]byte(key), '=')) && !bytes.Contains(payload, append([]byte(key), ':')) && !bytes.Contains(payload, append([]byte(key), ' ')) {
			t.Errorf("%q has no key %q, but a value %q", payload, key, value)
		}
		if !bytes.Contains(payload, value) {
			t.Errorf("value %q is no part of %q", value, payload)
		}
		Number(value)
	})
}

func BenchmarkField(b *testing.B) {
	payload := []byte("dev=ntfl1 skbaddr=0xffff888104febb00 len=66 rc=0")
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := NumberField(payload, "len"); !ok {
			b.Fatal("no length")
		}
	}
}

package flame

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

func readGmon(t testing.TB, name string, content []byte) (*Profile, *source.Ledger, error) {
	ledger := &source.Ledger{}
	p, err := ReadGmon(source.NewInput(name, strings.NewReader(string(content))), ledger)
	return p, ledger, err
}

func TestReadGmon(t *testing.T) {
	file := shared.Read(t, fixture("kernel.gmon"))
	if SniffGmon(file) != source.Strong {
		t.Error("not recognised")
	}
	p, ledger, err := readGmon(t, "profiles/CLOCK.HARD/kernel.gmon", file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := folded(t, p, Column{}), "0x1020 5\n0x1030 7\n0x10f0 65535\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if e := p.Events[0]; e.Name != "CLOCK.HARD" || e.Samples != 65547 {
		t.Errorf("%+v", e)
	}
	for _, f := range newView(p.pprof, nil).frames {
		if f.Object != "kernel" || f.Kind != Kernel {
			t.Errorf("%+v is not the kernel's", f)
		}
	}
	if diff := cmp.Diff([]string{"arc-not-kept x1 @0", "counter-saturated x1 @0"}, entries(ledger)); diff != "" && len(entries(ledger)) != 2 {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	p, ledger, err = readGmon(t, "a.gmon", file[:46])
	if err != nil || p.Events[0].Name != "samples" || p.Events[0].Samples != 5 || len(entries(ledger)) != 1 {
		t.Errorf("cut: %v, %+v, ledger %v", err, p.Events, entries(ledger))
	}
	if _, _, err := readGmon(t, "a.gmon", file[:30]); err == nil {
		t.Error("half of a header is read")
	}
}

// TestReadGoText: Go's text names the functions that the protobuf of the same process has.
func TestReadGoText(t *testing.T) {
	text := shared.Read(t, fixture("go-mutex-debug1.pprof.txt"))
	for name, text := range map[string][]byte{"as written": text, "with CR LF": []byte(strings.ReplaceAll(string(text), "\n", "\r\n"))} {
		if SniffPprof(text) != source.Strong {
			t.Fatalf("%s: not recognised", name)
		}
		p, _ := readBinary(t, ReadPprof, text)
		binary, _ := readBinary(t, ReadPprof, shared.Read(t, shared.Path(t, filepath.Join("data", "stacks", "go-pprof", "go-mutex.pb.gz"))))
		if p.Events[0].Name != "delay" || p.Events[0].Samples != binary.Events[0].Samples {
			t.Errorf("%s: %+v, the protobuf has %+v", name, p.Events, binary.Events)
		}
		if got := folded(t, p, Column{}); !strings.Contains(got, "main.main.func1.gowrap1;main.serve;main.(*table).add;sync.(*Mutex).Unlock ") {
			t.Errorf("%s: functions are not named:\n%s", name, got)
		}
	}
	const heap = "heap profile: 1: 16 [2: 32] @ heap/1048576\n1: 16 [2: 32] @ 0x4010 0x4020\n#\t0x400f\tmain.a+0xf\t\t/x.go:3\n#\t0x401f\tmain.b+0x1f\t/x.go:9\n\n"
	p, _ := readBinary(t, ReadPprof, []byte(heap))
	if got := folded(t, p, Column{Event: p.Events[0].Name, Value: Samples}); !strings.HasPrefix(got, "main.b;main.a ") {
		t.Errorf("heap: %q", got)
	}
	const goroutines = "goroutine profile: total 3\n2 @ 0x4010\n#\t0x400f\tmain.wait+0xf\t/x.go:3\n\n1 @ 0x4030\n#\t0x402f\tmain.main+0x2f\t/x.go:9\n"
	p, _ = readBinary(t, ReadPprof, []byte(goroutines))
	if got, want := folded(t, p, Column{}), "main.main 1\nmain.wait 2\n"; got != want {
		t.Errorf("goroutines: %q, want %q", got, want)
	}
}

func TestLegacySniff(t *testing.T) {
	for _, text := range []string{"--- mutex\n", "heap profile\n", "goroutine 1 [running]:\n", "\x00\x00\x00\x00\x00\x00\x00\x00", "NAME: contention\n"} {
		if isLegacyPprof([]byte(text)) {
			t.Errorf("%q is taken for a profile", text)
		}
	}
}

// FuzzGmon: what is read adds up, whatever a header says of the size.
func FuzzGmon(f *testing.F) {
	file := shared.Read(f, fixture("kernel.gmon"))
	f.Add(file)
	f.Add(file[:50])
	f.Fuzz(func(t *testing.T, content []byte) {
		p, _, err := readGmon(t, "x.gmon", content)
		if err != nil {
			return
		}
		if err := p.Pprof().CheckValid(); err != nil {
			t.Fatal(err)
		}
		adds(t, p)
	})
}

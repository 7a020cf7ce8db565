package perf

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/source"
	"nettrace/symbol"
)

// pmcWriter writes logs for tests as the kernels of FreeBSD do.
type pmcWriter struct {
	byteOrder
	old, wide bool
	time      uint64
	out       bytes.Buffer
}

func (w *pmcWriter) u32(values ...uint32) []byte {
	var b []byte
	for _, v := range values {
		b = w.AppendUint32(b, v)
	}
	return b
}

// long writes 8 bytes, low word first.
func (w *pmcWriter) long(v uint64) []byte { return w.u32(uint32(v), uint32(v>>32)) }

func (w *pmcWriter) address(v uint64) []byte {
	if w.wide {
		return w.long(v)
	}
	return w.u32(uint32(v))
}

// pid writes a process, which has a pad behind it since FreeBSD 12 where an address follows.
func (w *pmcWriter) pid(pid int32) []byte {
	if w.old {
		return w.u32(uint32(pid))
	}
	return w.u32(uint32(pid), 0)
}

func (w *pmcWriter) record(kind pmcRecord, parts ...[]byte) {
	body := bytes.Join(parts, nil)
	body = append(body, make([]byte, -len(body)&3)...)
	number := uint32(kind)
	w.time += 500
	if w.old {
		if kind <= pmcInitialize {
			number--
		}
		w.out.Write(w.u32(pmcMagic<<24|number<<16|uint32(12+len(body)), uint32(w.time/1e9), uint32(w.time%1e9)))
	} else {
		w.out.Write(w.u32(pmcMagic<<24|number<<16|uint32(16+len(body)), 0))
		w.out.Write(w.AppendUint64(nil, w.time))
	}
	w.out.Write(body)
}

func (w *pmcWriter) text(s string) []byte { return append([]byte(s), 0) }

func (w *pmcWriter) begin(version uint32) {
	if w.old {
		w.record(pmcInitialize, w.u32(version, 3))
		return
	}
	w.record(pmcInitialize, w.u32(version, 3), w.AppendUint64(nil, 1e9), make([]byte, 16), append([]byte("GenuineIntel-6-55-4"), make([]byte, 45)...))
}

func (w *pmcWriter) chain(pid int32, flags uint32, addresses ...uint64) {
	parts := [][]byte{w.u32(uint32(pid))}
	if !w.old {
		parts = append(parts, w.u32(101))
	}
	parts = append(parts, w.u32(7, 2<<16|flags))
	for _, a := range addresses {
		parts = append(parts, w.address(a))
	}
	w.record(pmcCallchain, parts...)
}

func readPMCLog(t testing.TB, content []byte, files *symbol.Files) (samples []string, entries []source.Entry) {
	t.Helper()
	var ledger source.Ledger
	r, err := NewPMCLogReader(source.NewInput("x", bytes.NewReader(content)), &ledger, files)
	if err != nil {
		t.Fatal(err)
	}
	err = Each(r, func(e *Event) {
		var frames []string
		for _, f := range e.Stack {
			frames = append(frames, fmt.Sprintf("%s@%s", f.Symbol, f.DSO))
		}
		samples = append(samples, fmt.Sprintf("%s %d %s %d %d %s", e.Comm, e.PID, e.Name, e.Period, e.CPU, strings.Join(frames, " ")))
	})
	if err != nil {
		t.Fatal(err)
	}
	return samples, ledger.Entries()
}

// TestPMCLogs reads the same story from logs of every kind of machine and version.
func TestPMCLogs(t *testing.T) {
	const kernelStart = 0xffffffff80200000
	for _, o := range []byteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, old := range []bool{true, false} {
			for _, wide := range []bool{true, false} {
				w := &pmcWriter{byteOrder: o, old: old, wide: wide, time: 5e9}
				kernel, library, program := uint64(kernelStart), uint64(0x2a5d12345000), uint64(0x400000)
				if !wide {
					kernel, library = 0xc0400000, 0x28000000
				}
				version, rate := uint32(0x0a030000), int64(65536)
				if old {
					version, rate = 0x03010000, 0
				}
				w.begin(version)
				if old {
					w.record(pmcAllocateDyn, w.u32(7, 1, 0), append([]byte("unhalted_core_cycles"), make([]byte, 44)...))
				} else {
					w.record(pmcAllocateDyn, w.u32(7, 1, 0, 0), w.long(uint64(rate)), append([]byte("unhalted_core_cycles"), make([]byte, 36)...))
				}
				w.record(pmcMapIn, w.pid(-1), w.address(kernel), w.text("kernel"))
				w.record(pmcMapIn, w.pid(-1), w.address(kernel+0x2000000), w.text("if_ix.ko"))
				if old {
					w.record(pmcProcExec, w.u32(100, 7), w.address(program), w.text("/usr/bin/netperf"))
				} else {
					w.record(pmcProcExec, w.u32(100, 7), w.address(0x1000), w.address(0x2000), w.text("/usr/bin/netperf"))
				}
				w.record(pmcMapIn, w.pid(100), w.address(library), w.text("/lib/libc.so.7"))
				w.chain(100, pmcUserCycles, library+0x10, program)
				w.chain(100, 0, kernel+0x2000010, kernel+0x20, library+0x10)
				w.chain(-1, 0, kernel+0x20, kernel+0x30, kernel+0x40)
				w.record(pmcProcFork, w.u32(100, 200))
				w.chain(200, pmcUserCycles, library+0x20)
				w.record(pmcMapOut, w.pid(200), w.address(library), w.address(library+0x10000))
				w.chain(200, pmcUserCycles, library+0x20)
				w.record(pmcDrop)
				w.record(pmcCloseLog)

				who := "netperf"
				want := []string{
					fmt.Sprintf("%s 100 unhalted_core_cycles %d 2 [unknown]@/lib/libc.so.7 [unknown]@[unknown]", who, rate),
					fmt.Sprintf("%s 100 unhalted_core_cycles %d 2 [unknown]@if_ix.ko [unknown]@kernel [unknown]@/lib/libc.so.7", who, rate),
					fmt.Sprintf("kernel -1 unhalted_core_cycles %d 2 [unknown]@kernel [unknown]@kernel [unknown]@kernel", rate),
					fmt.Sprintf("%s 200 unhalted_core_cycles %d 2 [unknown]@/lib/libc.so.7", who, rate),
					fmt.Sprintf("%s 200 unhalted_core_cycles %d 2 [unknown]@[unknown]", who, rate),
				}
				got, ledger := readPMCLog(t, w.out.Bytes(), nil)
				if !slices.Equal(got, want) {
					t.Errorf("%v old %v wide %v:\n%s\nexpected\n%s\n%v", o, old, wide, strings.Join(got, "\n"), strings.Join(want, "\n"), ledger)
				}
				if !slices.ContainsFunc(ledger, func(e source.Entry) bool { return e.Name == "recorder-loss" && e.Severity == source.Warning }) {
					t.Errorf("dropped samples are not in the ledger: %v", ledger)
				}
				if SniffPMCLog(w.out.Bytes()) != source.Strong {
					t.Error("not recognised")
				}
			}
		}
	}
}

// hotRoot is a copied file system that holds the program of the recordings.
func hotRoot(t testing.TB) *symbol.Files {
	t.Helper()
	content, err := os.ReadFile("../fixtures/recordings/hot")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "usr/bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "usr/bin/hot"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	files, errs := symbol.Open([]string{root})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return files
}

// TestPMCLogSymbols names functions of a program whose place the log of FreeBSD 15 tells.
func TestPMCLogSymbols(t *testing.T) {
	const base = 0x2a5d12345000
	w := &pmcWriter{byteOrder: binary.LittleEndian, wide: true}
	w.begin(0x0a030000)
	w.record(pmcProcCreate, w.u32(100, 0), append([]byte("hot load"), make([]byte, 12)...))
	w.record(pmcProcExec, w.u32(100, 7), w.address(0x1000), w.address(base), w.text("/usr/bin/hot"))
	w.record(pmcThreadCreate, w.u32(101, 100, 0, 0), append([]byte("worker 1"), make([]byte, 12)...))
	w.chain(100, pmcUserCycles, base+0x1490, base+0x164b, base+0x121f)
	got, _ := readPMCLog(t, w.out.Bytes(), hotRoot(t))
	want := "worker 1 100 (none) 0 2 checksum@/usr/bin/hot mainloop@/usr/bin/hot main@/usr/bin/hot"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q, expected %q", got, want)
	}
}

// TestPMCLogParts reads the addresses of a chain that other parts precede (FreeBSD 15).
func TestPMCLogParts(t *testing.T) {
	w := &pmcWriter{byteOrder: binary.LittleEndian, wide: true}
	w.begin(0x0a030000)
	w.record(pmcMapIn, w.pid(-1), w.address(0xffffffff80200000), w.text("kernel"))
	w.record(pmcCallchain, w.u32(100, 101, 7, pmcMultipart), []byte{3, 2, 1, 2, 0, 0, 0, 0}, w.long(1), w.long(2), w.long(0xffffffff80200010), w.long(0xffffffff80200020))
	got, _ := readPMCLog(t, w.out.Bytes(), nil)
	if len(got) != 1 || !strings.HasSuffix(got[0], " [unknown]@kernel [unknown]@kernel") {
		t.Errorf("got %q", got)
	}
}

// TestPMCLogCut: what stands before a cut is read, and the cut is told.
func TestPMCLogCut(t *testing.T) {
	w := &pmcWriter{byteOrder: binary.LittleEndian, wide: true}
	w.begin(0x0a030000)
	w.record(pmcMapIn, w.pid(-1), w.address(0xffffffff80200000), w.text("kernel"))
	head := w.out.Len()
	for range 5 {
		w.chain(100, 0, 0xffffffff80200010)
	}
	content := w.out.Bytes()
	each := (len(content) - head) / 5
	for n := pmcInitOld; n < len(content); n++ {
		got, ledger := readPMCLog(t, content[:n], nil)
		want := max(0, (n-head)/each)
		whole := (n-head)%each == 0 && n >= head || n == 112
		told := slices.ContainsFunc(ledger, func(e source.Entry) bool { return e.Name == "cut-input" })
		if len(got) != want || told == whole {
			t.Errorf("cut at byte %d: %d samples, expected %d; told %v", n, len(got), want, told)
		}
	}
}

func FuzzPMCLog(f *testing.F) {
	for _, old := range []bool{true, false} {
		w := &pmcWriter{byteOrder: binary.LittleEndian, wide: true, old: old}
		w.begin(0x0a030000)
		w.record(pmcMapIn, w.pid(-1), w.address(0xffffffff80200000), w.text("kernel"))
		w.record(pmcProcExec, w.u32(100, 7), w.address(0x1000), w.address(0x2000), w.text("/usr/bin/hot"))
		w.chain(100, 0, 0xffffffff80200010, 0x1490)
		w.record(pmcMapOut, w.pid(100), w.address(0x1000), w.address(0x2000))
		f.Add(w.out.Bytes())
	}
	files := hotRoot(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		var ledger source.Ledger
		r, err := NewPMCLogReader(source.NewInput("x", bytes.NewReader(content)), &ledger, files)
		if err != nil {
			return
		}
		if err := Each(r, func(*Event) {}); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkPMCLog(b *testing.B) {
	w := &pmcWriter{byteOrder: binary.LittleEndian, wide: true}
	w.begin(0x0a030000)
	w.record(pmcMapIn, w.pid(-1), w.address(0xffffffff80200000), w.text("kernel"))
	for i := range uint64(10000) {
		w.chain(100, 0, 0xffffffff80200010+i%100, 0xffffffff80200020, 0xffffffff80200030)
	}
	b.SetBytes(int64(w.out.Len()))
	b.ReportAllocs()
	for b.Loop() {
		readPMCLogFast(b, w.out.Bytes())
	}
}

func readPMCLogFast(b *testing.B, content []byte) {
	var ledger source.Ledger
	r, err := NewPMCLogReader(source.NewInput("x", bytes.NewReader(content)), &ledger, nil)
	if err != nil {
		b.Fatal(err)
	}
	if err := Each(r, func(*Event) {}); err != nil {
		b.Fatal(err)
	}
}

var update = flag.Bool("update", false, "write the fixture of hwpmc anew")

// TestPMCFixture holds the fixture to what the writer above makes: the program of the recordings as FreeBSD 15 would log it.
func TestPMCFixture(t *testing.T) {
	const base, kernel = 0x2a5d12345000, 0xffffffff80200000
	w := &pmcWriter{byteOrder: binary.LittleEndian, wide: true, time: 7e9}
	w.begin(0x0a030000)
	w.record(pmcAllocateDyn, w.u32(7, 1, 0, 0), w.long(65536), append([]byte("unhalted_core_cycles"), make([]byte, 36)...))
	w.record(pmcMapIn, w.pid(-1), w.address(kernel), w.text("kernel"))
	w.record(pmcMapIn, w.pid(-1), w.address(kernel+0x2000000), w.text("if_mlx5en.ko"))
	w.record(pmcProcExec, w.u32(100, 7), w.address(0x1000), w.address(base), w.text("/usr/bin/hot"))
	for i := range uint64(200) {
		w.time += 1e6
		w.chain(100, pmcUserCycles, base+0x1490, base+0x164b, base+0x121f)
		if i%4 == 0 {
			w.chain(100, 0, kernel+0x2000010, kernel+0x1000, base+0x164b)
		}
	}
	w.record(pmcDrop)
	w.record(pmcCloseLog)
	const path = "../fixtures/recordings/freebsd.pmc"
	if *update {
		if err := os.WriteFile(path, w.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, w.out.Bytes()) {
		t.Error("the fixture is another one; go test -update writes it")
	}
}

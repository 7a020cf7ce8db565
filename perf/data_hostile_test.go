package perf

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"nettrace/source"
)

func recording(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile("../fixtures/recordings/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// survive reads what may be anything: the only errors are those that name a place.
func survive(t testing.TB, content []byte) (samples int, told bool) {
	var ledger source.Ledger
	reader, err := NewDataReader(source.NewInput("x", bytes.NewReader(content)), &ledger, DataOptions{At: bytes.NewReader(content), Size: int64(len(content))})
	if err != nil {
		if _, ok := err.(*source.SyntaxError); !ok {
			t.Fatalf("an error without a place: %v", err)
		}
		return 0, true
	}
	if err := Each(reader, func(*Event) { samples++ }); err != nil {
		t.Fatal(err)
	}
	for _, e := range ledger.Entries() {
		told = told || e.Severity == source.Warning
	}
	return samples, told
}

// TestRecordingCutAnywhere: what stands before a cut is read, and the cut is told.
func TestRecordingCutAnywhere(t *testing.T) {
	content := recording(t, "process.perf.data")
	whole, _ := survive(t, content)
	random := rand.New(rand.NewPCG(1, 2))
	cuts := []int{0, 1, 8, 15, 16, 103, 104, 200, 328, len(content) - 1}
	for range 200 {
		cuts = append(cuts, random.IntN(len(content)))
	}
	for _, n := range cuts {
		samples, told := survive(t, content[:n])
		if !told || samples > whole {
			t.Errorf("cut at byte %d: %d of %d samples, told %v", n, samples, whole, told)
		}
		if n > 1000 && n < len(content)-5000 && samples < whole*(n-2000)/len(content)/2 {
			t.Errorf("cut at byte %d of %d: only %d of %d samples", n, len(content), samples, whole)
		}
	}
}

// TestWrongLengths writes impossible lengths and counts over each word of the head and the first records.
func TestWrongLengths(t *testing.T) {
	for _, name := range []string{"process.perf.data", "pipe.perf.data", "compressed.perf.data"} {
		content := recording(t, name)[:4000]
		for at := 0; at < 1000; at += 4 {
			for _, v := range []uint32{0, 1, 7, 0xffff, 1 << 29, 0xffffffff} {
				damaged := bytes.Clone(content)
				binary.LittleEndian.PutUint32(damaged[at:], v)
				survive(t, damaged)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"first format", "PERFFILE" + strings.Repeat("\x00", 100), "first format"},
		{"short", "PERFILE2\x68", "no recording"},
		{"other header", "PERFILE2\x48" + strings.Repeat("\x00", 100), "72 bytes"},
	} {
		var ledger source.Ledger
		_, err := NewDataReader(source.NewInput("x", strings.NewReader(test.content)), &ledger, DataOptions{At: strings.NewReader(test.content), Size: int64(len(test.content))})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestBomb: records that grow without end are given up.
func TestBomb(t *testing.T) {
	f := newInflater()
	defer f.close()
	f.out = 20*inflateRatio + inflateFree
	bomb := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 0xff, 0xfb, 0x07, 0x00, 0x00} // a run of 255 zeros
	if err := f.feed(bomb, 0); err == nil {
		t.Error("no error")
	}
}

// TestStream reads a recording that can be read only once.
func TestStream(t *testing.T) {
	content := recording(t, "process.perf.data")
	whole, _ := survive(t, content)
	var ledger source.Ledger
	reader, err := NewDataReader(source.NewInput("x", bytes.NewReader(content)), &ledger, DataOptions{})
	if err != nil {
		t.Fatal(err)
	}
	samples := 0
	if err := Each(reader, func(*Event) { samples++ }); err != nil || samples != whole {
		t.Errorf("%d of %d samples, %v", samples, whole, err)
	}
	if reader.Header().Host == "" {
		t.Error("what stands behind the data was not read")
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzData(f *testing.F) {
	for _, name := range []string{"process.perf.data", "pipe.perf.data", "compressed.perf.data", "big-endian.perf.data"} {
		content := recording(f, name)
		f.Add(content[:min(len(content), 6000)])
	}
	f.Fuzz(func(t *testing.T, content []byte) { survive(t, content) })
}

func FuzzTraceFormat(f *testing.F) {
	f.Add([]byte(payloadFormat+`"dev=%s skbaddr=%px len=%u", __get_str(dev), REC->state, REC->flags`), payloadOf())
	f.Fuzz(func(t *testing.T, text, payload []byte) {
		if _, format := parseFormat("x", text); format != nil {
			format.appendTo(nil, order{}, payload)
		}
	})
}

// BenchmarkData reads a recording of 50 times the data of a fixture.
func BenchmarkData(b *testing.B) {
	content := repeated(recording(b, "process.perf.data"), 50)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		survive(b, content)
	}
}

// repeated returns a recording with its data n times, and without feature sections.
func repeated(content []byte, n int) []byte {
	offset, size := binary.LittleEndian.Uint64(content[40:]), binary.LittleEndian.Uint64(content[48:])
	data := content[offset : offset+size]
	out := append(bytes.Clone(content[:offset]), bytes.Repeat(data, n)...)
	binary.LittleEndian.PutUint64(out[48:], size*uint64(n))
	clear(out[72:104])
	return out
}

package analyze

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"nettrace/pcap"
	"nettrace/source"
)

// partialOf writes a partial of some paths to a file.
func partialOf(t testing.TB, dir string, number int, paths ...string) string {
	t.Helper()
	var b bytes.Buffer
	if errs := WritePartial(context.Background(), &b, paths, Options{}); len(errs) > 0 {
		t.Fatal(errs)
	}
	name := filepath.ToSlash(filepath.Join(dir, fmt.Sprintf("%d.partial", number)))
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func asWritten(t testing.TB, r *Result) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Partials of the files of a bundle, in any groups, are together what the bundle is: the same result to the last byte.
func TestPartialsOfUnrelatedSourcesAreTheWhole(t *testing.T) {
	for _, pattern := range []string{"../fixtures/bundles/rr-4345/*", "../fixtures/locks/*", "../fixtures/counters/*", "../fixtures/bench/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) < 2 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		half := len(paths) / 2
		whole, wholeErrs := Run(context.Background(), paths, Options{})
		dir := t.TempDir()
		merged, errs := Run(context.Background(), []string{partialOf(t, dir, 1, paths[:half]...), partialOf(t, dir, 2, paths[half:]...)}, Options{})
		if len(errs) > 0 || len(wholeErrs) > 0 {
			t.Fatal(errs, wholeErrs)
		}
		if got, want := asWritten(t, merged), asWritten(t, whole); got != want {
			t.Errorf("%s: %s", pattern, firstDifference(got, want))
		}
	}
}

// Partials of the pieces of a capture, in any order, are the whole capture.
func TestPartialsOfPiecesAreTheWhole(t *testing.T) {
	all := recordings(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SampledFrom(all).Draw(rt, "recording")
		paths := r.cut(t, rapid.IntRange(0, len(r.offsets)).Draw(rt, "cut"), [2]string{"x_00001_20261130163603", "x_00002_20261130163604"})
		whole := run(t, paths...)
		dir := t.TempDir()
		var partials []string
		for i, p := range paths {
			partials = append(partials, partialOf(t, dir, i, p))
		}
		if got, want := asWritten(t, run(t, partials...)), asWritten(t, whole); got != want {
			rt.Fatalf("%s: %s", r.path, firstDifference(got, want))
		}
		one := partialOf(t, dir, 9, paths...)
		if got, want := asWritten(t, run(t, one)), asWritten(t, whole); got != want {
			rt.Fatalf("%s in one partial: %s", r.path, firstDifference(got, want))
		}
	})
}

// FuzzPartial merges what may be no partial.
func FuzzPartial(f *testing.F) {
	for _, paths := range [][]string{{"../fixtures/pcap/rr-4345-wire.pcap"}, {"../fixtures/pcap/two-interfaces.pcapng"}, {"../fixtures/pcap/refused-reset.pcap", "../fixtures/bundles/rr-4345/netperf-rr.txt"}} {
		var b bytes.Buffer
		if errs := WritePartial(context.Background(), &b, paths, Options{}); len(errs) > 0 {
			f.Fatal(errs)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"schema":"nettrace.partial/1"}` + "\n" + `{"rest":{"models":{"locks":[null],"profiles":[null]},"dumps":[{"table":0}],"outputs":[{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		Run(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(data)})
	})
}

// FuzzPackets decodes what may be no chunk of packets.
func FuzzPackets(f *testing.F) {
	f.Add(chunk(f, "../fixtures/pcap/rr-4345-wire.pcap"))
	f.Add(chunk(f, "../fixtures/pcap/mixed-linktypes.pcapng"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := packetDecoder{rest: data}
		n := 0
		for d.next() {
			n++
		}
		if n > len(data)/10 { // bits, three steps, six numbers and no data
			t.Fatalf("%d packets of %d bytes", n, len(data))
		}
	})
}

// chunk returns the packets of a small capture as a partial has them.
func chunk(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packets, err := pcap.NewReader(source.NewInput(path, bytes.NewReader(data)), new(source.Ledger))
	if err != nil {
		t.Fatal(err)
	}
	var c packetCoder
	var h pcap.Header
	for {
		p, err := packets.Next()
		if err != nil {
			return c.buf
		}
		h.Decode(p)
		c.add(p, &h)
	}
}

func BenchmarkPacketDecoder(b *testing.B) {
	data := chunk(b, "../fixtures/pcap/bulk-nogro-receiver.pcap")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for d := (packetDecoder{rest: data}); d.next(); {
		}
	}
}

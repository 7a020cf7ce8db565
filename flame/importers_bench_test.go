package flame

import (
	"bytes"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// BenchmarkImporters reads some megabytes of each format, made of its fixture.
func BenchmarkImporters(b *testing.B) {
	for name, read := range map[string]reader{"callers.pmcstat.txt": ReadPmcstat, "kernel-user.dtrace.txt": ReadDTrace, "kstack-ustack-comm.bpftrace.txt": ReadBpftrace, "json.bpftrace.ndjson": ReadBpftrace, "threads.bcc.txt": ReadBCC} {
		text := shared.Read(b, fixture(name))
		text = bytes.Repeat(text, 1+(4<<20)/len(text))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				ledger := &source.Ledger{}
				if _, err := read(source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger), ledger); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	p, _ := readFolded(b, stacks(25000))
	var proto, scope bytes.Buffer
	if p.Pprof().WriteUncompressed(&proto) != nil || WriteSpeedscope(&scope, p) != nil {
		b.Fatal("not written")
	}
	for name, c := range map[string]struct {
		data []byte
		read func(*source.Input, *source.Ledger) (*Profile, error)
	}{"pprof": {proto.Bytes(), ReadPprof}, "speedscope": {scope.Bytes(), ReadSpeedscope}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.read(source.NewInput("x", bytes.NewReader(c.data)), &source.Ledger{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

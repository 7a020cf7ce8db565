package perf

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// large makes text of a recording of some megabytes: samples of the fixture with other times and some other callers.
func large(b *testing.B) []byte {
	samples := bytes.Split(bytes.TrimSpace(shared.Read(b, filepath.Join("..", "fixtures", "stacks", "default.perf.txt"))), []byte("\n\n"))
	var text bytes.Buffer
	for i := 0; text.Len() < 8<<20; i++ {
		text.Write(samples[i*7919%len(samples)])
		fmt.Fprintf(&text, "\n\t    55d0c0%06x worker_%d+0x%x (/usr/bin/load)\n\n", i%400, i%97, i%400)
	}
	return text.Bytes()
}

func BenchmarkScriptReader(b *testing.B) {
	text := large(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ledger := &source.Ledger{}
		r := NewScriptReader(source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger), ledger)
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}

// BenchmarkSniffMixed asks at every line of a text that is not perf's, as is done with shell logs.
func BenchmarkSniffMixed(b *testing.B) {
	text := bytes.Repeat([]byte("eth0      Link encap:Ethernet  HWaddr 00:11:22:33:44:55\n          RX packets:1234 errors:0 dropped:0\nMIGRATED TCP STREAM TEST from 0.0.0.0 port 0 AF_INET to host\n"), 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for rest := text; len(rest) > 0; {
			SniffScript(rest[:min(len(rest), 4096)])
			_, rest = lineOf(rest)
		}
	}
}

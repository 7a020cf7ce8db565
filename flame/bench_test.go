package flame

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// large makes text of a recording of some megabytes: samples of a fixture at other times and with some other callers, so
// that distinct stacks grow as in a longer recording.
func large(b *testing.B) []byte {
	samples := bytes.Split(bytes.TrimSpace(shared.Read(b, fixture("default.perf.txt"))), []byte("\n\n"))
	var text bytes.Buffer
	for i := 0; text.Len() < 8<<20; i++ {
		n := i * 7919 % 400
		text.Write(samples[i*7919%len(samples)])
		fmt.Fprintf(&text, "\n\t    55d0c0%06x worker_%d+0x%x (/usr/bin/load)\n\t    55d0c1%06x main_%d+0x10 (/usr/bin/load)\n\n", n, n%97, n, n, n%13)
	}
	return text.Bytes()
}

// stacks makes folded text with n distinct stacks, some 13 frames deep.
func stacks(n int) []byte {
	var text bytes.Buffer
	for i := range n {
		text.WriteString("load;main")
		for depth, h := 0, uint32(i); depth < 11; depth++ {
			h = h*2654435761 + 12345
			fmt.Fprintf(&text, ";fn_%d", h>>uint(20+depth%6)%(1<<uint(1+depth)))
		}
		fmt.Fprintf(&text, ";leaf_%d %d\n", i%8000, 1+i%97)
	}
	return text.Bytes()
}

func BenchmarkReadPerf(b *testing.B) {
	text := large(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ledger := &source.Ledger{}
		if _, err := ReadPerf(source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger), ledger, PerfOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadFolded(b *testing.B) {
	text := stacks(25000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		readFolded(b, text)
	}
}

func BenchmarkLayout(b *testing.B) {
	p, _ := readFolded(b, stacks(25000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewLayout(p, LayoutOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteSVG(b *testing.B) {
	p, _ := readFolded(b, stacks(25000))
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteSVG(io.Discard, p, SVGOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteHTML(b *testing.B) {
	p, _ := readFolded(b, stacks(25000))
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteHTML(io.Discard, p, HTMLOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteHTMLOfMillion(b *testing.B) {
	p := million(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteHTML(io.Discard, p, HTMLOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteDiffSVG(b *testing.B) {
	base, _ := readFolded(b, stacks(20000))
	other, _ := readFolded(b, stacks(25000))
	d, err := Diff(base, other, DiffOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteDiffSVG(io.Discard, d, SVGOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRules(b *testing.B) {
	p, _ := readFolded(b, stacks(25000))
	for _, rule := range stackRules() {
		b.Run(rule.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rule.Run(p, nil)
			}
		})
	}
}

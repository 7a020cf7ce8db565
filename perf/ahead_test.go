package perf

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

// reading is all that a reader tells of a text.
type reading struct {
	Events []string
	Ledger []source.Entry
	Header Header
	Lost   Lost
	End    source.Pos
	Next   string // the line behind
}

// readWith reads a text with blocks of a size on some goroutines; a size of 0 reads it in place.
func readWith(text []byte, size int) reading {
	ledger := &source.Ledger{}
	lines := source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger)
	lines.Foreign = func(head []byte) bool { return bytes.HasPrefix(head, []byte("NAME:")) }
	r := NewScriptReader(lines, ledger)
	if size > 0 {
		r.ahead = newAhead(r.text, 3, size)
	}
	var got reading
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%q %d/%d %d %d %q %q %d %v %q %v:", e.Comm, e.PID, e.TID, e.CPU, e.Time, e.Name, e.Modifiers, e.Period,
			[]bool{e.HasPID, e.HasTID, e.HasCPU, e.HasTime, e.HasPeriod}, e.Payload, e.Pos)
		for _, f := range e.Stack {
			fmt.Fprintf(&b, " %x %q+%x(%v) %q %v", f.Address, f.Symbol, f.Offset, f.HasOffset, f.DSO, f.Inlined)
		}
		got.Events = append(got.Events, b.String())
	}
	got.Ledger, got.Header, got.Lost, got.End = ledger.Entries(), r.Header(), r.Lost(), lines.Pos()
	if lines.Next() {
		got.Next = string(lines.Bytes())
	}
	return got
}

// TestAheadIsTheSame reads every recording in place and in blocks of many sizes.
func TestAheadIsTheSame(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "fixtures", "stacks", "*.perf.txt"))
	if len(files) < 10 {
		t.Fatalf("%d fixtures", len(files))
	}
	for _, path := range files {
		text := shared.Read(t, path)
		for _, text := range [][]byte{text, bytes.Repeat(append(text, '\n'), 3), append(bytes.Repeat(append(text, '\n'), 2), "NAME: other\nrest\n"...)} {
			want := readWith(text, 0)
			for _, size := range []int{100, 1000, 4000, 30000} {
				if diff := cmp.Diff(want, readWith(text, size)); diff != "" {
					t.Errorf("%s in blocks of %d (-in place +ahead):\n%s", path, size, diff)
				}
			}
		}
	}
}

// TestAheadOverDamage puts what ends or spoils a text between its samples.
func TestAheadOverDamage(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		pieces := []string{
			"a b 7 [001]     2.000001:    1001001 cpu-clock: \n\tffffffff81b6ccb0 f+0x80 ([kernel.kallsyms])\n\t           f82ad g+0xd (/usr/lib/libc.so.6)\n\n",
			"x 7/8 [000]     2.000002:    1001001 cpu-clock: \n\n",
			"tx 12/3 [x] 9 [000]  3.5: net:net_dev_xmit: dev=a len=66\n\tffffffff81b6ccb0 f+0x81 ([kernel.kallsyms])\n\n",
			"c 1 [000] 1.000000: 1 cycles:u: \r\n\t 12 main+0x1 (/a)\r\n\r\n",
			"garbage in between\n", "# hostname : vm\n", "\n", "\t  beef orphan+0x1 (/b)\n\n", "Processed 9 events and lost 2 chunks!\n",
			"d 1 4.000000: PERF_RECORD_MMAP2 1/1: [0x1]: r-xp /a\n", "e 1 [000] 5.000000: 1 cycles:u: \n\t 12 main+0x1 (/a", "NAME: other tool\n", "b 2 [000] 5.000000: ",
			"f 1 [000] 6.000000: 1 cycles:u: \n\t 12 inl (inlined)\n\t 12 main+0x1 (/a)\n  file.c:3\n\n",
		}
		var text strings.Builder
		text.WriteString(pieces[0] + pieces[0])
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(pieces)-1), 0, 30).Draw(t, "pieces") {
			text.WriteString(pieces[i])
		}
		size := rapid.IntRange(50, 2000).Draw(t, "size")
		if diff := cmp.Diff(readWith([]byte(text.String()), 0), readWith([]byte(text.String()), size)); diff != "" {
			t.Fatalf("(-in place +ahead):\n%s", diff)
		}
	})
}

// TestAheadGivenUp: a reader that is not read to the end leaves nothing behind that waits.
func TestAheadGivenUp(t *testing.T) {
	text := bytes.Repeat(shared.Read(t, filepath.Join("..", "fixtures", "stacks", "default.perf.txt")), 20)
	ledger := &source.Ledger{}
	r := NewScriptReader(source.NewLines(source.NewInput("x", bytes.NewReader(text)), ledger), ledger)
	r.ahead = newAhead(r.text, 3, 4000)
	for range 50 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range r.ahead.flight {
		<-b.decoded // comes without anybody reading on
	}
}

// FuzzAhead: in blocks, a text tells the same as in place.
func FuzzAhead(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("..", "fixtures", "stacks", "*.perf.txt"))
	for _, path := range files {
		text := shared.Read(f, path)
		f.Add(text[:min(len(text), 2500)], uint16(300))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint16) {
		if diff := cmp.Diff(readWith(text, 0), readWith(text, 16+int(size))); diff != "" {
			t.Errorf("(-in place +ahead):\n%s", diff)
		}
	})
}

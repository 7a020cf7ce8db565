package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func lines(text string) *Lines {
	return NewLines(NewInput("t", strings.NewReader(text)), &Ledger{})
}

func TestLinesAndPlaces(t *testing.T) {
	l := lines("\xef\xbb\xbfone\r\n\ntwo")
	for _, want := range []struct {
		text     string
		pos      Pos
		complete bool
	}{
		{"one", Pos{"t", 3, 1, 0}, true},
		{"", Pos{"t", 8, 2, 0}, true},
		{"two", Pos{"t", 9, 3, 0}, false},
	} {
		if !l.Next() || string(l.Bytes()) != want.text || l.Pos() != want.pos || l.Complete() != want.complete {
			t.Errorf("got %q at %v, complete %v; want %+v", l.Bytes(), l.Pos(), l.Complete(), want)
		}
	}
	if l.Next() {
		t.Error("a line after the last")
	}
}

func TestBackGivesTheLineAgain(t *testing.T) {
	l := lines("a\nb\n")
	l.Next()
	l.Next()
	l.Back()
	if p := l.Pos(); p.Line != 2 || p.Offset != 2 {
		t.Errorf("after Back at %v", p)
	}
	if head := l.Head(10); string(head) != "b\n" {
		t.Errorf("head %q", head)
	}
	if !l.Next() || string(l.Bytes()) != "b" || l.Pos().Line != 2 {
		t.Errorf("got %q at %v", l.Bytes(), l.Pos())
	}
	l.Back()
	l.Back() // a second one is nothing
	if !l.Next() || l.Next() {
		t.Error("Back twice moved more than one line")
	}
}

func TestQuotedLinesEndWithTheQuotation(t *testing.T) {
	l := lines("> rx-usecs: 16\n>\n> rx-frames: 44\nthanks\n")
	l.Quoted("> ")
	if head := string(l.Head(100)); head != "rx-usecs: 16\n\nrx-frames: 44\n" {
		t.Errorf("head %q", head)
	}
	var got []string
	for l.Next() {
		got = append(got, string(l.Bytes()))
	}
	l.Quoted("")
	if !l.Next() || string(l.Bytes()) != "thanks" || l.Pos().Line != 4 {
		t.Errorf("after the quotation: %q at %v", l.Bytes(), l.Pos())
	}
	if want := []string{"rx-usecs: 16", "", "rx-frames: 44"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongLineIsCutAndCounted(t *testing.T) {
	var ledger Ledger
	l := NewLines(NewInput("t", io.LimitReader(endless{}, maxLine+10)), &ledger)
	n := 0
	for l.Next() {
		n += len(l.Bytes())
	}
	if e := ledger.Entries(); n != maxLine+10 || len(e) != 1 || e[0].Name != "long-line" || e[0].Count != 1 {
		t.Errorf("%d bytes, ledger %+v", n, e)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestReadErrorEndsTheInputAndIsKept(t *testing.T) {
	in := NewInput("t", io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	l := NewLines(in, &Ledger{})
	for range 2 {
		if !l.Next() {
			t.Fatal("lines before the error are lost")
		}
	}
	if l.Next() || in.Err() != io.ErrUnexpectedEOF {
		t.Errorf("error %v", in.Err())
	}
}

func TestWatchSeesAndEndsTheInput(t *testing.T) {
	stop := errors.New("stop")
	var seen []int64
	in := NewInput("t", &chunked{[]byte("one\ntwo\nthree\n"), 4})
	in.Watch(func(read int64) error {
		seen = append(seen, read)
		if read >= 8 {
			return stop
		}
		return nil
	})
	l := NewLines(in, &Ledger{})
	n := 0
	for l.Next() {
		n++
	}
	if n != 2 || in.Err() != stop || fmt.Sprint(seen) != "[4 8]" {
		t.Errorf("%d lines, error %v, seen %v", n, in.Err(), seen)
	}
}

// Whatever the readers below hand out at a time, lines are those of bytes.Lines, and Read gives the bytes themselves.
func TestInputEqualsItsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]byte("ab \n\r")), 0, 300).Draw(t, "text")
		chunk := rapid.IntRange(1, 7).Draw(t, "chunk")
		l := NewLines(NewInput("t", &chunked{text, chunk}), &Ledger{})
		offset := int64(0)
		for line := range bytes.Lines(text) {
			if !l.Next() {
				t.Fatalf("no line at %d", offset)
			}
			want := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if !bytes.Equal(l.Bytes(), want) || l.Pos().Offset != offset {
				t.Fatalf("got %q at %d, want %q at %d", l.Bytes(), l.Pos().Offset, want, offset)
			}
			offset += int64(len(line))
			if rapid.Bool().Draw(t, "back") {
				l.Back()
				l.Head(rapid.IntRange(0, 40).Draw(t, "head"))
				l.Next()
			}
		}
		if l.Next() {
			t.Fatal("too many lines")
		}

		in := NewInput("t", &chunked{text, chunk})
		in.Peek(rapid.IntRange(0, 100).Draw(t, "peek"))
		got, err := io.ReadAll(iotest.OneByteReader(in))
		if err != nil || !bytes.Equal(got, text) || in.Offset() != int64(len(text)) {
			t.Fatalf("read %q, %v, at %d", got, err, in.Offset())
		}
	})
}

type chunked struct {
	rest []byte
	n    int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(c.n, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

func BenchmarkLines(b *testing.B) {
	text := bytes.Repeat([]byte("\tffffffff81c0116b pv_native_safe_halt+0xb ([kernel.kallsyms])\n"), 100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		l := NewLines(NewInput("t", bytes.NewReader(text)), &Ledger{})
		for l.Next() {
		}
	}
}

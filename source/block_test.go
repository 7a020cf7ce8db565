package source

import (
	"strings"
	"testing"
	"testing/iotest"
)

func TestBlock(t *testing.T) {
	const text = "first\na\n\nbb\r\n\r\nccc\nd"
	for _, r := range []struct {
		name string
		in   *Input
	}{{"whole", NewInput("x", strings.NewReader(text))}, {"byte by byte", NewInput("x", iotest.OneByteReader(strings.NewReader(text)))}} {
		t.Run(r.name, func(t *testing.T) {
			l := NewLines(r.in, &Ledger{})
			l.Next()
			if block, _ := l.Block(make([]byte, 2)); block != nil {
				t.Errorf("%q has no blank line", block)
			}
			block, at := l.Block(make([]byte, 100))
			if string(block) != "a\n\nbb\r\n\r\n" || at != (Pos{Source: "x", Offset: 6, Line: 2}) {
				t.Errorf("%q at %v", block, at)
			}
			if !l.Next() || string(l.Bytes()) != "ccc" || l.Pos() != (Pos{Source: "x", Offset: 15, Line: 6}) {
				t.Errorf("behind the block: %q at %v", l.Bytes(), l.Pos())
			}
			l.Back()
			l.Return(block, at)
			for i, want := range []string{"a", "", "bb", "", "ccc", "d"} {
				if !l.Next() || string(l.Bytes()) != want || l.Pos().Line != i+2 {
					t.Errorf("line %d: %q at %v, want %q", i+2, l.Bytes(), l.Pos(), want)
				}
			}
			if l.Next() || l.Complete() {
				t.Error("there is more behind the end")
			}
		})
	}
}

// TestReturnLong returns more than the input's own buffer holds.
func TestReturnLong(t *testing.T) {
	text := strings.Repeat("0123456789\n\n", 100_000)
	l := NewLines(NewInput("x", strings.NewReader(text)), &Ledger{})
	block, at := l.Block(make([]byte, len(text)-7))
	l.Return(block, at)
	lines := 0
	for l.Next() {
		lines++
	}
	if lines != 200_000 || l.Pos().Offset != int64(len(text)) {
		t.Errorf("%d lines up to %v", lines, l.Pos())
	}
}

func TestBlockLines(t *testing.T) {
	l := BlockLines([]byte("a\n\nb\n\n"), Pos{Source: "x", Offset: 100, Line: 10}, &Ledger{})
	for i, want := range []string{"a", "", "b", ""} {
		if !l.Next() || string(l.Bytes()) != want || l.Pos().Line != 10+i || !l.Complete() {
			t.Errorf("%q at %v", l.Bytes(), l.Pos())
		}
	}
	if l.Next() {
		t.Error("there is more behind the end")
	}
}

func TestBlockOfQuotation(t *testing.T) {
	l := NewLines(NewInput("x", strings.NewReader("> a\n>\n> b\n\n")), &Ledger{})
	l.Quoted("> ")
	if block, _ := l.Block(make([]byte, 100)); block != nil {
		t.Errorf("%q is a quotation", block)
	}
	if !l.Next() || string(l.Bytes()) != "a" {
		t.Errorf("then %q", l.Bytes())
	}
}

package analyze

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"nettrace/source"
	"nettrace/unit"
)

// Reopen opens a source again by the path that a result has of it, also where that is a member of an archive, and hands
// it to use, which may read it until it returns.
func Reopen(name string, use func(*source.Source) error) error {
	if name == "-" {
		return errors.New("it came from standard input, which can be read only once: save it to a file and open that")
	}
	container := name
	for {
		info, err := os.Stat(filepath.FromSlash(container))
		if err == nil && info.Mode().IsRegular() {
			break
		}
		if err == nil || path.Dir(container) == container || container == "." {
			return fmt.Errorf("%s is not where it was when the result was made; put it there, or start from the folder that the path begins in", name)
		}
		container = path.Dir(container)
	}
	for src, err := range source.Walk([]string{container}, nil, &source.Ledger{}) {
		if err != nil {
			return err
		}
		if src.Path == name {
			return use(src)
		}
	}
	return fmt.Errorf("%s is no longer in %s", name, container)
}

// Excerpt is a part of a text around one of its lines.
type Excerpt struct {
	Path  string
	First int // number of the first line
	Lines []string
	Line  int  // the one that it is about
	Whole bool // the text begins with First and ends with the last line
}

// How much text an excerpt holds before and behind its line.
const (
	excerptBefore = 64 << 10
	excerptBehind = 128 << 10
)

// ReadExcerpt reads the text around a place.
func ReadExcerpt(at source.Pos) (*Excerpt, error) {
	x := &Excerpt{Path: at.Source, First: 1, Line: max(at.Line, 1)}
	err := Reopen(at.Source, func(src *source.Source) error {
		skip := max(at.Offset-excerptBefore, 0)
		if _, err := io.CopyN(io.Discard, src.Input, skip); err != nil {
			return fmt.Errorf("%s has become shorter: it ends before byte %s", at.Source, unit.Count(at.Offset))
		}
		text, err := io.ReadAll(io.LimitReader(src.Input, at.Offset-skip+excerptBehind))
		if err != nil {
			return err
		}
		x.fill(text, int(at.Offset-skip))
		x.Whole = skip == 0 && len(src.Input.Peek(1)) == 0
		return nil
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// fill cuts text into lines; its line number x.Line begins at byte at.
func (x *Excerpt) fill(text []byte, at int) {
	at = min(at, len(text))
	before := bytes.Count(text[:at], []byte("\n"))
	if first := x.Line - before; first > 1 { // the text begins within a line: leave that out
		if end := bytes.IndexByte(text[:at], '\n'); end >= 0 {
			text, first = text[end+1:], first+1
		}
		x.First = first
	}
	for line := range bytes.Lines(text) {
		x.Lines = append(x.Lines, string(bytes.TrimRight(line, "\r\n")))
	}
}

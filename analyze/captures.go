package analyze

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"nettrace/source"
)

// eachCapture hands the captures behind a path to use: a file, a folder, an archive, or, by the path that a result has of
// it, a member of one. What is no capture is an error.
func eachCapture(name string, stdin io.Reader, ledger *source.Ledger, use func(*source.Source) error) error {
	capture := func(src *source.Source) error {
		if f := recognise(Formats(), src.Input.Peek(headBytes), true); f == nil || f.Kind != Capture {
			return fmt.Errorf("%s: no capture: expected pcap, pcapng or snoop; nettrace inspect tells what it is", src.Path)
		}
		return use(src)
	}
	if member(name) {
		return Reopen(name, capture)
	}
	for src, err := range source.Walk([]string{name}, stdin, ledger) {
		if err != nil {
			return err
		}
		if err := capture(src); err != nil {
			return err
		}
	}
	return nil
}

// member reports whether a path leads into a file.
func member(name string) bool {
	for dir := path.Dir(name); dir != path.Dir(dir); dir = path.Dir(dir) {
		if info, err := os.Stat(filepath.FromSlash(dir)); err == nil {
			return info.Mode().IsRegular()
		}
	}
	return false
}

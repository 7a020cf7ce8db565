package analyze

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"nettrace/source"
)

// A page that nettrace report wrote holds its result as JSON between two lines of its own:
//
//	<!doctype html>
//	<meta name="generator" content="nettrace.result/1">
//	<script type="application/json" id="nettrace-result">
//
// All else in it is made from that JSON and is not read. Text from inputs holds no "<", so that no input can pretend to
// be one of these lines.
const (
	PageGenerator = `<meta name="generator" content="` + Schema + `">`
	PageResult    = `<script type="application/json" id="nettrace-result">`
)

func sniffPage(head []byte) source.Match {
	const doctype = "<!doctype html>"
	h := bytes.TrimLeft(head, " \r\n\t")
	if len(h) < len(doctype) || !bytes.EqualFold(h[:len(doctype)], []byte(doctype)) || !bytes.Contains(h, []byte(PageGenerator)) {
		return source.No
	}
	return source.Strong
}

func readPage(r *reader, _ *Source) error {
	page := bufio.NewReader(r.src.Input)
	for {
		line, err := page.ReadSlice('\n')
		if bytes.HasPrefix(line, []byte(PageResult)) {
			break
		}
		if err == io.EOF {
			return fmt.Errorf("the page ends before its result; it was cut, ask for it again")
		}
		if err != nil && err != bufio.ErrBufferFull {
			return err
		}
	}
	result, err := ReadResult(page)
	if err != nil {
		return err
	}
	r.loaded = append(r.loaded, result)
	return nil
}

package analyze

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"nettrace/source"
)

// pageAround puts the JSON of a result into a page.
func pageAround(result string) string { return pageOf(result, 10_000) }

func pageOf(result string, paragraphs int) string {
	return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" + PageGenerator + "\n</head><body>" + strings.Repeat("<p>text</p>", paragraphs) + "\n" + PageResult + "\n" + result + "</script>\n</body></html>\n"
}

const written = `{"schema":"nettrace.result/1","sources":[{"path":"a.pcap","format":"pcap","kind":"capture"}],"ledger":[],"findings":[{"rule":"tcp/x","severity":"warning","confidence":"low","summary":"s"}],"models":{}}`

func TestPageIsRead(t *testing.T) {
	r, errs := Run(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(pageAround(written))})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if len(r.Findings) != 1 || r.Findings[0].Rule != "tcp/x" || len(r.Sources) != 1 || r.Sources[0].Path != "a.pcap" || !r.Reloaded {
		t.Errorf("read %+v", r)
	}
}

func TestPageIsRecognisedByItsMarkOnly(t *testing.T) {
	whole := pageAround(written)
	for name, c := range map[string]struct {
		page string
		want source.Match
	}{
		"page":            {whole, source.Strong},
		"another writer":  {strings.Replace(whole, PageGenerator, `<meta name="generator" content="x">`, 1), source.No},
		"another version": {strings.Replace(whole, Schema, "nettrace.result/2", 1), source.No},
		"no doctype":      {whole[1:], source.No},
		"empty":           {"", source.No},
		"upper case":      {strings.Replace(whole, "<!doctype html>", "\n<!DOCTYPE HTML>", 1), source.Strong},
	} {
		if got := sniffPage([]byte(c.page)[:min(headBytes, len(c.page))]); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDamagedPages(t *testing.T) {
	whole := pageAround(written)
	for name, c := range map[string]struct{ page, want string }{
		"cut before the result": {whole[:5000], "the page ends before its result"},
		"cut in the result":     {whole[:len(whole)-100], "not a result"},
		"other schema":          {strings.Replace(whole, `"schema":"nettrace.result/1"`, `"schema":"x"`, 1), "schema"},
	} {
		_, errs := Run(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(c.page)})
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), c.want) {
			t.Errorf("%s: %v; expected %q", name, errs, c.want)
		}
	}
}

func FuzzReadPage(f *testing.F) {
	f.Add([]byte(pageOf(written, 1)))
	f.Add([]byte(pageOf(`{"schema":"nettrace.result/1","models":{"series":[{"directions":[{"points":[[1,2,3,4,5]]}]}]}}`, 1)))
	f.Add([]byte(pageOf("", 1)))
	f.Fuzz(func(t *testing.T, page []byte) {
		r, errs := Run(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(page)})
		if len(errs) > 0 {
			return
		}
		var once, twice bytes.Buffer
		if err := r.Write(&once); err != nil {
			t.Fatal(err)
		}
		back, err := ReadResult(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := back.Write(&twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("%v: written otherwise after reading:\n%s\n%s", err, once.Bytes(), twice.Bytes())
		}
	})
}

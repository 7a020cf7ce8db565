package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// content reads all sources behind paths: path, compression and text.
func content(t *testing.T, paths []string, stdin io.Reader, ledger *Ledger) (got []string, errs []error) {
	t.Helper()
	for src, err := range Walk(paths, stdin, ledger) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		text, err := io.ReadAll(src.Input)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join(append([]string{filepath.Base(src.Path)}, src.Layers...), "+")+"="+string(text))
	}
	return got, errs
}

func pack(t *testing.T, text string, open func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }
func zstded(w io.Writer) (io.WriteCloser, error)  { return zstd.NewWriter(w) }
func xzed(w io.Writer) (io.WriteCloser, error)    { return xz.NewWriter(w) }
func lz4ed(w io.Writer) (io.WriteCloser, error)   { return lz4.NewWriter(w), nil }

func tarred(t *testing.T, members map[string][]byte, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(members[name])), Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(members[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	m, err := w.Create(name)
	if err == nil {
		_, err = m.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWalkFindsEverything(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gz := pack(t, "five", gzipped)
	write("1.txt", []byte("one"))
	write("2.gz", gz)
	write("3.zst", pack(t, "zst", zstded))
	write("4.xz", pack(t, "xz", xzed))
	write("5.lz4", pack(t, "lz4", lz4ed))
	write("6.tar.gz", pack(t, string(tarred(t, map[string][]byte{"a": []byte("in tar"), "b.gz": gz}, "a", "b.gz")), gzipped))
	write("7.zip", zipped(t, "d/c.txt", zipped(t, "deep", []byte("in zip in zip"))))
	write("8.le", []byte("\xff\xfea\x00\xe9\x00\x3d\xd8\x00\xde\x00\xd8b\x00"))
	write("9.be", []byte("\xfe\xff\x00a\x00\xe9\xd8\x3d\xde\x00\x00b"))
	write(".hidden", []byte("no"))
	if err := os.Symlink("nowhere", filepath.Join(dir, "9.link")); err != nil {
		t.Fatal(err)
	}
	var ledger Ledger
	got, errs := content(t, []string{dir, "-", filepath.Join(dir, "absent")}, strings.NewReader("std"), &ledger)
	want := []string{"1.txt=one", "2.gz+gzip=five", "3.zst+zstd=zst", "4.xz+xz=xz", "5.lz4+lz4=lz4", "a=in tar", "b.gz+gzip=five", "deep=in zip in zip", "8.le+UTF-16=aé😀\ufffdb", "9.be+UTF-16=aé😀b", "-=std"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), "absent: no such file or directory") {
		t.Errorf("errors %v", errs)
	}
	if e := ledger.Entries(); len(e) != 2 || e[0].Name != "hidden-file" || e[1].Name != "not-a-file" {
		t.Errorf("ledger %+v", e)
	}
}

func TestDamagedArchiveGivesTheMembersBefore(t *testing.T) {
	data := tarred(t, map[string][]byte{"a": bytes.Repeat([]byte("x"), 600), "b": bytes.Repeat([]byte("y"), 600)}, "a", "b")
	var ledger Ledger
	got, errs := content(t, []string{"-"}, bytes.NewReader(data[:512+1024+100]), &ledger)
	if len(got) != 1 || !strings.HasPrefix(got[0], "a=xxx") || len(errs) != 0 {
		t.Errorf("got %q, errors %v", got, errs)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Name != "archive-damaged" || e[0].First.Offset == 0 {
		t.Errorf("ledger %+v", e)
	}
}

func TestParseName(t *testing.T) {
	at := time.Date(2026, 11, 30, 16, 36, 3, 304e6, time.UTC)
	for name, want := range map[string]Name{
		"x/before.ethtool-S.20261130T163603.304Z.txt":    {Phase: "before", Tool: "ethtool-S", Time: at},
		"after-peer.nstat-az.20261130T163603.304Z.json":  {Phase: "after", Peer: true, Tool: "nstat-az", Time: at},
		"veth-before.ethtool-c.20261130T163603.304Z.txt": {Group: "veth", Phase: "before", Tool: "ethtool-c", Time: at},
		"series.proc-interrupts.20261130T163603Z.txt":    {Phase: "series", Tool: "proc-interrupts", Time: at.Truncate(time.Second)},
		"mpstat-I-ALL.20261130T163603Z.txt":              {Phase: "mpstat-I-ALL", Tool: "20261130T163603Z", Time: at.Truncate(time.Second)},
		"heartbefore.txt":                                {Tool: "txt"},
		"before.ethtool-c.txt":                           {Phase: "before", Tool: "ethtool-c"},
		"plain":                                          {},
		"before.ethtool-S.20269930T163603.304Z.txt":      {Phase: "before", Tool: "ethtool-S"},
	} {
		if got := ParseName(name); got != want {
			t.Errorf("ParseName(%q) = %+v, want %+v", name, got, want)
		}
	}
}

func TestLedgerCountsAndMerges(t *testing.T) {
	var a, b Ledger
	a.Add("cut", Note, Pos{Source: "x", Offset: 50}, 2, "later")
	b.Add("cut", Warning, Pos{Source: "x", Offset: 10, Line: 3}, 1, "first")
	b.Add("odd", Note, Pos{Source: "w"}, 1, "odd")
	a.Merge(&b)
	got := a.Entries()
	want := []Entry{{"x", "cut", Warning, 3, Pos{"", 10, 3, 0}, "first"}, {"w", "odd", Note, 1, Pos{}, "odd"}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func FuzzWalk(f *testing.F) {
	f.Add([]byte("plain\n"))
	for _, data := range [][]byte{tarredSeed(f), pack1(f, gzipped), pack1(f, zstded), pack1(f, xzed), pack1(f, lz4ed), []byte("\xff\xfea\x00\n\x00\x00\xd8")} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ledger Ledger
		for src, err := range Walk([]string{"-"}, bytes.NewReader(data), &ledger) {
			if err != nil {
				continue
			}
			if n, err := io.Copy(io.Discard, io.LimitReader(src.Input, 64<<20)); err != nil || n > 64<<20 {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
	})
}

func tarredSeed(f *testing.F) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "a", Size: 2, Format: tar.FormatUSTAR}); err != nil {
		f.Fatal(err)
	}
	w.Write([]byte("ab"))
	w.Close()
	return b.Bytes()
}

func pack1(f *testing.F, open func(io.Writer) (io.WriteCloser, error)) []byte {
	var b bytes.Buffer
	w, err := open(&b)
	if err != nil {
		f.Fatal(err)
	}
	io.WriteString(w, "text text text")
	w.Close()
	return b.Bytes()
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		path, folder string
		want         bool
	}{
		{"a/b/c", "a/b", true}, {"a/b", "a/b", true}, {"a/bc", "a/b", false}, {"a", "a/b", false},
		{"a", ".", true}, {".", ".", true}, {"/a", ".", false}, {"/a/b", "/", true}, {"/", "/", true}, {"a", "/", false},
	} {
		if got := Within(c.path, c.folder); got != c.want {
			t.Errorf("Within(%q, %q) = %v", c.path, c.folder, got)
		}
	}
}

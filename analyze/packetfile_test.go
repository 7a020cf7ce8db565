package analyze

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	be "encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nettrace/pcap"
	"nettrace/source"
)

func captureFixtures(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"pcap/*.pcap", "pcap/*.pcapng", "bundles/rr-4345/*.pcap"} {
		found, err := filepath.Glob(filepath.Join("..", "fixtures", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			paths = append(paths, filepath.ToSlash(p))
		}
	}
	if len(paths) < 5 {
		t.Fatalf("only %d captures among the fixtures", len(paths))
	}
	return paths
}

// listed returns all packets of a capture as the packets command lists them.
func listed(t *testing.T, path string) []PacketRecord {
	t.Helper()
	var list []PacketRecord
	_, err := Packets(context.Background(), path, pcap.Filter{}, Options{}, func(p *PacketRecord) error {
		list = append(list, *p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func opened(t *testing.T, path string) *PacketFile {
	t.Helper()
	f, err := OpenPacketFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func scanned(t *testing.T, path string) *PacketFile {
	t.Helper()
	f := opened(t, path)
	if err := f.Scan(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRowsAreThePacketsThatAreListed reads the fixtures' captures both ways.
func TestRowsAreThePacketsThatAreListed(t *testing.T) {
	for _, path := range captureFixtures(t) {
		want := listed(t, path)
		f := scanned(t, path)
		got, err := f.Rows(1, len(want)+10)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d rows (%v), want the %d that are listed", path, len(got), err, len(want))
		}
		if e := f.Extent(); !e.Done || e.Records != want[len(want)-1].Record || e.Bytes != e.Size {
			t.Errorf("%s: extent %+v", path, e)
		}
	}
}

func TestFirstRowsAreThereAtOnce(t *testing.T) {
	path := big(t, 4000, 1000)
	f := opened(t, path)
	if e := f.Extent(); e.Done || e.Records < 100 || e.Records > openPackets {
		t.Errorf("extent after opening: %+v", e)
	}
	rows, err := f.Rows(1, 50)
	if err != nil || len(rows) != 50 || rows[49].Record != 50 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if rows, err = f.Rows(3990, 5); err != nil || len(rows) != 0 {
		t.Errorf("rows beyond what was read: %d, %v", len(rows), err)
	}
}

// TestJumps goes to random records of a capture of several stretches.
func TestJumps(t *testing.T) {
	const n = 4000
	f := scanned(t, big(t, n, 1000))
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(1, n).Draw(t, "from")
		count := rapid.IntRange(1, 100).Draw(t, "count")
		rows, err := f.Rows(from, count)
		if err != nil || len(rows) != int(min(int64(count), n-from+1)) {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for i, row := range rows {
			if row.Record != from+int64(i) || row.Seq != uint32(row.Record) {
				t.Fatalf("row %d is record %d with sequence number %d", i, row.Record, row.Seq)
			}
		}
		p, err := f.Packet(from)
		if err != nil || p.Record != from || len(p.Data) != 1054 || p.Layers[2].Name != "TCP" {
			t.Fatalf("packet %d: %+v, %v", from, p, err)
		}
	})
}

func TestSelect(t *testing.T) {
	f := scanned(t, big(t, 4000, 1000))
	filter, err := pcap.ParseFilter("src port 1003")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	var last Selection
	if err := f.Select(context.Background(), filter, func(s Selection) { calls++; last = s }); err != nil {
		t.Fatal(err)
	}
	if !last.Done || last.More || len(last.Records) != 400 || last.Records[0] != 3 || last.Records[399] != 3993 || calls < 2 {
		t.Errorf("%d records after %d calls: %+v", len(last.Records), calls, last)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.Select(ctx, filter, func(Selection) {}); err == nil {
		t.Error("a selection that was ended says nothing of it")
	}
}

// big writes a capture of n TCP packets whose sequence number is their record, from ten ports.
func big(t testing.TB, n, payload int) string {
	t.Helper()
	var b bytes.Buffer
	u32, u16 := be.LittleEndian.AppendUint32, be.BigEndian.AppendUint16
	b.Write(u32(u32(u32(u32(u32([]byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00"), 0), 0), 262144), 1), 0)[:24])
	for i := 1; i <= n; i++ {
		frame := append(make([]byte, 12), 0x08, 0x00, 0x45, 0)
		frame = u16(frame, uint16(40+payload))
		frame = append(frame, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2)
		frame = u16(u16(frame, uint16(1000+i%10)), 80)
		frame = be.BigEndian.AppendUint32(frame, uint32(i))
		frame = append(frame, 0, 0, 0, 0, 0x50, 0x10, 1, 0, 0, 0, 0, 0)
		frame = append(frame, make([]byte, payload)...)
		b.Write(u32(u32(u32(u32(nil, uint32(1000+i)), uint32(i)), uint32(len(frame))), uint32(len(frame))))
		b.Write(frame)
	}
	path := filepath.Join(t.TempDir(), "big.pcap")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(path)
}

// TestWhatCannotBeReadAgain keeps the first packets of compressed, archived and piped captures, and says why only those.
func TestWhatCannotBeReadAgain(t *testing.T) {
	path := captureFixtures(t)[0]
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := listed(t, path)
	dir := filepath.ToSlash(t.TempDir())
	var compressed, archive bytes.Buffer
	z := gzip.NewWriter(&compressed)
	if _, err := z.Write(content); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	a := tar.NewWriter(&archive)
	if err := a.WriteHeader(&tar.Header{Name: "in/x.pcap", Mode: 0o644, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write(content); err != nil || a.Close() != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"x.pcap.gz": compressed.Bytes(), "x.tar": archive.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	piped, err := KeepPackets("-", bytes.NewReader(content), "it came from a pipe")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*PacketFile{opened(t, dir+"/x.pcap.gz"), opened(t, dir+"/x.tar/in/x.pcap"), piped} {
		got, err := f.Rows(1, len(want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d rows, %v", f.Path(), len(got), err)
		}
		if whole := f.Limit() == ""; whole == (f == piped) {
			t.Errorf("%s: limit %q", f.Path(), f.Limit())
		}
		if p, err := f.Packet(2); err != nil || p.Record != 2 || len(p.Data) == 0 {
			t.Errorf("%s: packet 2: %+v, %v", f.Path(), p, err)
		}
	}
}

// TestManyPacketsThatCannotBeReadAgain are kept up to a bound, which is told.
func TestManyPacketsThatCannotBeReadAgain(t *testing.T) {
	content, err := os.ReadFile(big(t, keptPackets+1, 10))
	if err != nil {
		t.Fatal(err)
	}
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	if _, err := z.Write(content); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "x.pcap.gz"))
	if err := os.WriteFile(path, compressed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	f := opened(t, path)
	if e := f.Extent(); e.Records != keptPackets || !strings.Contains(f.Limit(), "decompress it to a plain file") {
		t.Errorf("extent %+v, limit %q", e, f.Limit())
	}
}

func TestWhatIsNotThere(t *testing.T) {
	for path, want := range map[string]string{
		"nowhere/x.pcap": "not where it was",
		"-":              "standard input",
		"../fixtures/bundles/rr-4345/netperf-rr.txt":        "no capture",
		"../fixtures/bundles/rr-4345/netperf-rr.txt/x.pcap": "no longer in",
		"../fixtures/bundles/rr-4345":                       "not where it was",
	} {
		if _, err := OpenPacketFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	lines := make([]string, 40_000)
	offsets := make([]int64, len(lines))
	var b strings.Builder
	for i := range lines {
		lines[i] = strings.Repeat("x", i%17) + " line " + string(rune('a'+i%26))
		offsets[i] = int64(b.Len())
		b.WriteString(lines[i] + "\n")
	}
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "x.txt"))
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{1, 2, 5000, 20_000, 39_999, 40_000} {
		x, err := ReadExcerpt(source.Pos{Source: path, Line: at, Offset: offsets[at-1]})
		if err != nil {
			t.Fatal(err)
		}
		last := x.First + len(x.Lines) - 1
		if x.First > at || last < at || x.Whole {
			t.Fatalf("line %d: lines %d to %d", at, x.First, last)
		}
		if whole := x.Lines[1 : len(x.Lines)-1]; !slices.Equal(whole, lines[x.First:last-1]) {
			t.Errorf("line %d: lines %d to %d are others", at, x.First, last)
		}
		if x.Lines[at-x.First] != lines[at-1] {
			t.Errorf("line %d is %q, want %q", at, x.Lines[at-x.First], lines[at-1])
		}
	}
	if _, err := ReadExcerpt(source.Pos{Source: path, Line: 9, Offset: 1 << 40}); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("an offset behind the end: %v", err)
	}
}

func BenchmarkRows(b *testing.B) {
	f, err := OpenPacketFile(big(b, 4000, 1000))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := f.Scan(context.Background(), nil); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := range b.N {
		if _, err := f.Rows(int64(1+i*37%3900), 60); err != nil {
			b.Fatal(err)
		}
	}
}

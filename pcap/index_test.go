package pcap

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"nettrace/source"
)

// checkOpenAt opens records through the index, as reloaded from JSON, and compares them with those read in order.
func checkOpenAt(t *testing.T, file []byte, records []int) {
	t.Helper()
	c := readBytes(t, file)
	text, err := json.Marshal(c.index)
	if err != nil {
		t.Fatal(err)
	}
	var index Index
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	for _, n := range records {
		want := c.packets[n]
		r, err := OpenAt(bytes.NewReader(file), "test", &index, want.Record)
		if err != nil {
			t.Fatalf("record %d: %v", want.Record, err)
		}
		for last := min(len(c.packets), n+3); n < last; n++ {
			want := c.packets[n]
			p, err := r.Next()
			if err != nil {
				t.Fatalf("record %d: %v", want.Record, err)
			}
			if p.Record != want.Record || p.Offset != want.Offset || p.Time != want.Time || p.Interface != want.Interface || p.LinkType != want.LinkType || !bytes.Equal(p.Data, want.Data) {
				t.Fatalf("record %d at %d of interface %d, want %d at %d of %d", p.Record, p.Offset, p.Interface, want.Record, want.Offset, want.Interface)
			}
		}
	}
	if _, err := OpenAt(bytes.NewReader(file), "test", &index, c.packets[len(c.packets)-1].Record+1); err == nil {
		t.Error("a record behind the last one can be opened")
	}
	if _, err := OpenAt(bytes.NewReader(file), "test", &index, 0); err == nil {
		t.Error("record 0 can be opened")
	}
}

func TestOpenAtLargeFile(t *testing.T) {
	file := syntheticCapture(100_000)
	checkOpenAt(t, file, []int{0, 1, 49_999, 99_999})
	index := readBytes(t, file).index
	if n := len(index.Points); n != len(file)>>20+1 {
		t.Errorf("%d points for %d bytes", n, len(file))
	}
	for n, p := range index.Points[1:] {
		if apart := p.Offset - index.Points[n].Offset; apart < stretchBytes || apart > stretchBytes+200 {
			t.Errorf("points %d and %d are %d bytes apart", n, n+1, apart)
		}
	}
}

func TestOpenAtEachFormat(t *testing.T) {
	for _, name := range []string{"base.pcap", "modified-magic.pcap", "big-endian-ns.pcap", "two-interfaces.pcapng", "mixed-linktypes.pcapng", "custom-block.pcapng", "snoop.snoop", "tsresol-2pow20.pcapng"} {
		t.Run(name, func(t *testing.T) { checkOpenAt(t, readAll(t, filepath.Join(fixtures, name)), []int{0, 7, 26}) })
	}
}

// TestOpenAtSections goes through sections of both byte orders, with interfaces between packets and 2 MiB in each.
func TestOpenAtSections(t *testing.T) {
	f := &ngFile{}
	filler := string(make([]byte, 300<<10))
	var records []int
	for n := range 20 {
		if n%5 == 0 {
			f.section(n%2 == 0)
			f.iface(LinkRaw, 0, f.option(optResolution, "\x09"))
		}
		if n%5 == 2 {
			f.iface(LinkEthernet, 0)
		}
		f.packet(n%5/2&1, uint64(n)*1e9, filler, len(filler))
		records = append(records, n)
	}
	checkOpenAt(t, f.data, records)
	if index := readBytes(t, f.data).index; len(index.Sections) < 3 {
		t.Errorf("%d states in the index", len(index.Sections))
	}
}

// TestOpenAtRecordOfABlock asks for the number of a block that is no packet: the next packet comes.
func TestOpenAtRecordOfABlock(t *testing.T) {
	f := &ngFile{}
	f.section(false)
	f.iface(LinkRaw, 0)
	f.packet(0, 1, "a", 1)
	f.block(blockCustom, "private")
	f.packet(0, 2, "b", 1)
	index := readBytes(t, f.data).index
	for record, want := range map[int64]string{1: "a", 2: "b", 3: "b"} {
		r, err := OpenAt(bytes.NewReader(f.data), "test", index, record)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := r.Next(); err != nil || string(p.Data) != want {
			t.Errorf("record %d: %q, %v; want %q", record, p.Data, err, want)
		}
	}
}

func TestIndexThins(t *testing.T) {
	var x Index
	r := &Reader{win: newWindow(source.NewInput("test", bytes.NewReader(nil)))}
	for n := range int64(3 * maxPoints) {
		r.record = n
		x.note(&Packet{Offset: n << 20}, r)
	}
	if len(x.Points) >= maxPoints || x.stretch != 4<<20 {
		t.Fatalf("%d points, %d bytes apart", len(x.Points), x.stretch)
	}
	for _, record := range []int64{1, 2, 1000, 3 * maxPoints} {
		p, found := x.Find(record)
		if !found || p.Record > record || record-p.Record >= 4 || p.Offset != (p.Record-1)<<20 {
			t.Errorf("record %d: %+v, %v", record, p, found)
		}
	}
}

package pcap

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nettrace/source"
	"nettrace/unit"
)

// ngFile builds a pcapng file block by block.
type ngFile struct {
	big  bool
	data []byte
}

func (f *ngFile) order() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if f.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// words appends values of the widths of their types; strings are appended as they are.
func (f *ngFile) words(values ...any) []byte {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case int:
			b = f.order().AppendUint32(b, uint32(v))
		case uint16:
			b = f.order().AppendUint16(b, v)
		case uint64:
			b = f.order().AppendUint64(b, v)
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
	return b
}

func (f *ngFile) block(kind int, values ...any) {
	body := pad4(f.words(values...))
	f.data = append(f.data, f.words(kind, len(body)+12, body, len(body)+12)...)
}

func pad4(b []byte) []byte { return append(b, make([]byte, padded(len(b))-len(b))...) }

func (f *ngFile) option(code uint16, values ...any) []byte {
	value := f.words(values...)
	return pad4(f.words(code, uint16(len(value)), value))
}

// section begins a section, in the other byte order if big differs from the last one's.
func (f *ngFile) section(big bool, options ...any) {
	f.big = big
	f.block(magicSection, append([]any{magicOrder, uint16(1), uint16(0), ^uint64(0)}, options...)...)
}

func (f *ngFile) iface(link LinkType, snaplen int, options ...any) {
	f.block(blockInterface, append([]any{uint16(link), uint16(0), snaplen}, options...)...)
}

func (f *ngFile) packet(iface int, ticks uint64, data string, original int, options ...any) {
	f.block(blockPacket, append([]any{iface, int(ticks >> 32), int(uint32(ticks)), len(data), original, pad4([]byte(data))}, options...)...)
}

func TestSectionsAndInterfaces(t *testing.T) {
	f := &ngFile{}
	f.section(false, f.option(optComment, "first"), f.option(optHardware, "EPYC"), f.option(optSystem, "Linux 6.18.0"), f.option(optWriter, "test"))
	f.iface(LinkEthernet, 96, f.option(optName, "eth0"), f.option(optDescription, "uplink"), f.option(optFilter, "\x00tcp"), f.option(optComment, "second"))
	f.iface(LinkRaw, 0, f.option(optName, "tun0"), f.option(optResolution, "\x09"), f.option(optOffset, uint64(100)))
	f.packet(1, 5_000_000_007, "0123456789", 10)
	f.packet(0, 6_000_001, "abcde", 7, f.option(optFlags, int(1|4<<5)), f.option(optComment, "third"), f.option(optComment, "fourth"), f.option(optPacketDrops, uint64(3)))
	f.section(true)
	f.iface(LinkSLL2, 0)
	f.packet(0, 7_000_000, "x", 1, f.option(optFlags, 2))
	f.block(blockOldPacket, uint16(0), uint16(2), 0, 8_000_000, 3, 3, "old")
	f.block(blockOldPacket, uint16(0), uint16(0xffff), 0, 8_000_000, 3, 3, "old")
	f.block(blockStatistics, 0, 0, 0, f.option(optReceived, uint64(1000)), f.option(optIfaceDrops, uint64(20)), f.option(optSystemDrops, uint64(1)))
	f.block(blockNames, "names")
	f.block(blockSecrets, "secrets")
	f.block(0x99, "unknown")
	f.packet(9, 1, "nobody's", 8)
	f.packet(0, 9_000_000, "y", 1)
	c := readBytes(t, f.data)

	type line struct {
		record    int64
		iface     int
		link      LinkType
		time      unit.Nanos
		data      string
		wire      int
		direction Direction
	}
	want := []line{
		{1, 1, LinkRaw, 105_000_000_007, "0123456789", 10, DirectionUnknown},
		{2, 0, LinkEthernet, 6_000_001_000, "abc", 3, Inbound}, // 4 bytes of frame check sequence, of which 2 were captured
		{3, 2, LinkSLL2, 7_000_000_000, "x", 1, Outbound},
		{4, 2, LinkSLL2, 8_000_000_000, "old", 3, DirectionUnknown},
		{5, 2, LinkSLL2, 8_000_000_000, "old", 3, DirectionUnknown},
		{7, 2, LinkSLL2, 9_000_000_000, "y", 1, DirectionUnknown},
	}
	var got []line
	for _, d := range c.packets {
		got = append(got, line{d.Record, d.Interface, d.LinkType, d.Time, string(d.Data), d.WireLen, d.Direction})
	}
	if !slices.Equal(got, want) {
		t.Errorf("packets:\n%v, want\n%v", got, want)
	}
	if comments := c.packets[1].Comments(); !slices.Equal(comments, []string{"third", "fourth"}) {
		t.Errorf("comments %q", comments)
	}
	i := c.info
	if i.Format != FormatPcapng || i.Sections != 2 || i.Packets != 6 || i.Comments != 4 || !slices.Equal(i.Hardware, []string{"EPYC"}) || !slices.Equal(i.System, []string{"Linux 6.18.0"}) || !slices.Equal(i.Writer, []string{"test"}) ||
		i.First != 6_000_001_000 || i.Last != 105_000_000_007 || i.Backwards != 1 || len(i.Interfaces) != 3 {
		t.Errorf("info %+v", i)
	}
	eth, tun, sll := i.Interfaces[0], i.Interfaces[1], i.Interfaces[2]
	if eth.Name != "eth0" || eth.Description != "uplink" || eth.Filter != "tcp" || eth.SnapLen != 96 || eth.Packets != 1 || eth.Dropped != 3 || eth.Received != -1 {
		t.Errorf("interface %+v", eth)
	}
	if tun.Name != "tun0" || tun.Resolution != 9 || tun.Offset != 100 || tun.Dropped != -1 {
		t.Errorf("interface %+v", tun)
	}
	if sll.Received != 1000 || sll.Dropped != 20 || sll.OSDrops != 1 {
		t.Errorf("interface %+v", sll)
	}
	wantLedger(t, c, "unknown-interface 1 6", "capture-drops 24 7", "skipped-block 1 6")
}

// wantLedger compares the ledger with lines of name, count and record of the first one.
func wantLedger(t testing.TB, c capture, want ...string) {
	t.Helper()
	var got []string
	for _, e := range c.ledger {
		got = append(got, fmt.Sprintf("%s %d %d", e.Name, e.Count, e.First.Record))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("ledger %q, want %q", got, want)
	}
}

func TestSimplePackets(t *testing.T) {
	f := &ngFile{}
	f.section(false)
	f.iface(LinkRaw, 4)
	f.block(blockSimple, 9, "abcd")
	f.block(blockSimple, 3, "abc\x00")
	f.iface(LinkRaw, 0)
	f.block(blockSimple, 9, "abcdefgh") // longer than the snaplen of interface 0
	c := readBytes(t, f.data)
	if len(c.packets) != 3 {
		t.Fatalf("%d packets", len(c.packets))
	}
	for n, want := range []string{"abcd", "abc", "abcd"} {
		if d := c.packets[n]; string(d.Data) != want || d.HasTime || d.Interface != 0 {
			t.Errorf("packet %d: %q, time %v, interface %d", n+1, d.Data, d.HasTime, d.Interface)
		}
	}
	wantLedger(t, c, "no-timestamp 3 1", "cut-by-snaplen 2 1")
}

// TestBlocksThatLie holds what is done about blocks whose inner lengths do not fit, and about types that may be large.
func TestBlocksThatLie(t *testing.T) {
	begin := func() *ngFile {
		f := &ngFile{}
		f.section(false)
		f.iface(LinkRaw, 0)
		f.packet(0, 1, "first", 5)
		return f
	}
	for _, c := range []struct {
		name    string
		block   func(f *ngFile)
		packets int
		ledger  string
	}{
		{"captured length above the block", func(f *ngFile) { f.block(blockPacket, 0, 0, 0, 1000, 1000, "short") }, 2, "damaged-record 1 2"},
		{"a packet block too short for its fixed part", func(f *ngFile) { f.block(blockPacket, 0, 0) }, 2, "damaged-record 1 2"},
		{"an interface block too short", func(f *ngFile) { f.block(blockInterface, 1) }, 2, "damaged-record 1 2"},
		{"lengths that differ", func(f *ngFile) { f.packet(0, 1, "lost", 4); f.data[len(f.data)-4]++ }, 2, "damaged-record 1 2"},
		{"a length of 0", func(f *ngFile) { f.data = append(f.data, f.words(6, 0, 0, 0)...) }, 2, "damaged-record 1 2"},
		{"an odd length", func(f *ngFile) { f.data = append(f.data, f.words(6, 17, 0, 0)...) }, 2, "damaged-record 1 2"},
		{"an unknown block of 1 GiB", func(f *ngFile) { f.data = append(f.data, f.words(0x77, 1<<30)...) }, 2, "damaged-record 1 2"},
		{"secrets of 3 MiB", func(f *ngFile) { f.block(blockSecrets, make([]byte, 3<<20)) }, 2, ""},
		{"a private block of 3 MiB", func(f *ngFile) { f.block(blockCustom, make([]byte, 3<<20)) }, 2, "skipped-block 1 2"},
		{"secrets that go on behind the end", func(f *ngFile) { f.data = append(f.data, f.words(blockSecrets, 1<<30)...) }, 1, "truncated-record 1 2"},
		{"captured more than there was", func(f *ngFile) { f.packet(0, 1, "12345678", 4) }, 3, "captured-above-length 1 2"},
		{"a time out of range", func(f *ngFile) { f.packet(0, 1<<63, "12345678", 8) }, 3, "time-out-of-range 1 2"},
		{"an option that goes on behind the block", func(f *ngFile) { f.packet(0, 1, "12345678", 8, f.words(uint16(1), uint16(500), "abcd")) }, 3, ""},
		{"a version of the future", func(f *ngFile) {
			f.block(magicSection, magicOrder, uint16(3), uint16(0), ^uint64(0))
			f.iface(LinkRaw, 0)
		}, 2, "unknown-version 1 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := begin()
			c.block(f)
			f.packet(0, 2, "last", 4)
			got := readBytes(t, f.data)
			if len(got.packets) != c.packets {
				t.Errorf("%d packets, want %d", len(got.packets), c.packets)
			}
			if c.packets > 1 && string(got.packets[len(got.packets)-1].Data) != "last" {
				t.Error("the last packet is not read")
			}
			if c.ledger == "" {
				wantLedger(t, got)
			} else {
				wantLedger(t, got, c.ledger)
			}
		})
	}
}

// TestManyInterfaces bounds the table of interfaces.
func TestManyInterfaces(t *testing.T) {
	f := &ngFile{}
	f.section(false)
	for range maxInterfaces + 10 {
		f.iface(LinkRaw, 0)
	}
	f.packet(maxInterfaces-1, 1, "in", 2)
	f.packet(maxInterfaces, 1, "out", 3)
	c := readBytes(t, f.data)
	if len(c.packets) != 1 || len(c.info.Interfaces) != maxInterfaces {
		t.Errorf("%d packets, %d interfaces", len(c.packets), len(c.info.Interfaces))
	}
	wantLedger(t, c, "too-many-interfaces 10 1", "unknown-interface 1 2")
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		resolution uint8
		offset     int64
		ticks      uint64
		want       unit.Nanos
		ok         bool
	}{
		{6, 0, 1_700_000_000_123_456, 1_700_000_000_123_456_000, true},
		{9, 0, 1_700_000_000_123_456_789, 1_700_000_000_123_456_789, true},
		{0, 0, 1_700_000_000, 1_700_000_000_000_000_000, true},
		{12, 0, 1_999, 1, true},
		{19, 0, 1<<64 - 1, 1_844_674_407, true},
		{28, 0, 1<<64 - 1, 1, true},
		{29, 0, 1<<64 - 1, 0, true},
		{127, 0, 1<<64 - 1, 0, true},
		{0x80, 0, 3, 3_000_000_000, true},
		{0x80 | 1, 0, 3, 1_500_000_000, true},
		{0x80 | 20, 0, 1<<20 + 1, 1_000_000_953, true}, // 1 s and 953.67 ns
		{0x80 | 32, 0, 1700000000<<32 | 1<<31, 1_700_000_000_500_000_000, true},
		{0x80 | 63, 0, 1 << 63, 1_000_000_000, true},
		{0x80 | 64, 0, 1 << 63, 500_000_000, true},
		{0x80 | 127, 0, 1<<64 - 1, 0, true},
		{6, -1, 2_500_000, 1_500_000_000, true},
		{6, -10, 2_500_000, -7_500_000_000, true},
		{0x80 | 10, 3600, 512, 3_600_500_000_000, true},
		{6, 0, 1 << 63, 0, false},
		{0, 0, 1 << 34, 0, false},
		{0x80, 0, 1 << 34, 0, false},
		{0x80 | 10, 0, 1<<64 - 1, 0, false},
		{6, 1 << 62, 0, 0, false},
		{6, -1 << 63, 0, 0, false},
		{6, 9_000_000_000, 1_000_000_000_000_000, 0, false},
	} {
		clock := newClock(c.resolution, c.offset)
		got, ok := clock.nanos(c.ticks)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("resolution %#x, offset %d: %d ticks are %d, %v, want %d, %v", c.resolution, c.offset, c.ticks, got, ok, c.want, c.ok)
		}
	}
}

// TestPcapHeaders holds what is made of unusual file and record headers of pcap.
func TestPcapHeaders(t *testing.T) {
	file := func(version uint16, link uint32, records ...[4]uint32) []byte {
		le := binary.LittleEndian
		b := le.AppendUint32(nil, magicMicros)
		b = le.AppendUint16(le.AppendUint16(b, 2), version)
		b = append(b, make([]byte, 12)...)
		b = le.AppendUint32(b, link)
		for _, r := range records {
			for _, v := range r {
				b = le.AppendUint32(b, v)
			}
			b = append(b, strings.Repeat("x", int(min(r[2], r[3], 8)))...)
		}
		return b
	}
	for _, c := range []struct {
		name      string
		file      []byte
		cap, wire int
		time      unit.Nanos
		ledger    []string
	}{
		{"version 2.3, lengths exchanged", file(3, 101, [4]uint32{1, 2, 20, 8}), 8, 20, 1_000_002_000, []string{"cut-by-snaplen 1 1"}},
		{"version 2.2, lengths exchanged", file(2, 101, [4]uint32{1, 2, 20, 8}), 8, 20, 1_000_002_000, []string{"cut-by-snaplen 1 1"}},
		{"version 2.3, as 2.4", file(3, 101, [4]uint32{1, 2, 8, 20}), 8, 20, 1_000_002_000, []string{"cut-by-snaplen 1 1"}},
		{"version 2.9", file(9, 101, [4]uint32{1, 2, 8, 8}), 8, 8, 1_000_002_000, []string{"unknown-version 1 1"}},
		{"a fraction of 2.5 s", file(4, 101, [4]uint32{1, 2_500_000, 8, 8}), 8, 8, 3_500_000_000, []string{"fraction-out-of-range 1 1"}},
		{"reserved link-type bits", file(4, 101|1<<20, [4]uint32{1, 2, 8, 8}), 8, 8, 1_000_002_000, []string{"reserved-link-type-bits 1 1"}},
		{"frame check sequence of 4 bytes", file(4, 101|1<<26|2<<28, [4]uint32{1, 2, 8, 8}), 4, 4, 1_000_002_000, nil},
		{"a link type that is not decoded", file(4, 189, [4]uint32{1, 2, 8, 8}), 8, 8, 1_000_002_000, []string{"link-type-not-decoded 1 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readBytes(t, c.file)
			if len(got.packets) != 1 {
				t.Fatalf("%d packets, ledger %+v", len(got.packets), got.ledger)
			}
			if d := got.packets[0]; d.CapLen != c.cap || d.WireLen != c.wire || d.Time != c.time || len(d.Data) != c.cap {
				t.Errorf("captured %d of %d at %d, want %d of %d at %d", d.CapLen, d.WireLen, d.Time, c.cap, c.wire, c.time)
			}
			wantLedger(t, got, c.ledger...)
		})
	}
}

// TestGrowingInput reads a capture that arrives in small pieces, as from a pipe.
func TestGrowingInput(t *testing.T) {
	file := syntheticCapture(2000)
	whole := readBytes(t, file)
	c := readInput(t, source.NewInput("pipe", &pieces{data: file}))
	if len(c.packets) != 2000 || len(c.ledger) != len(whole.ledger) {
		t.Fatalf("%d packets, ledger %+v", len(c.packets), c.ledger)
	}
	for n, d := range c.packets {
		if d.Offset != whole.packets[n].Offset || string(d.Data) != string(whole.packets[n].Data) {
			t.Fatalf("packet %d differs", n+1)
		}
	}
}

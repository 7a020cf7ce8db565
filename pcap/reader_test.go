package pcap

import (
	"bytes"
	"encoding/binary"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/source"
	"nettrace/unit"
)

// likeBase are the files that hold the packets of base.pcap in other containers, link layers and tunnels.
func likeBase() []string {
	return []string{"base.pcap.gz", "base.pcap.lz4", "base.pcap.xz", "base.pcap.zst", "big-endian-ns.pcap", "big-endian.pcap", "big-endian.pcapng",
		"custom-block.pcapng", "epb-flags-be.pcapng", "fcs-linktype.pcap", "geneve.pcap", "gre.pcap", "ipip.pcap", "loop-loopback.pcap",
		"modified-magic.pcap", "mpls.pcap", "null-loopback.pcap", "ppp-hdlc.pcap", "qinq.pcap", "raw-ip.pcap", "simple-packets.pcapng",
		"snaplen-lies.pcap", "snaplen-zero.pcap", "snaplen-zero.pcapng", "snoop.snoop", "tsresol-2pow20.pcapng", "tsresol-2pow32.pcapng",
		"tsresol-ms.pcapng", "tsresol-ns.pcapng", "version-2.3.pcap", "vlan.pcap"}
}

// timeError is how far the times of a file may be off, by the resolution that it has; -1 for a file without times.
func timeError(name string) unit.Nanos {
	switch name {
	case "simple-packets.pcapng":
		return -1
	case "tsresol-ms.pcapng":
		return unit.Millisecond
	case "tsresol-2pow20.pcapng":
		return unit.Second >> 20
	case "tsresol-2pow32.pcapng":
		return 1
	}
	return 0
}

func TestEncodingsOfBase(t *testing.T) {
	base := readFile(t, filepath.Join(fixtures, "base.pcap"))
	for _, name := range likeBase() {
		t.Run(name, func(t *testing.T) {
			c := readFile(t, filepath.Join(fixtures, name))
			if len(c.packets) != len(base.packets) {
				t.Fatalf("%d packets, want %d", len(c.packets), len(base.packets))
			}
			if w := c.warnings(); len(w) > 0 {
				t.Errorf("warnings %v on an intact file", w)
			}
			atMost := timeError(name)
			for n, d := range c.packets {
				want := base.packets[n]
				if diff := cmp.Diff(innermost(want), innermost(d)); diff != "" {
					t.Fatalf("packet %d (-base +here):\n%s", n+1, diff)
				}
				if d.HasTime != (atMost >= 0) {
					t.Fatalf("packet %d: HasTime is %v", n+1, d.HasTime)
				}
				if off := want.Time - d.Time; d.HasTime && (off < 0 || off > atMost) {
					t.Errorf("packet %d: time %d is %d ns before the true one, at most %d", n+1, d.Time, off, atMost)
				}
			}
		})
	}
}

// innermost leaves out of a header what container, link layer and tunnel change.
func innermost(d decoded) map[string]any {
	h := d.Header
	return map[string]any{
		"src": h.Source().String(), "dst": h.Destination().String(), "ttl": h.TTL, "id": h.ID, "ecn": h.ECN, "iplen": h.IPLen, "fault": h.Fault.String(),
		"transport": h.Transport, "payload": h.Payload, "checksum": h.Checksum, "seq": h.Seq, "ack": h.Ack, "flags": h.Flags, "window": h.Window,
		"options": h.Options,
	}
}

func TestLinkLayersAndTunnels(t *testing.T) {
	for _, c := range []struct {
		file    string
		link    LinkType
		vlan    uint16
		tags    uint8
		tunnel  TunnelKind
		tunnels uint8
	}{
		{"base.pcap", LinkEthernet, 0, 0, NoTunnel, 0},
		{"raw-ip.pcap", LinkRaw, 0, 0, NoTunnel, 0},
		{"null-loopback.pcap", LinkNull, 0, 0, NoTunnel, 0},
		{"loop-loopback.pcap", LinkLoop, 0, 0, NoTunnel, 0},
		{"ppp-hdlc.pcap", LinkPPP, 0, 0, NoTunnel, 0},
		{"vlan.pcap", LinkEthernet, 100, 1, NoTunnel, 0},
		{"qinq.pcap", LinkEthernet, 10, 2, NoTunnel, 0},
		{"mpls.pcap", LinkEthernet, 0, 0, NoTunnel, 0},
		{"gre.pcap", LinkEthernet, 0, 0, GRE, 1},
		{"ipip.pcap", LinkEthernet, 0, 0, IPinIP, 1},
		{"geneve.pcap", LinkEthernet, 0, 0, Geneve, 1},
		{"vxlan-tso-sender.pcap", LinkEthernet, 0, 0, VXLAN, 1},
	} {
		for _, d := range readFile(t, filepath.Join(fixtures, c.file)).packets {
			if d.Transport != TCP { // ARP and neighbour discovery in the VXLAN capture
				continue
			}
			if d.LinkType != c.link || d.VLAN != c.vlan || d.Tags != c.tags || d.TunnelKind != c.tunnel || d.Tunnels != c.tunnels || (d.Tunnel != 0) != (c.tunnels > 0) {
				t.Errorf("%s, record %d: link type %s, VLAN %d, %d tags, tunnel %q, %d tunnels, hash %d; want %+v", c.file, d.Record, d.LinkType, d.VLAN, d.Tags, d.TunnelKind, d.Tunnels, d.Tunnel, c)
			}
		}
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		head string
		want source.Match
	}{
		{"\xd4\xc3\xb2\xa1\x02\x00\x04\x00", source.Strong},
		{"\xa1\xb2\xc3\xd4", source.Strong},
		{"\xa1\xb2\x3c\x4d", source.Strong},
		{"\x34\xcd\xb2\xa1", source.Strong},
		{"\xa1\xb2\x34\xcd\x00\x02\x00\x04", source.Strong}, // a vendor's: refused by NewReader with its magic
		{"\xac\x01\x00\x1c\x02\x00\x04\x00", source.Strong},
		{"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a", source.Strong},
		{"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x1a\x2b\x3c\x4d", source.Strong},
		{"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x00\x00\x00\x00", source.No},
		{"\n\r\r\n", source.Strong},
		{"snoop\x00\x00\x00\x00\x00\x00\x02", source.Strong},
		{"snooping", source.No},
		{"snoop", source.More},
		{"\xd4\xc3", source.More},
		{"\xd4\xc4", source.No},
		{"", source.No},
		{"\xa1\xb2\x34\xcd\x00\x07\x00\x04", source.No},
		{"text of any kind", source.No},
	} {
		if got := Sniff([]byte(c.head)); got != c.want {
			t.Errorf("Sniff(%q) = %s, want %s", c.head, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for head, want := range map[string]string{
		"\xa1\xb2\x34\xcd\x00\x02\x00\x04" + strings.Repeat("\x00", 16): "x: record 1 at byte 0: magic 0xa1b234cd is a vendor's",
		"\xcd\x34\xb2\xa1\x02\x00\x04\x00" + strings.Repeat("\x00", 16): "magic 0xa1b234cd",
		"\xac\x01\x00\x1c\x02\x00\x04\x00" + strings.Repeat("\x00", 16): "magic 0x1c0001ac",
		"snoop\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x63":             "datalink type 99",
		"Dear all, the capture": "not a capture",
		"":                      "not a capture",
	} {
		r, err := NewReader(source.NewInput("x", strings.NewReader(head)), &source.Ledger{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NewReader(%q) = %v, %v; want an error with %q", head, r, err, want)
		}
	}
}

// TestCutAnywhere cuts files of each format at every seventh byte, which is every remainder of four: the packets that are whole are read, and there is one
// warning, with the place where the cut record begins, unless the cut is between two records.
func TestCutAnywhere(t *testing.T) {
	for _, name := range []string{"base.pcap", "big-endian.pcapng", "custom-block.pcapng", "snoop.snoop", "modified-magic.pcap", "simple-packets.pcapng"} {
		t.Run(name, func(t *testing.T) {
			file := readAll(t, filepath.Join(fixtures, name))
			whole := readBytes(t, file)
			borders := recordBorders(t, file)
			for cut := 1; cut < len(file); cut += 7 {
				c := readBytes(t, file[:cut])
				begin := borders[len(borders)-1]
				for n := range borders {
					if borders[n] > cut {
						begin = borders[n-1]
						break
					}
				}
				want := 0
				for want < len(whole.packets) && int(whole.packets[want].Offset) < begin {
					want++
				}
				if len(c.packets) != want {
					t.Fatalf("cut at %d: %d packets, want %d", cut, len(c.packets), want)
				}
				for n, d := range c.packets {
					if !bytes.Equal(d.Data, whole.packets[n].Data) || d.Record != whole.packets[n].Record {
						t.Fatalf("cut at %d: packet %d is not that of the whole file", cut, n+1)
					}
				}
				entry, found := c.entry("truncated-record")
				if found != (cut != begin) || len(c.warnings()) > 1 {
					t.Fatalf("cut at %d, the record begins at %d: ledger %+v", cut, begin, c.ledger)
				}
				if found && (entry.Count != 1 || entry.First.Offset != int64(begin)) {
					t.Fatalf("cut at %d, the record begins at %d: %+v", cut, begin, entry)
				}
			}
		})
	}
}

// recordBorders walks a file by its lengths: 0, the end of the file header, and the end of each record or block.
func recordBorders(t testing.TB, file []byte) []int {
	t.Helper()
	big, little := binary.BigEndian, binary.LittleEndian
	borders, at := []int{0}, 0
	var step func() int
	switch little.Uint32(file) {
	case magicMicros:
		at, step = 24, func() int { return 16 + int(little.Uint32(file[at+8:])) }
	case magicModified:
		at, step = 24, func() int { return 24 + int(little.Uint32(file[at+8:])) }
	case magicSection:
		order := binary.ByteOrder(little)
		if big.Uint32(file[8:]) == magicOrder {
			order = big
		}
		step = func() int { return int(order.Uint32(file[at+4:])) }
	default:
		at, step = 16, func() int { return int(big.Uint32(file[at+8:])) }
	}
	if at > 0 {
		borders = append(borders, at)
	}
	for at < len(file) {
		at += step()
		borders = append(borders, at)
	}
	if at != len(file) {
		t.Fatalf("the file has %d bytes, its records end at %d", len(file), at)
	}
	return borders
}

// TestDamagedRecord destroys one header in the middle: that record is lost, those around it are read.
func TestDamagedRecord(t *testing.T) {
	for _, name := range []string{"base.pcap", "big-endian.pcapng", "snoop.snoop", "modified-magic.pcap"} {
		t.Run(name, func(t *testing.T) {
			file := readAll(t, filepath.Join(fixtures, name))
			whole := readBytes(t, file)
			const lost = 11
			at := int(whole.packets[lost].Offset)
			for n := range 16 {
				file[at+n] ^= 0xff
			}
			c := readBytes(t, file)
			if len(c.packets) != len(whole.packets)-1 {
				t.Fatalf("%d packets, want %d", len(c.packets), len(whole.packets)-1)
			}
			want := slices.Delete(slices.Clone(whole.packets), lost, lost+1)
			for n, d := range c.packets {
				if !bytes.Equal(d.Data, want[n].Data) || d.Offset != want[n].Offset {
					t.Fatalf("packet %d is not the next intact one", n+1)
				}
			}
			entry, found := c.entry("damaged-record")
			if !found || entry.Count != 1 || entry.First.Offset != int64(at) || entry.First.Record != lost+1 || !strings.Contains(entry.Text, "intact record at byte") {
				t.Errorf("ledger %+v", c.ledger)
			}
		})
	}
}

// TestGarbageBehind appends what is no record: all packets are read, and one warning names the place.
func TestGarbageBehind(t *testing.T) {
	for _, name := range []string{"base.pcap", "big-endian.pcapng", "snoop.snoop"} {
		for _, garbage := range []string{strings.Repeat("\x00", 4096), strings.Repeat("\xff", 5000), "and so on, in words of many letters"} {
			file := readAll(t, filepath.Join(fixtures, name))
			c := readBytes(t, append(slices.Clone(file), garbage...))
			entry, found := c.entry("damaged-record")
			if len(c.packets) != 27 || !found || entry.Count != 1 || entry.First.Offset != int64(len(file)) || len(c.warnings()) != 1 {
				t.Errorf("%s and %.8q: %d packets, ledger %+v", name, garbage, len(c.packets), c.ledger)
			}
		}
	}
}

// TestLongestRecord holds the bound on records, which is not the file's: BIG TCP is read, more is damage.
func TestLongestRecord(t *testing.T) {
	record := func(captured, original int) []byte {
		b := binary.LittleEndian.AppendUint32(nil, 1700000000)
		for _, v := range []int{0, captured, original} {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		return append(b, make([]byte, captured)...)
	}
	head := syntheticCapture(0)
	big := readBytes(t, append(slices.Clone(head), record(524280+100, 524280+100)...))
	if len(big.packets) != 1 || len(big.ledger) != 0 {
		t.Errorf("%d packets, ledger %+v", len(big.packets), big.ledger)
	}
	claim := append(append(slices.Clone(head), record(60, 60)...), 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f)
	c := readBytes(t, claim)
	if entry, found := c.entry("damaged-record"); len(c.packets) != 1 || !found || entry.First.Offset != 24+16+60 || !strings.Contains(entry.Text, "2,147,483,647") {
		t.Errorf("%d packets, ledger %+v", len(c.packets), c.ledger)
	}
}

// TestClose ends the reading early: the ledger has what was met until then.
func TestClose(t *testing.T) {
	var ledger source.Ledger
	r, err := NewReader(source.NewInput("test", bytes.NewReader(readAll(t, filepath.Join(fixtures, "simple-packets.pcapng")))), &ledger)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	r.Close()
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("Next behind Close: %v", err)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Name != "no-timestamp" || e[0].Count != 3 {
		t.Errorf("ledger %+v", e)
	}
}

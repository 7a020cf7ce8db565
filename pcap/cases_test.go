package pcap

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
	"nettrace/unit"
)

// The tests of this file read captures rebuilt from public reports; what has to come out is in the expected.md beside them.

func readCase(t testing.TB, path string) capture {
	t.Helper()
	return readFile(t, filepath.Join(shared.Path(t, "cases"), path))
}

const caseEpoch = 1_700_000_000 * unit.Second

func TestCaseCutShort(t *testing.T) {
	for _, c := range []struct {
		file         string
		packets      int
		offset       int64
		wanted, have string
	}{
		{"header-cut.pcap", 1, 237, "16", "2"},
		{"body-cut.pcap", 2, 450, "197", "60"},
		{"block-cut.pcapng", 2, 512, "232", "40"},
	} {
		got := readCase(t, "07-pcap-cut-short/"+c.file)
		if len(got.packets) != c.packets {
			t.Errorf("%s: %d packets, want %d", c.file, len(got.packets), c.packets)
		}
		for _, d := range got.packets {
			if d.Transport != UDP || d.DstPort != 9000 || d.CapLen != 197 {
				t.Errorf("%s, record %d: transport %d, port %d, %d bytes", c.file, d.Record, d.Transport, d.DstPort, d.CapLen)
			}
		}
		entry, found := got.entry("truncated-record")
		if !found || entry.Severity != source.Warning || entry.First.Offset != c.offset || !strings.Contains(entry.Text, "wants "+c.wanted+" bytes, "+c.have+" are there") {
			t.Errorf("%s: %+v", c.file, got.ledger)
		}
	}
}

func TestCaseLengthZero(t *testing.T) {
	got := readCase(t, "08-pcap-ip-length-zero/tso-zero.pcap")
	for record, want := range map[int64]int{4: 200, 5: 2387, 6: 5840, 7: 1460, 8: 0, 9: 0} {
		if d := got.packets[record-1]; d.Payload != want || d.LengthZero != (record == 5 || record == 6) || d.Fault != NoFault {
			t.Errorf("record %d: payload %d, want %d, length zero %v, fault %q", record, d.Payload, want, d.LengthZero, d.Fault)
		}
	}
	if d := got.packets[9]; d.Fault != LengthMissing || d.Transport != NoTransport {
		t.Errorf("ICMP without a length: fault %q, transport %d", d.Fault, d.Transport)
	}
}

func TestCaseSnaplen(t *testing.T) {
	for file, want := range map[string][][2]int{
		"snap0.pcap":     {{102, 102}, {342, 342}, {1442, 1442}},
		"over-snap.pcap": {{82, 82}, {342, 342}, {96, 1442}},
	} {
		got := readCase(t, "09-pcap-snaplen-zero/"+file)
		var lengths [][2]int
		for n, d := range got.packets {
			lengths = append(lengths, [2]int{d.CapLen, d.WireLen})
			if apart := d.Time - got.packets[0].Time; apart != unit.Nanos(n)*unit.Millisecond {
				t.Errorf("%s, record %d: %s after the first", file, d.Record, apart)
			}
		}
		if !slices.Equal(lengths, want) {
			t.Errorf("%s: lengths %v, want %v", file, lengths, want)
		}
		if len(got.warnings()) > 0 {
			t.Errorf("%s: %+v", file, got.ledger)
		}
	}
}

func TestCaseSLL2(t *testing.T) {
	type key struct {
		transport Transport
		direction Direction
		device    uint32
	}
	want := map[key]int{{TCP, Inbound, 2}: 4, {TCP, Inbound, 3}: 2, {TCP, Outbound, 2}: 2, {TCP, Outbound, 3}: 4, {ICMP, Inbound, 3}: 1}
	got := map[key]int{}
	c := readCase(t, "10-pcap-sll2/any.pcap")
	for _, d := range c.packets {
		got[key{d.Transport, d.Direction, d.Device}]++
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%+v: %d packets, want %d", k, got[k], n)
		}
	}
	if link := c.info.Interfaces[0].LinkType; len(c.packets) != 13 || link.String() != "LINUX_SLL2" || len(c.ledger) > 0 {
		t.Errorf("%d packets of %s, ledger %+v", len(c.packets), link, c.ledger)
	}
}

func TestCaseAppended(t *testing.T) {
	for file, want := range map[string][]unit.Nanos{
		"appended-same.pcap": {0, unit.Second, 60 * unit.Second, 61 * unit.Second},
		"appended-nano.pcap": {0, unit.Second, 120*unit.Second + 1},
	} {
		got := readCase(t, "11-pcap-appended/"+file)
		var times []unit.Nanos
		for n, d := range got.packets {
			times = append(times, d.Time-caseEpoch)
			if file == "appended-same.pcap" && d.SrcPort != uint16(6001+n) {
				t.Errorf("%s, record %d: port %d", file, d.Record, d.SrcPort)
			}
		}
		if !slices.Equal(times, want) {
			t.Errorf("%s: times %v, want %v", file, times, want)
		}
		if entry, found := got.entry("appended-capture"); !found || entry.First.Offset != 240 || len(got.ledger) != 1 || got.info.Sections != 2 {
			t.Errorf("%s: ledger %+v, %d sections", file, got.ledger, got.info.Sections)
		}
	}
}

func TestCaseHalfTagged(t *testing.T) {
	type tag struct {
		client bool
		tags   uint8
		vlan   uint16
	}
	counts, payload := map[tag]int{}, map[bool]int{}
	for _, d := range readCase(t, "12-vlan-one-direction/half-tagged.pcap").packets {
		client := d.DstPort == 3306
		counts[tag{client, d.Tags, d.VLAN}]++
		payload[client] += d.Payload
	}
	if counts[tag{true, 1, 2}] != 12 || counts[tag{true, 1, 0}] != 1 || counts[tag{false, 0, 0}] != 7 || len(counts) != 3 {
		t.Errorf("tags %v", counts)
	}
	if payload[true] != 480 || payload[false] != 1200 {
		t.Errorf("payload %v", payload)
	}
}

func TestCaseFastOpen(t *testing.T) {
	got := readCase(t, "27-tfo-syn-data/tfo.pcap")
	for _, record := range []int64{1, 9, 17} {
		if d := got.packets[record-1]; d.Header.Flags != SYN || d.Payload != 100 || !d.Options.FastOpen {
			t.Errorf("record %d: flags %#x, payload %d, options %+v", record, d.Header.Flags, d.Payload, d.Options)
		}
	}
	if len(got.packets) != 24 || got.packets[3].Options.FastOpen {
		t.Errorf("%d packets; Fast Open in record 4: %v", len(got.packets), got.packets[3].Options.FastOpen)
	}
}

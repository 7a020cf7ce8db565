package pcap

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nettrace/source"
)

// rewrite copies every packet of a file that keep selects, and comments each third one.
func rewrite(t *testing.T, path string, keep func(*Packet) bool) []byte {
	t.Helper()
	var out bytes.Buffer
	for src, err := range source.Walk([]string{path}, nil, &source.Ledger{}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(src.Input, &source.Ledger{})
		if err != nil {
			t.Fatal(err)
		}
		w := NewWriter(&out, "nettrace test")
		for {
			p, err := r.Next()
			if err == io.EOF {
				break
			}
			if !keep(p) {
				continue
			}
			var comments []string
			if p.Record%3 == 0 {
				comments = []string{"tcp/stretch-ack", "über"}
			}
			if err := w.Write(p, &r.Info().Interfaces[p.Interface], comments...); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestWriterKeeps(t *testing.T) {
	for _, name := range []string{"base.pcap", "any-sll2.pcap", "two-interfaces.pcapng", "comments.pcapng", "epb-flags-be.pcapng", "fcs-linktype.pcap", "snoop.snoop", "tsresol-2pow32.pcapng"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(fixtures, name)
			before := readFile(t, path)
			after := readBytes(t, rewrite(t, path, func(*Packet) bool { return true }))
			if len(after.packets) != len(before.packets) || len(after.warnings()) > 0 || !slices.Equal(after.info.Writer, []string{"nettrace test"}) {
				t.Fatalf("%d packets of %d, written by %q, ledger %+v", len(after.packets), len(before.packets), after.info.Writer, after.ledger)
			}
			for n, d := range after.packets {
				b := before.packets[n]
				if d.Time != b.Time || d.WireLen != b.WireLen || d.LinkType != b.LinkType || d.Direction != b.Direction || !bytes.Equal(d.Data, b.Data) {
					t.Fatalf("packet %d: %+v, want %+v", n+1, d.Packet, b.Packet)
				}
				want := b.Comments()
				if b.Record%3 == 0 {
					want = append(want, "tcp/stretch-ack", "über")
				}
				if !slices.Equal(d.Comments(), want) {
					t.Errorf("packet %d: comments %q, want %q", n+1, d.Comments(), want)
				}
				if from, to := before.info.Interfaces[b.Interface], after.info.Interfaces[d.Interface]; from.Name != to.Name || from.SnapLen != to.SnapLen || from.Filter != to.Filter {
					t.Errorf("packet %d: interface %+v, want %+v", n+1, to, from)
				}
			}
		})
	}
}

func TestWriterLeavesOutInterfaces(t *testing.T) {
	c := readBytes(t, rewrite(t, filepath.Join(fixtures, "mixed-linktypes.pcapng"), func(p *Packet) bool { return p.LinkType == LinkSLL2 }))
	if len(c.info.Interfaces) != 1 || c.info.Interfaces[0].LinkType != LinkSLL2 || len(c.packets) == 0 {
		t.Errorf("%d packets, interfaces %+v", len(c.packets), c.info.Interfaces)
	}
}

func TestWriterBounds(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, "")
	p := &Packet{LinkType: LinkRaw, WireLen: 300_000, Data: make([]byte, 300_000), Time: -5}
	if err := w.Write(p, &Interface{}, strings.Repeat("x", 70_000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	c := readBytes(t, out.Bytes())
	if d := c.packets[0]; d.CapLen != longestWritten || d.WireLen != 300_000 || d.Time != 0 || len(d.Comments()[0]) != longestOption {
		t.Errorf("captured %d of %d at %d, comment of %d bytes", d.CapLen, d.WireLen, d.Time, len(d.Comments()[0]))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriterError(t *testing.T) {
	w := NewWriter(full{}, "test")
	p := &Packet{LinkType: LinkRaw, WireLen: 100_000, Data: make([]byte, 100_000)}
	if err := w.Write(p, &Interface{}); err == nil {
		t.Error("no error from Write")
	}
	if err := w.Flush(); err == nil || !strings.HasPrefix(err.Error(), "write pcapng: ") {
		t.Errorf("Flush: %v", err)
	}
}

// TestWriterWireshark has tshark read what was written: no complaint, and the same times, lengths and comments.
func TestWriterWireshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Log("tshark is not installed; what it would say is not looked at")
		return
	}
	path := filepath.Join(t.TempDir(), "out.pcapng")
	if err := os.WriteFile(path, rewrite(t, filepath.Join(fixtures, "two-interfaces.pcapng"), func(*Packet) bool { return true }), 0o644); err != nil {
		t.Fatal(err)
	}
	fields := []string{"-T", "fields", "-e", "frame.number", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.cap_len", "-e", "frame.interface_name", "-e", "tcp.seq_raw"}
	before, after := tshark(t, filepath.Join(fixtures, "two-interfaces.pcapng"), fields...), tshark(t, path, fields...)
	if before != after {
		t.Error("tshark reads other packets than were written")
	}
	if n := strings.Count(tshark(t, path, "-T", "fields", "-e", "frame.comment"), "tcp/stretch-ack,über"); n != 69 {
		t.Errorf("%d packets with both comments, want 69", n)
	}
}

func tshark(t *testing.T, path string, args ...string) string {
	t.Helper()
	var complaints bytes.Buffer
	cmd := exec.Command("tshark", append([]string{"-n", "-r", path}, args...)...)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	text := strings.TrimPrefix(complaints.String(), `Running as user "root" and group "root". This could be dangerous.`+"\n")
	if err != nil || text != "" {
		t.Fatalf("%v: %s", err, text)
	}
	return string(out)
}

// TestWriterCarries holds that secrets, names, custom blocks and drop counters go with the packets.
func TestWriterCarries(t *testing.T) {
	for file, kind := range map[string]uint32{"with-secrets.pcapng": blockSecrets, "custom-block.pcapng": blockCustom} {
		data := readAll(t, filepath.Join(fixtures, file))
		var ledger source.Ledger
		r, err := NewReader(source.NewInput(file, bytes.NewReader(data)), &ledger)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := NewWriter(&out, "test")
		var seen []string
		r.Carry = func(kind uint32, bigEndian bool, body []byte) {
			if w.Carry(kind, bigEndian, body) {
				seen = append(seen, string(body))
			}
		}
		for p, err := r.Next(); err == nil; p, err = r.Next() {
			if err := w.Write(p, &r.Info().Interfaces[p.Interface]); err != nil {
				t.Fatal(err)
			}
		}
		i := r.Info().Interfaces[0]
		i.Received, i.Dropped, i.OSDrops = 1<<33, 7, -1
		w.Statistics(0, &i, r.Info().Last)
		w.Statistics(9, &i, 0) // of it no packet was written
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		again, err := NewReader(source.NewInput("again", bytes.NewReader(out.Bytes())), &ledger)
		if err != nil {
			t.Fatal(err)
		}
		var back []string
		again.Carry = func(k uint32, _ bool, body []byte) {
			if k == kind {
				back = append(back, string(body))
			}
		}
		for _, err := again.Next(); err == nil; _, err = again.Next() {
		}
		if len(seen) == 0 || !slices.Equal(seen, back) {
			t.Errorf("%s: carried %d blocks, read %d again", file, len(seen), len(back))
		}
		if got := again.Info().Interfaces[0]; got.Received != 1<<33 || got.Dropped != 7 || got.OSDrops != -1 {
			t.Errorf("%s: %+v", file, got)
		}
	}
	var out bytes.Buffer
	w := NewWriter(&out, "test")
	if w.Carry(blockCustom, true, make([]byte, 8)) {
		t.Error("custom blocks of a big-endian section cannot be carried")
	}
	for _, c := range []struct {
		kind      uint32
		big, want string
	}{
		{blockSecrets, "\x00\x00\x00\x01\x00\x00\x00\x05abcde\x00\x00\x00\x00\x01\x00\x02hi\x00\x00", "\x01\x00\x00\x00\x05\x00\x00\x00abcde\x00\x00\x00\x01\x00\x02\x00hi\x00\x00"},
		{blockNames, "\x00\x01\x00\x06\xc0\x00\x02\x01a\x00\x00\x00\x00\x00\x00\x00", "\x01\x00\x06\x00\xc0\x00\x02\x01a\x00\x00\x00\x00\x00\x00\x00"},
	} {
		out.Reset()
		w := NewWriter(&out, "test")
		if !w.Carry(c.kind, true, []byte(c.big)) || w.Flush() != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%#x: carried as %q, want %q", c.kind, out.String(), c.want)
		}
	}
}

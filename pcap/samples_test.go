package pcap

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
	"nettrace/source"
	"nettrace/unit"
)

var update = flag.Bool("update", false, "write testdata/tshark.tsv anew; needs tshark and the shared data")

const fixtures = "../fixtures/pcap"

// decoded is a packet of its own with its header.
type decoded struct {
	Packet
	Header
}

// capture is everything that reading a file gives.
type capture struct {
	packets []decoded
	info    *Info
	index   *Index
	ledger  []source.Entry
}

func (c *capture) entry(name string) (source.Entry, bool) {
	for _, e := range c.ledger {
		if e.Name == name {
			return e, true
		}
	}
	return source.Entry{}, false
}

func (c *capture) warnings() []string {
	var names []string
	for _, e := range c.ledger {
		if e.Severity == source.Warning {
			names = append(names, e.Name)
		}
	}
	return names
}

// readFile reads a capture through its compression.
func readFile(t testing.TB, path string) capture {
	t.Helper()
	for src, err := range source.Walk([]string{path}, nil, &source.Ledger{}) {
		if err != nil {
			t.Fatal(err)
		}
		return readInput(t, src.Input)
	}
	t.Fatalf("%s: nothing there", path)
	return capture{}
}

func readBytes(t testing.TB, data []byte) capture {
	t.Helper()
	return readInput(t, source.NewInput("test", strings.NewReader(string(data))))
}

func readInput(t testing.TB, in *source.Input) (c capture) {
	t.Helper()
	var ledger source.Ledger
	r, err := NewReader(in, &ledger)
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		d := decoded{Packet: p.Copy()}
		d.Header.Decode(p)
		c.packets = append(c.packets, d)
	}
	c.info, c.index, c.ledger = r.Info(), r.Index(), ledger.Entries()
	return c
}

func readAll(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// figures are sums over a file that an independent tool can give, too.
type figures struct {
	Frames, Bytes, TCP, UDP, Payload int64
	Seqs, Acks, Windows              int64
	First, Last                      unit.Nanos
}

func (f *figures) time(t unit.Nanos) {
	if f.First == 0 || t < f.First {
		f.First = t
	}
	f.Last = max(f.Last, t)
}

func (c *capture) figures() figures {
	var f figures
	for _, d := range c.packets {
		f.Frames++
		f.Bytes += int64(d.WireLen)
		if d.HasTime {
			f.time(d.Time)
		}
		switch d.Transport {
		case UDP:
			f.UDP++
		case TCP:
			f.TCP++
			f.Payload += int64(d.Payload)
			f.Seqs += int64(d.Seq)
			f.Acks += int64(d.Ack)
			f.Windows += int64(d.Window)
		}
	}
	return f
}

// ours is where the figures differ from tshark's, and why.
func ours(name string, f figures) figures {
	switch name {
	case "custom-block.pcapng": // tshark counts the custom block as a frame of 12 bytes; it is no packet
		f.Frames, f.Bytes = f.Frames-1, f.Bytes-12
	case "fcs-linktype.pcap": // tshark's lengths include the frame check sequence
		f.Bytes -= 4 * f.Frames
	case "zeek-fragmented-3.pcap": // tshark waits for the rest of a datagram whose first fragment has the TCP header
		f.TCP, f.Payload, f.Seqs, f.Acks, f.Windows = 1, 1460, 2223892736, 563156947, 32120
	}
	return f
}

// TestFigures holds the sums over each sample against those of tshark 4.0.17.
func TestFigures(t *testing.T) {
	if *update {
		writeFigures(t)
	}
	known := readFigures(t)
	folders := []string{fixtures}
	for _, folder := range []string{"data/pcap", "data/public-pcap"} {
		t.Run(folder, func(t *testing.T) { folders = append(folders, shared.Path(t, folder)) })
	}
	for _, folder := range folders {
		for _, path := range captures(t, folder) {
			name := filepath.Base(path)
			t.Run(filepath.Base(folder)+"/"+name, func(t *testing.T) {
				theirs, ok := known[strings.TrimSuffix(name, ".xz")] // which tshark cannot read
				if !ok {
					t.Fatal("no figures in testdata/tshark.tsv; run the test with -update where tshark is installed")
				}
				c := readFile(t, path)
				if diff := cmp.Diff(ours(name, theirs), c.figures()); diff != "" {
					t.Errorf("tshark (-) and we (+) differ:\n%s", diff)
				}
			})
		}
	}
}

func captures(t testing.TB, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no captures (%v)", folder, err)
	}
	var found []string
	for _, path := range paths {
		if strings.Contains(path, "cap") && !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".truth") {
			found = append(found, path)
		}
	}
	return found
}

func readFigures(t testing.TB) map[string]figures {
	t.Helper()
	known := map[string]figures{}
	for line := range strings.Lines(string(readAll(t, "testdata/tshark.tsv"))) {
		var name string
		var f figures
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscan(line, &name, &f.Frames, &f.Bytes, &f.TCP, &f.UDP, &f.Payload, &f.Seqs, &f.Acks, &f.Windows, &f.First, &f.Last); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		known[name] = f
	}
	return known
}

func writeFigures(t testing.TB) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# tshark 4.0.17, sums over each file; written by go test -run TestFigures -update\n")
	b.WriteString("# file frames bytes tcp udp tcp.len tcp.seq_raw tcp.ack_raw tcp.window_size_value first_ns last_ns\n")
	written := map[string]bool{} // fixtures are copies of some, under the same names
	for _, folder := range []string{shared.Path(t, "data/pcap"), shared.Path(t, "data/public-pcap"), fixtures} {
		for _, path := range captures(t, folder) {
			if written[filepath.Base(path)] || strings.HasSuffix(path, ".xz") {
				continue
			}
			written[filepath.Base(path)] = true
			f := tsharkFigures(t, path)
			fmt.Fprintln(&b, filepath.Base(path), f.Frames, f.Bytes, f.TCP, f.UDP, f.Payload, f.Seqs, f.Acks, f.Windows, int64(f.First), int64(f.Last))
		}
	}
	if err := os.WriteFile("testdata/tshark.tsv", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tsharkFigures asks tshark for each frame, the innermost layer's fields where there are several.
func tsharkFigures(t testing.TB, path string) (f figures) {
	t.Helper()
	args := []string{"-n", "-r", path, "-T", "fields", "-E", "occurrence=l", "-E", "separator=,"}
	for _, field := range strings.Fields("frame.len frame.time_epoch frame.protocols tcp.len tcp.seq_raw tcp.ack_raw tcp.window_size_value") {
		args = append(args, "-e", field)
	}
	out, err := exec.Command("tshark", args...).Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		v := strings.Split(lines.Text(), ",")
		f.Frames++
		f.Bytes += number(t, v[0])
		if seconds, fraction, ok := strings.Cut(v[1], "."); ok { // one file has times of the year 586524, which we leave out, too
			if s := number(t, seconds); s < math.MaxInt64/int64(unit.Second) {
				f.time(unit.Nanos(s*1e9 + number(t, fraction)))
			}
		}
		inICMP := strings.Contains(v[2], ":icmp")
		switch {
		case inICMP:
		case v[3] != "":
			f.TCP++
			f.Payload += number(t, v[3])
			f.Seqs += number(t, v[4])
			f.Acks += number(t, v[5])
			f.Windows += number(t, v[6])
		case strings.Contains(v[2], ":udp"):
			f.UDP++
		}
	}
	return f
}

func number(t testing.TB, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return n
}

package tcp

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/pcap"
	"nettrace/source"
)

// marksTable has a line "FILE<tab>MARK<tab>RECORDS" for each mark of each sample, and one with the mark "-" for a sample
// that has none. tshark 4.0.17 made it.
const marksTable = "testdata/wireshark-marks.tsv"

var update = flag.Bool("update", false, "write "+marksTable+" anew; needs tshark and the shared data")

// marks are the records of a capture by mark.
type marks map[string][]int

func TestWiresharkMarks(t *testing.T) {
	if *update {
		writeMarks(t)
	}
	table := readMarks(t)
	if len(table) < 90 {
		t.Fatalf("only %d samples in the table", len(table))
	}
	for _, sample := range slices.Sorted(maps.Keys(table)) {
		t.Run(sample, func(t *testing.T) {
			got, want := wiresharkMarks(t, samplePath(t, sample)), table[sample]
			for _, name := range wiresharkNames {
				if !slices.Equal(got[name], want[name]) {
					t.Errorf("%s on %s; tshark: %s", name, ranges(got[name]), ranges(want[name]))
				}
			}
		})
	}
}

// samplePath returns where a sample "pcap/NAME" or "public-pcap/NAME" is, in the tree if it is there.
func samplePath(t testing.TB, sample string) string {
	own := filepath.Join(fixtures, filepath.Base(sample))
	if _, err := os.Stat(own); err == nil && strings.HasPrefix(sample, "pcap/") {
		return own
	}
	return shared.Path(t, filepath.Join("data", sample))
}

// wiresharkMarks returns our marks on the packets of a capture.
func wiresharkMarks(t testing.TB, path string) marks {
	t.Helper()
	var ledger source.Ledger
	found := marks{}
	for src, err := range source.Walk([]string{path}, nil, &ledger) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := pcap.NewReader(src.Input, &ledger)
		if err != nil {
			t.Fatal(err)
		}
		marker := NewWiresharkMarker(filepath.Base(path), WiresharkOptions{}, &ledger)
		var h pcap.Header
		for {
			p, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			h.Decode(p)
			for _, name := range marker.Mark(p, &h).Names() {
				found[name] = append(found[name], int(p.Record))
			}
		}
	}
	return found
}

// tsharkMarks returns tshark's marks.
func tsharkMarks(t testing.TB, path string) marks {
	t.Helper()
	program, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	args := []string{"-n", "-r", path, "-Y", "tcp.analysis.flags || tcp.analysis.reused_ports", "-T", "fields", "-e", "frame.number"}
	for _, name := range wiresharkNames {
		args = append(args, "-e", "tcp.analysis."+name)
	}
	out, _ := exec.Command(program, args...).Output() // it fails behind the packets of a capture that is cut
	found := marks{}
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		record, err := strconv.Atoi(cells[0])
		if err != nil {
			t.Fatalf("tshark says %q", line)
		}
		for i, name := range wiresharkNames {
			if cells[i+1] != "" {
				found[name] = append(found[name], record)
			}
		}
	}
	return found
}

func readMarks(t *testing.T) map[string]marks {
	f, err := os.Open(marksTable)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := map[string]marks{}
	lines := bufio.NewScanner(f)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 3 {
			t.Fatalf("%q", lines.Text())
		}
		if table[cells[0]] == nil {
			table[cells[0]] = marks{}
		}
		for _, part := range strings.Fields(cells[2]) {
			first, last, isRange := strings.Cut(part, "-")
			if !isRange {
				last = first
			}
			from, err := strconv.Atoi(first)
			to, err2 := strconv.Atoi(last)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			for n := from; n <= to; n++ {
				table[cells[0]][cells[1]] = append(table[cells[0]][cells[1]], n)
			}
		}
	}
	return table
}

func writeMarks(t *testing.T) {
	var b strings.Builder
	for _, folder := range []string{"pcap", "public-pcap"} {
		paths, err := filepath.Glob(filepath.Join(shared.Path(t, "data/"+folder), "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			name := filepath.Base(path)
			if !strings.Contains(name, ".pcap") && !strings.HasSuffix(name, ".snoop") || strings.HasSuffix(name, ".xz") || strings.Contains(name, "reserved-field") {
				continue // no capture, or one that tshark does not read
			}
			found := tsharkMarks(t, path)
			if len(found) == 0 {
				fmt.Fprintf(&b, "%s/%s\t-\t\n", folder, name)
			}
			for _, mark := range slices.Sorted(maps.Keys(found)) {
				fmt.Fprintf(&b, "%s/%s\t%s\t%s\n", folder, name, mark, ranges(found[mark]))
			}
		}
	}
	if err := os.WriteFile(marksTable, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ranges prints ascending numbers as "1 3-5".
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := strconv.Itoa(numbers[i])
		if last > i {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, " ")
}

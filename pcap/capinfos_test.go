package pcap

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
)

// TestCapinfos compares what a capture tells of itself with what capinfos reads of it.
func TestCapinfos(t *testing.T) {
	program, err := exec.LookPath("capinfos")
	if err != nil {
		t.Skip("capinfos is not installed")
	}
	var paths []string
	for _, folder := range []string{"data/pcap", "data/public-pcap"} {
		of, err := filepath.Glob(filepath.Join(shared.Path(t, folder), "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, of...)
	}
	compared := 0
	for _, path := range paths {
		switch name := filepath.Base(path); {
		case filepath.Ext(path) == ".xz", filepath.Ext(path) == ".md", filepath.Ext(path) == ".truth": // capinfos reads no xz
			continue
		case strings.HasPrefix(name, "truncated-"): // capinfos stops at the damage without figures
			continue
		case name == "libpcap-linktype-reserved-field-not-zero.pcap": // capinfos refuses it
			continue
		case strings.HasPrefix(name, "simple-packets"): // capinfos gives packets without a time that of the epoch
			continue
		}
		out, err := exec.Command(program, "-MS", path).Output()
		if err != nil {
			t.Errorf("capinfos %s: %v", path, err)
			continue
		}
		compared++
		theirs, interfaces := capinfos(string(out))
		if strings.HasPrefix(filepath.Base(path), "pcpp-pcapng-example") { // times of the year 584556, which capinfos lets overflow
			theirs["Strict time order"] = "Unknown"
		}
		info := readFile(t, path).info
		if diff := compare(info, theirs); diff != "" {
			t.Errorf("%s: %s", filepath.Base(path), diff)
		}
		if len(interfaces) != len(info.Interfaces) {
			t.Errorf("%s: %d interfaces, capinfos has %d", filepath.Base(path), len(info.Interfaces), len(interfaces))
			continue
		}
		for n, of := range interfaces {
			if diff := compareInterface(&info.Interfaces[n], of); diff != "" {
				t.Errorf("%s, interface %d: %s", filepath.Base(path), n, diff)
			}
		}
	}
	if compared < 80 {
		t.Errorf("only %d captures were compared", compared)
	}
}

// capinfos parts what it prints into the figures of the file and those of each interface.
func capinfos(out string) (file map[string]string, interfaces []map[string]string) {
	file = map[string]string{}
	for line := range strings.Lines(out) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok {
			file[name] = strings.TrimSpace(value)
			continue
		}
		if strings.HasPrefix(line, "Interface #") {
			interfaces = append(interfaces, map[string]string{})
		} else if name, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && len(interfaces) > 0 {
			interfaces[len(interfaces)-1][name] = value
		}
	}
	return file, interfaces
}

// rounding is by how much capinfos' rates are off, which come from times since the epoch as floating-point numbers.
const rounding = 2e-4

func compare(i *Info, theirs map[string]string) string {
	var b bytes.Buffer
	text := func(name, ours string) {
		if got := theirs[name]; got != ours {
			fmt.Fprintf(&b, "%s: %q, capinfos has %q; ", name, ours, got)
		}
	}
	number := func(name string, ours, within float64) {
		got, _, _ := strings.Cut(theirs[name], " ")
		if v, err := strconv.ParseFloat(got, 64); err != nil || math.Abs(v-ours) > within {
			fmt.Fprintf(&b, "%s: %v, capinfos has %q; ", name, ours, theirs[name])
		}
	}
	number("Number of packets", float64(i.Packets), 0)
	size := float64(i.Bytes)
	if len(i.Interfaces) > 0 {
		size += float64(int64(i.Interfaces[0].FCSBytes) * i.Packets) // which are no part of our packets
	}
	number("Data size", size, 0)
	if i.Packets > 0 {
		number("Average packet size", size/float64(i.Packets), 0.006)
	}
	if life := (i.Last - i.First).Seconds(); theirs["First packet time"] != "" && theirs["Strict time order"] != "Unknown" {
		number("Capture duration", life, 1e-6)
		number("First packet time", i.First.Seconds(), 1e-6)
		number("Last packet time", i.Last.Seconds(), 1e-6)
		if life > 0 {
			number("Data bit rate", size*8/life, rounding*size*8/life+0.006)
			number("Average packet rate", float64(i.Packets)/life, rounding*float64(i.Packets)/life+0.006)
		}
		text("Strict time order", map[bool]string{true: "True", false: "False"}[i.Backwards == 0])
	}
	for name, ours := range map[string][]string{"Capture hardware": i.Hardware, "Capture oper-sys": i.System, "Capture application": i.Writer, "Capture comment": i.Remarks} {
		if got := theirs[name]; got != "" && !slices.ContainsFunc(ours, func(s string) bool { return strings.TrimSpace(s) == got }) || got == "" && len(ours) > 0 && i.Sections == 1 {
			fmt.Fprintf(&b, "%s: %q, capinfos has %q; ", name, ours, got)
		}
	}
	secrets := ""
	if i.Secrets > 0 {
		secrets = fmt.Sprint(i.Secrets)
	}
	text("Number of decryption secrets in file", secrets)
	return b.String()
}

func compareInterface(i *Interface, theirs map[string]string) string {
	var b bytes.Buffer
	text := func(name, ours string) {
		if got := theirs[name]; got != ours {
			fmt.Fprintf(&b, "%s: %q, capinfos has %q; ", name, ours, got)
		}
	}
	text("Name", i.Name)
	text("Description", i.Description)
	text("Filter string", i.Filter)
	text("Operating system", i.System)
	text("Hardware", i.Hardware)
	text("Number of packets", fmt.Sprint(i.Packets))
	text("Number of stat entries", fmt.Sprint(i.Statistics))
	if i.SnapLen > 0 && i.SnapLen < 1<<18 {
		text("Capture length", fmt.Sprint(i.SnapLen))
	}
	if word, _, _ := strings.Cut(theirs["Time precision"], " "); word != i.Precision() && i.Resolution&0x80 == 0 {
		fmt.Fprintf(&b, "time precision: %q, capinfos has %q; ", i.Precision(), theirs["Time precision"])
	}
	return b.String()
}

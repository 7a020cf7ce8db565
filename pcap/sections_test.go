package pcap

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"nettrace/source"
)

// Sections that follow one another tell the same interfaces again; those of one section are never one.
func TestInterfacesOfSectionsAreOne(t *testing.T) {
	for _, c := range []struct {
		files []string
		taps  []int // by interface
	}{
		{[]string{"base.pcap", "base.pcap", "base.pcap"}, []int{0, 0, 0}},
		{[]string{"base.pcap", "raw-ip.pcap", "nanosecond.pcap"}, []int{0, 1, 0}}, // another link type; another resolution only
		{[]string{"two-interfaces.pcapng", "two-interfaces.pcapng"}, []int{0, 1, 0, 1}},
		{[]string{"two-interfaces.pcapng", "big-endian.pcapng"}, []int{0, 1, 2}}, // without a name
	} {
		var file []byte
		for _, name := range c.files {
			part, err := os.ReadFile("../fixtures/pcap/" + name)
			if err != nil {
				t.Fatal(err)
			}
			file = append(file, part...)
		}
		r, err := NewReader(source.NewInput("joined", bytes.NewReader(file)), new(source.Ledger))
		if err != nil {
			t.Fatal(err)
		}
		for {
			p, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.Tap != c.taps[p.Interface] {
				t.Fatalf("%v: packet %d of interface %d is of tap %d", c.files, p.Record, p.Interface, p.Tap)
			}
		}
		var taps []int
		for _, i := range r.Info().Interfaces {
			taps = append(taps, i.Tap)
		}
		if !slices.Equal(taps, c.taps) {
			t.Errorf("%v: taps %v, want %v", c.files, taps, c.taps)
		}
	}
}

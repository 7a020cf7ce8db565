package datapath

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
)

// FuzzPlay replays whatever a capture holds: no panic, and it ends.
func FuzzPlay(f *testing.F) {
	for _, name := range []string{"nagle-wwr-stall", "delack-server", "rr-4345-sender", "loopback", "zerowindow-sender", "mid-stream", "keepalive-ecn", "refused-reset"} {
		data, err := os.ReadFile(filepath.Join("..", "fixtures", "pcap", name+".pcap"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "")
		f.Add(data, "nodelay=on,gro=off,gso-max-segs=2")
	}
	f.Fuzz(func(t *testing.T, data []byte, changes string) {
		var ledger source.Ledger
		in, err := pcap.NewReader(source.NewInput("x", bytes.NewReader(data)), &ledger)
		if err != nil {
			return
		}
		r, tracker := NewRecorder(), tcp.NewTracker("x", tcp.Options{}, &ledger)
		var h pcap.Header
		for {
			p, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return
			}
			h.Decode(p)
			r.Add(p, &h, tracker.Add(p, &h))
		}
		for _, c := range r.Recordings(tracker.Finish()) {
			p, err := c.Play(nil, changes)
			if err != nil {
				continue
			}
			for _, k := range p.baseline {
				if k.end < k.seq {
					t.Fatalf("a packet from %d to %d", k.seq, k.end)
				}
			}
		}
	})
}

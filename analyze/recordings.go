package analyze

import (
	"context"
	"fmt"

	"nettrace/datapath"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
)

// Recordings reads the connections of the capture behind path that carried data, for replay.
func Recordings(ctx context.Context, path string, o Options) ([]*datapath.Recording, *source.Ledger, error) {
	var ledger source.Ledger
	var list []*datapath.Recording
	for src, err := range source.Walk([]string{path}, o.Stdin, &ledger) {
		if err != nil {
			return nil, &ledger, err
		}
		if f := recognise(Formats(), src.Input.Peek(headBytes), true); f == nil || f.Kind != Capture {
			return nil, &ledger, fmt.Errorf("%s: no capture: expected pcap, pcapng or snoop; nettrace inspect tells what it is", src.Path)
		}
		r := datapath.NewRecorder()
		capture, _, err := track(ctx, src, &ledger, o, func(p *pcap.Packet, h *pcap.Header, m tcp.Mark) error {
			r.Add(p, h, m)
			return nil
		})
		if err != nil {
			return nil, &ledger, err
		}
		list = append(list, r.Recordings(capture)...)
		if n := r.NotKept(); n > 0 {
			ledger.Add("packet-not-replayed", source.Note, source.Pos{Source: src.Path}, n, "more connections or packets than replay keeps")
		}
	}
	return list, &ledger, nil
}

package analyze

import (
	"context"

	"nettrace/datapath"
	"nettrace/pcap"
	"nettrace/source"
	"nettrace/tcp"
)

// Recordings reads the connections of the capture behind path that carried data, for replay.
func Recordings(ctx context.Context, path string, o Options) ([]*datapath.Recording, *source.Ledger, error) {
	var ledger source.Ledger
	var list []*datapath.Recording
	err := eachCapture(path, o.Stdin, &ledger, func(src *source.Source) error {
		r := datapath.NewRecorder()
		capture, _, err := track(ctx, src, &ledger, o, func(p *pcap.Packet, h *pcap.Header, m tcp.Mark) error {
			r.Add(p, h, m)
			return nil
		})
		if err != nil {
			return err
		}
		list = append(list, r.Recordings(capture)...)
		if n := r.NotKept(); n > 0 {
			ledger.Add("packet-not-replayed", source.Note, source.Pos{Source: src.Path}, n, "more connections or packets than replay keeps")
		}
		return nil
	})
	if err != nil {
		return nil, &ledger, err
	}
	return list, &ledger, nil
}

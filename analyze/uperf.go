package analyze

import (
	"strings"

	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/source"
)

// readUperf reads results of uperf, which also tells what the interfaces did meanwhile: that goes to the counters.
func readUperf(r *reader, out *Source, l *source.Lines) error {
	runs, err := bench.ReadUperf(l, &r.ledger)
	out.Records = int64(len(runs))
	r.fresh.Models.Runs = append(r.fresh.Models.Runs, runs...)
	if o := netstatOf(runs); o != nil {
		o.Name, o.ModTime = r.src.Name, r.src.ModTime
		r.outputs = append(r.outputs, *o)
	}
	return err
}

// uperfFigures are the columns of uperf's table of interfaces, by the ends of the details' names.
func uperfFigures() []struct{ detail, name, unit string } {
	return []struct{ detail, name, unit string }{
		{"_output_packets_per_second", "opkts/s", "/s"}, {"_input_packets_per_second", "ipkts/s", "/s"},
		{"_output_bits_per_second", "obits/s", "bit/s"}, {"_input_bits_per_second", "ibits/s", "bit/s"},
	}
}

// netstatOf returns what uperf counted of the interfaces, nil if it printed none. All runs of an output have it; it is
// taken once.
func netstatOf(runs []bench.Run) *coalesce.Output {
	var o *coalesce.Output
	for i := range runs {
		if i > 0 && runs[i].Group == runs[i-1].Group {
			continue
		}
		for _, d := range runs[i].Details {
			nic, found := strings.CutPrefix(d.Name, "nic_")
			for _, f := range uperfFigures() {
				if name, ok := strings.CutSuffix(nic, f.detail); found && ok {
					if o == nil {
						o = &coalesce.Output{Tool: "uperf", Pos: runs[i].Pos}
					}
					o.Reported = append(o.Reported, coalesce.Reported{Tool: "uperf", Subject: name, Name: f.name, Unit: f.unit, Reports: 1, Mean: d.Value, Least: d.Value, Most: d.Value,
						Course: []float64{d.Value}, Each: 1, Pos: runs[i].Pos})
				}
			}
		}
	}
	return o
}

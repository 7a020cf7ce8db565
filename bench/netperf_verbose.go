package bench

import (
	"bytes"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// What -v 2, -I and a build with histograms add:
//
//	!!! Confidence intervals: Throughput      : 65.846%
//	!!!                       Local CPU util  : 0.000%
//	Alignment      Offset         RoundTrip  Trans    Throughput
//	    8      0       0      0   11.381   87864.798 0.703     0.703
//	TEN_USEC      :    0: 5539:  269:  231:  144:   69:   56:  159:   46:   22

// alignments takes the numbers of the table of alignments: four, nine for streams, or eight for request/response.
func (r *netperf) alignments(words []word) (int, verdict) {
	names := [...]string{"local_send_alignment", "remote_recv_alignment", "local_send_offset", "remote_recv_offset",
		"bytes_transferred", "bytes_per_send", "sends", "bytes_per_recv", "recvs"}
	switch run := &r.runs[len(r.runs)-1]; layoutOf(run.Test) {
	case layoutRR:
		copy(names[4:], []string{"round_trip_us", "transactions_per_s", "throughput_outbound", "throughput_inbound"})
	case layoutStream:
		if strings.HasSuffix(run.Test, "_MAERTS") {
			copy(names[5:], []string{"bytes_per_recv", "recvs", "bytes_per_send", "sends"})
		}
	}
	var buf [10]byte
	s := shape(words, buf[:])
	n, v := alignmentFit(s, len(s) == len(words) && !r.final)
	if v != taken {
		r.aligned = v == more
		return 0, v
	}
	run := &r.runs[len(r.runs)-1]
	for i, w := range words[:n] {
		run.Details = append(run.Details, Detail{Name: names[i], Value: number(w.text)})
	}
	r.aligned, r.headOpen = false, false
	return n, taken
}

func alignmentFit(s string, open bool) (int, verdict) {
	wide := func(i int, kinds string) bool { return len(s) > i && strings.IndexByte(kinds, s[i]) >= 0 }
	switch {
	case len(s) < 4 && open:
		return 0, more
	case len(s) < 4 || s[:4] != "iiii":
		return 0, foreign
	case len(s) >= 8 && s[4:8] == "ffff":
		return 8, taken
	case len(s) >= 9 && wide(4, "if") && s[5:9] == "fifi":
		return 9, taken
	case len(s) < 9 && open:
		return 0, more
	}
	return 4, taken
}

// mss takes "Maximum Segment Size (bytes) 1448".
func (r *netperf) mss(words []word) (int, verdict) {
	want := [...]string{"Maximum", "Segment", "Size", "(bytes)", "#"}
	for i, w := range want {
		if i == len(words) {
			return 0, unfinished(true, !r.final)
		}
		if string(words[i].text) != w && (w != "#" || kindOf(words[i].text) != integer) {
			return 0, foreign
		}
	}
	run := &r.runs[len(r.runs)-1]
	run.Details = append(run.Details, Detail{Name: "mss_bytes", Value: number(words[4].text)})
	return len(want), taken
}

// warning is netperf's word that the confidence asked for was not reached; it stands before the result row.
type warning struct {
	words    int
	percents []float64
}

// maxWarningWords bounds the text of a warning, which has 40 words.
const maxWarningWords = 64

// warn takes the words of a warning up to its third percentage.
func (r *netperf) warn(text []byte) bool {
	w := &r.warning
	w.words++
	if w.words > maxWarningWords || len(w.percents) == 3 {
		return false
	}
	if value, ok := bytes.CutSuffix(text, []byte("%")); ok && kindOf(value) != notNumber {
		w.percents = append(w.percents, number(value))
		if len(w.percents) == 3 {
			r.inside = inText
		}
	}
	return true
}

func (w warning) missed() *Missed {
	if len(w.percents) < 3 {
		return nil
	}
	return &Missed{ThroughputPercent: w.percents[0], LocalCPUPercent: w.percents[1], RemoteCPUPercent: w.percents[2]}
}

// table is a histogram that is being read.
type table struct {
	pos   source.Pos
	of    []string
	label string // of the row being read, "" before the first
	index int
	sum   int64
	bins  []Bin
}

// maxTitle bounds the words of a histogram's title.
const maxTitle = 12

// histogram takes the words of a histogram: title, rows of ten counts that begin with a label, two totals.
func (r *netperf) histogram(text []byte) bool {
	t := &r.table
	label := strings.TrimSuffix(printable(text[:min(len(text), 32)]), ":")
	_, isLabel := histogramUnit(label)
	switch {
	case isLabel, label == ">100_SECS", label == "HIST_TOTAL":
		t.label, t.index = label, 0
	case label == "":
	case t.label == "" && len(t.of) < maxTitle:
		t.of = append(t.of, label)
	case kindOf([]byte(label)) != integer:
		return false
	case t.label == "HIST_TOTAL":
		r.endHistogram(count([]byte(label)))
	default:
		width, _ := histogramUnit(t.label)
		t.count(width, count([]byte(label)))
	}
	return true
}

// histogramUnit returns the width of the bins of a row (hist.h): "TEN_USEC" holds ten bins of 10 us.
func histogramUnit(label string) (unit.Nanos, bool) {
	switch label {
	case "UNIT_USEC":
		return unit.Microsecond, true
	case "TEN_USEC":
		return 10 * unit.Microsecond, true
	case "HUNDRED_USEC", "TENTH_MSEC":
		return 100 * unit.Microsecond, true
	case "UNIT_MSEC":
		return unit.Millisecond, true
	case "TEN_MSEC":
		return 10 * unit.Millisecond, true
	case "HUNDRED_MSEC", "TENTH_SEC":
		return 100 * unit.Millisecond, true
	case "UNIT_SEC":
		return unit.Second, true
	case "TEN_SEC":
		return 10 * unit.Second, true
	}
	return 0, false
}

// count enters the next count of the current row.
func (t *table) count(width unit.Nanos, n int64) {
	bin := Bin{From: width * unit.Nanos(t.index), Width: width, Count: n}
	if t.label == ">100_SECS" {
		bin = Bin{From: 100 * unit.Second, Count: n}
	}
	t.index++
	t.sum += n
	if n > 0 && len(t.bins) < maxBins {
		t.bins = append(t.bins, bin)
	}
}

// maxBins is eight decades of ten bins, and the one above.
const maxBins = 81

func (r *netperf) endHistogram(total int64) {
	t := &r.table
	if total != t.sum {
		r.ledger.Add("histogram-total", source.Warning, t.pos, 1, "the counts of the histogram do not add up to its HIST_TOTAL; they are kept as they are")
	}
	of := strings.TrimPrefix(strings.TrimPrefix(strings.Join(t.of, " "), "Histogram "), "of ")
	r.runs[len(r.runs)-1].Histogram = &Histogram{Of: strings.TrimSuffix(of, "."), Bins: t.bins}
	r.inside = inText
}

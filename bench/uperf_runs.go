package bench

import (
	"math"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// tableLine takes a line of one of the tables.
func (r *uperf) tableLine(text string, pos source.Pos) bool {
	words := strings.Fields(text)
	switch r.table {
	case netstatTable:
		return words[0] == "Nic" || r.nic(words)
	case hostsTable:
		return words[0] == "Hostname" || r.wrapped(words) || r.host(words, pos)
	case otherTable:
		return len(words) >= 6
	}
	return false
}

// maxDetails bounds what tables of many interfaces and hosts add.
const maxDetails = 256

func (r *uperf) detail(name string, value float64) {
	if len(r.details) < maxDetails {
		r.details = append(r.details, Detail{name, value})
	}
}

// nic takes "lcv0        34398       34397    42.93Mb/s    42.93Mb/s".
func (r *uperf) nic(words []string) bool {
	if len(words) != 5 || kindOf([]byte(words[1])) == notNumber || kindOf([]byte(words[2])) == notNumber {
		return false
	}
	out, okOut := uperfBits(words[3])
	in, okIn := uperfBits(words[4])
	if !okOut || !okIn {
		return false
	}
	name := "nic_" + printable([]byte(words[0]))
	r.detail(name+"_output_packets_per_second", number([]byte(words[1])))
	r.detail(name+"_input_packets_per_second", number([]byte(words[2])))
	r.detail(name+"_output_bits_per_second", out)
	r.detail(name+"_input_bits_per_second", in)
	return true
}

// wrapped reports whether a line is the last column of the hosts' table, which mails wrap: "Errors", "0.00", "0.00%".
func (r *uperf) wrapped(words []string) bool {
	return len(words) == 1 && (words[0] == "Errors" || kindOf([]byte(strings.TrimSuffix(words[0], "%"))) == decimal)
}

// host takes "master             5.31s    31.33MB    49.53Mb/s       364969        0.00".
func (r *uperf) host(words []string, pos source.Pos) bool {
	if len(words) == 5 { // the column of errors is wrapped
		words = append(words, "0.00")
	}
	if len(words) != 6 || !strings.HasSuffix(words[1], "s") || kindOf([]byte(words[4])) == notNumber || kindOf([]byte(words[5])) == notNumber {
		return false
	}
	r.detail("host_"+printable([]byte(words[0]))+"_operations", number([]byte(words[4])))
	if errors := number([]byte(words[5])); errors > 0 {
		r.ledger.Add("uperf-errors", source.Warning, pos, 1, "host "+printable([]byte(words[0]))+" counts errors: "+words[5])
	}
	return true
}

// maxDifference is by how many percent the hosts' accounts may differ: they begin and end at different moments.
const maxDifference = 1.0

// difference takes "Difference(%)      0.01%      0.00%       -0.01%        0.00%       0.00%".
func (r *uperf) difference(text string, pos source.Pos) {
	names := [...]string{"time", "data", "throughput", "operations"}
	for i, word := range strings.Fields(text)[1:] {
		v, isPercent := strings.CutSuffix(word, "%")
		if i < len(names) && isPercent && math.Abs(number([]byte(v))) > maxDifference {
			r.ledger.Add("uperf-hosts-differ", source.Warning, pos, 1, "the hosts' accounts of "+names[i]+" differ by "+v+" %")
		}
	}
}

// runs makes a run of every transaction that moved data.
func (r *uperf) runs() []Run {
	var runs []Run
	for _, t := range r.txns {
		last := t.points[len(t.points)-1]
		if last.bytes <= 0 && last.bits <= 0 {
			r.ledger.Add("transaction-without-data", source.Note, last.pos, 1, t.name+" moves no data (it connects or disconnects); its rate has no meaning and is left out")
			continue
		}
		if r.raw && last.seconds <= r.rawBegin(t) {
			r.ledger.Add("result-missing", source.Warning, last.pos, 1, "one line of raw statistics, which tells no time: there is no rate")
			continue
		}
		runs = append(runs, r.run(t, last))
	}
	switch {
	case len(runs) > 0 && r.total != nil:
		runs[0].Details = append(append(runs[0].Details, r.totals()...), r.details...)
	case len(runs) > 0:
		for i := range runs {
			runs[i].Details = append(runs[i].Details, r.details...)
		}
	case len(r.txns) == 0 || r.unended:
		name := "result-missing"
		if r.unended {
			name = "cut-input"
		}
		r.ledger.Add(name, source.Warning, r.begin, 1, "an output of uperf without a transaction that moved data")
	}
	return runs
}

func (r *uperf) run(t *uperfTxn, last uperfPoint) Run {
	run := Run{Pos: t.pos, Group: r.begin.Offset, Tool: "uperf", Test: t.name, Unit: megabits,
		Settings: []Setting{{"profile", printable([]byte(r.profile))}}}
	if r.profile == "" {
		run.Settings = nil
	} else {
		run.Test = printable([]byte(r.profile)) + " " + t.name
	}
	begin := 0.0
	if r.raw {
		begin = r.rawBegin(t)
	}
	run.Seconds = last.seconds - begin
	run.Rate = last.bits / 1e6
	perSecond := last.perSecond
	if r.raw && run.Seconds > 0 {
		run.Rate = last.bytes * 8 / run.Seconds / 1e6
		perSecond = last.operations / run.Seconds
		run.Details = append(run.Details, Detail{"operations", last.operations})
	}
	run.Details = append(run.Details, Detail{"operations_per_second", perSecond})
	if last.bytes > 0 {
		run.Details = append(run.Details, Detail{"bytes", last.bytes})
	} else {
		r.ledger.Add("unit-lost", source.Note, last.pos, 1, "the unit of the data is cut off and the rate does not tell it; the amount is left out")
	}
	run.Interim = r.interim(t, begin)
	return run
}

// rawBegin is when a transaction began: at the raw line before it, else as long before its first line as that is before
// the second.
func (r *uperf) rawBegin(t *uperfTxn) float64 {
	first := t.points[0].seconds
	switch {
	case t.begin > 0 && t.begin < first:
		return t.begin
	case len(t.points) > 1:
		return first - (t.points[1].seconds - first)
	default:
		return first
	}
}

// shortPart is the least share of a course's mean interval that makes an interim result: uperf prints a line at once
// when a transaction begins.
const shortPart = 0.1

// interim makes the course of a transaction from its totals.
func (r *uperf) interim(t *uperfTxn, begin float64) []Interim {
	var s series
	before := uperfPoint{seconds: begin}
	typical := (t.points[len(t.points)-1].seconds - begin) / float64(len(t.points))
	for _, p := range t.points {
		length, moved := p.seconds-before.seconds, p.bytes-before.bytes
		if length <= 0 || length < shortPart*typical || p.bytes < 0 {
			continue
		}
		if moved < 0 || before.bytes < 0 {
			before = p
			continue
		}
		i := Interim{Rate: moved * 8 / length / 1e6, Length: unit.FromSeconds(length), Bytes: int64(moved), Operations: int64(p.operations - before.operations), Pos: p.pos}
		if r.raw {
			i.EndSeconds = int64(p.seconds)
			i.EndNanos = unit.FromSeconds(p.seconds - math.Floor(p.seconds))
		}
		if s.add(i) {
			r.ledger.Add("interim-merged", source.Note, p.pos, 1, "more than 4,096 lines of progress in one transaction; neighbours are merged, their mean is kept")
		}
		before = p
	}
	return s.points
}

func (r *uperf) totals() []Detail {
	if r.raw {
		return []Detail{{"total_bytes", r.total.bytes}, {"total_operations", r.total.operations}}
	}
	return []Detail{{"total_seconds", r.total.seconds}, {"total_megabits_per_second", r.total.bits / 1e6}, {"total_operations_per_second", r.total.perSecond}}
}

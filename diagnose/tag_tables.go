package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"nettrace/analyze"
	"nettrace/bench"
	"nettrace/finding"
	"nettrace/source"
	"nettrace/unit"
)

// Tables of packets for an interrupt and CPU time by patch set and load, as people write them into mails or sheets: where
// the patch that was added is about the status tag, fewer packets for an interrupt at every load tell of the race.

// tagTable are the figures of one quantity.
type tagTable struct {
	loads    []string // rows, in the order of reading
	variants []string // columns
	cells    map[[2]string]tagCell
}

type tagCell struct {
	value float64
	pos   source.Pos
}

func (t *tagTable) add(load, variant string, value float64, pos source.Pos) {
	variant = strings.ReplaceAll(variant, " ", "")
	if t.cells == nil {
		t.cells = map[[2]string]tagCell{}
	}
	if !slices.Contains(t.loads, load) {
		t.loads = append(t.loads, load)
	}
	if !slices.Contains(t.variants, variant) {
		t.variants = append(t.variants, variant)
	}
	if _, known := t.cells[[2]string{load, variant}]; !known {
		t.cells[[2]string{load, variant}] = tagCell{value, pos}
	}
}

// tagTables reads packets for an interrupt and CPU time out of tables in mails, and of wide tables of values.
func tagTables(r *analyze.Result) (packets, cpu tagTable) {
	of := func(title string) *tagTable {
		title = strings.ToLower(title)
		switch {
		case strings.Contains(title, "packets/int"), strings.Contains(title, "packets per int"):
			return &packets
		case strings.Contains(title, "cpu"):
			return &cpu
		}
		return &tagTable{}
	}
	for _, h := range r.Models.Hosts {
		for _, x := range h.Reported {
			title, variant, found := strings.Cut(x.Name, ": ")
			if x.Tool == "mail-table" && found {
				of(title).add(x.Subject[strings.LastIndexByte(x.Subject, ' ')+1:], variant, x.Mean, x.Pos)
			}
		}
	}
	for i := range r.Models.Runs {
		run := &r.Models.Runs[i]
		variant, named := run.Setting("variant")
		if run.Tool != "csv" || !named || len(run.Settings) != 2 {
			continue
		}
		k := slices.IndexFunc(run.Settings, func(s bench.Setting) bool { return s.Name != "variant" })
		of(run.Test).add(run.Settings[k].Value, variant, run.Rate, run.Pos)
	}
	return packets, cpu
}

// Thresholds of tables: figures in mails are often read off graphs.
const (
	tagLoads = 3    // at which the patch set is measured with and without
	tagLoss  = 0.05 // of the packets for an interrupt, at each of them
)

// tagRaceInTables compares patch sets that differ by a patch about the tag.
func tagRaceInTables(r *analyze.Result) (found []diagnosis) {
	packets, cpu := tagTables(r)
	for _, with := range packets.variants {
		cut := strings.LastIndexByte(with, '+')
		if cut < 0 || !strings.Contains(strings.ToLower(with[cut:]), "tag") {
			continue
		}
		without := with[:cut]
		worse := packets.compare(without, with)
		if len(worse) < tagLoads || slices.ContainsFunc(worse, func(x tagPair) bool { return x.after.value > x.before.value*(1-tagLoss) }) {
			continue
		}
		found = append(found, diagnosis{cause: tagFinding(without, with, worse, cpu.compare(without, with))})
	}
	return found
}

// tagPair is one load without and with a patch.
type tagPair struct {
	load          string
	before, after tagCell
}

func (t *tagTable) compare(without, with string) (list []tagPair) {
	for _, load := range t.loads {
		before, a := t.cells[[2]string{load, without}]
		after, b := t.cells[[2]string{load, with}]
		if a && b && before.value > 0 && after.value > 0 {
			list = append(list, tagPair{load, before, after})
		}
	}
	return list
}

// mean returns the mean change of the pairs, as a share of what was before.
func mean(list []tagPair) (change float64) {
	for _, x := range list {
		change += (x.after.value/x.before.value - 1) / float64(len(list))
	}
	return change
}

func tagFinding(without, with string, packets, cpu []tagPair) finding.Finding {
	added := strings.TrimPrefix(with, without+"+")
	loss, busier := -mean(packets), mean(cpu)
	f := finding.Finding{
		Severity: finding.Warning, Confidence: finding.Low, Effect: finding.Effect{Share: loss},
		Subject: finding.Subject{Kind: "benchmark", Key: "tag-race " + with, Name: with},
		Summary: fmt.Sprintf("%s brings %s fewer packets for an interrupt than %s at all %d loads: the driver writes back an old status tag, and the device interrupts again for work that was done already", with, unit.Percent(loss), without, len(packets)),
		Reasons: []string{fmt.Sprintf("the patch set that was added, %s, is about the status tag", added)},
		Measures: []finding.Measure{
			{Name: "packets_per_interrupt_change", Value: -loss, Unit: "ratio", Threshold: finding.Threshold(-tagLoss)}, {Name: "loads", Value: float64(len(packets)), Threshold: finding.Threshold(tagLoads)},
		},
		Advice: []finding.Advice{
			{Text: "take the tag after the work and look once more before the interrupt is enabled; then measure both sets again", Reference: "Linux drivers/net/ethernet/broadcom/tg3.c, tg3_poll"},
			{Text: "count how often the tag changes between reading and writing it back, or the empty polls: perf record -a -e napi:napi_poll -e irq:irq_handler_entry -- sleep 1", Reference: "Linux include/trace/events/napi.h"},
		},
		Caveats: []string{"a table names its columns, and does not say what else differed between them; that interrupts find no work has to be counted"},
	}
	for _, x := range packets {
		f.Evidence = append(f.Evidence, finding.At(x.after.pos, "load %s: %g packets for an interrupt, %g without %s", x.load, x.after.value, x.before.value, added))
	}
	if len(cpu) > 0 && busier > 0 {
		f.Confidence = finding.Medium
		f.Reasons = append(f.Reasons, fmt.Sprintf("CPU time rises with it, by %s on average", unit.Percent(busier)))
		f.Measures = append(f.Measures, finding.Measure{Name: "cpu_change", Value: busier, Unit: "ratio"})
		for _, x := range cpu {
			f.Evidence = append(f.Evidence, finding.At(x.after.pos, "load %s: %g CPU, %g without %s", x.load, x.after.value, x.before.value, added))
		}
	}
	return f
}

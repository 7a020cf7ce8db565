package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"nettrace/datapath"
	"nettrace/unit"
)

// ReplayJSON writes replays for scripts.
func ReplayJSON(w io.Writer, replays []*datapath.Replay) error {
	return indented(w, map[string][]*datapath.Replay{"replays": replays})
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// Replay prints what the reference datapath makes of workloads under settings, a line for each, then what it rests on.
func Replay(w io.Writer, replays []*datapath.Replay, style Style) error {
	p := &page{w: w, style: style}
	common := commonSettings(replays)
	var rows [][]string
	for _, r := range replays {
		rows = append(rows, []string{r.Workload, interval(r.Rate), micros(r.Latency.P50), micros(r.Latency.P99), hundredths(r.Client.PacketsPerInterrupt) + " " + hundredths(r.Server.PacketsPerInterrupt),
			unit.Number(r.Server.InterruptsPerSecond.Mean), unit.Percent(r.Client.HighShare.Mean) + " " + unit.Percent(r.Server.HighShare.Mean), own(r, common)})
	}
	p.table([]string{"workload", "transactions/s", "p50", "p99", "packets/interrupt c s", "server intr/s", "high c s", ""}, rows, map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true})
	p.print("\nMeans over seeds, transactions/s with the mean's 95 % interval. c client, s server; high: share of moderation samples that took the traffic for bulk.\n")
	p.labelled(0, "settings", faint, 9, strings.Join(common, " "))
	for _, r := range replays {
		for _, text := range r.Warnings {
			p.labelled(0, "warning", yellow, 9, r.Workload+" "+own(r, common)+": "+text)
		}
	}
	for _, text := range union(replays, func(r *datapath.Replay) []string { return r.Assumptions }) {
		p.labelled(0, "assumes", faint, 9, text)
	}
	return p.err
}

// commonSettings returns the settings that all replays have.
func commonSettings(replays []*datapath.Replay) []string {
	var common []string
	for i, r := range replays {
		list := strings.Split(r.Settings, ",")
		if i == 0 {
			common = list
		}
		common = slices.DeleteFunc(common, func(s string) bool { return !slices.Contains(list, s) })
	}
	return common
}

// own returns the settings of a replay that are not common to all.
func own(r *datapath.Replay, common []string) string {
	list := slices.DeleteFunc(strings.Split(r.Settings, ","), func(s string) bool { return slices.Contains(common, s) })
	return strings.Join(list, " ")
}

func interval(e datapath.Estimate) string {
	return fmt.Sprintf("%s +/- %s", unit.Number(e.Mean), unit.Number(e.Margin))
}

func micros(e datapath.Estimate) string { return unit.Nanos(e.Mean).String() }

func hundredths(e datapath.Estimate) string { return fmt.Sprintf("%.2f", e.Mean) }

// union returns the texts of all replays, each once.
func union(replays []*datapath.Replay, of func(*datapath.Replay) []string) []string {
	var list []string
	for _, r := range replays {
		for _, text := range of(r) {
			if !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}

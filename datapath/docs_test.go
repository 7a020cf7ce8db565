package datapath

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of docs/datapath.md")

// The tables in docs/datapath.md are what the model gives; go test ./datapath -run Docs -update writes them.
func TestDocs(t *testing.T) {
	path := filepath.Join("..", "docs", "datapath.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for name, block := range map[string]string{"published": publishedBlock(t), "interims": interimsBlock(t), "variants": variantsBlock(t), "constants": constantsBlock(t), "settings": settingsBlock(), "recordings": recordingsBlock(t), "playback settings": playbackSettingsBlock()} {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		from := strings.Index(page, begin)
		to := strings.Index(page, end)
		if from < 0 || to < from {
			t.Fatalf("%s has no block %q", path, name)
		}
		from += len(begin)
		if page[from:to] == block {
			continue
		}
		if !*update {
			t.Errorf("%s: the table %q is not what the model gives; run go test ./datapath -run Docs -update. Now it is\n%s", path, name, block)
		}
		page = page[:from] + block + page[to:]
	}
	if *update && page != string(text) {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func publishedBlock(t *testing.T) string {
	var b strings.Builder
	for _, table := range published(t) {
		fmt.Fprintf(&b, "\n**%s**\n\n| point | unit | published | predicted | low to high | error | role |\n|---|---|---:|---:|---:|---:|---|\n", table.Name)
		for _, p := range table.Points {
			role, digits := string(p.Role), max(0, 3-int(math.Floor(math.Log10(p.Published))))
			if p.Role == HeldOut {
				role = "held out, bar " + p.Bar
			}
			number := func(v float64) string { return strconv.FormatFloat(v, 'f', min(digits, 3), 64) }
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s to %s | %+.1f %% | %s |\n", p.Label, p.Unit, number(p.Published), number(p.Predicted), number(p.Low), number(p.High), 100*p.Error(), role)
		}
	}
	return b.String()
}

func interimsBlock(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| interim reports of 4344 bytes | published (30) | predicted |\n|---|---:|---:|\n")
	names := []string{"lower quartile", "median", "upper quartile"}
	rates := interimRates(t)
	for i, q := range interimQuantiles() {
		fmt.Fprintf(&b, "| %s | %.0f | %.0f |\n", names[i], q.published, quantile(rates, q.share))
	}
	r := onEdge4344(t)
	lowest := r.over(func(x *Result) float64 {
		low := x.Interims[0].Rate
		for _, i := range x.Interims {
			low = min(low, i.Rate)
		}
		return low
	})
	fmt.Fprintf(&b, "| lowest of a run | 4069 | %.0f (%.0f to %.0f) |\n", lowest.Mean, lowest.Low, lowest.High)
	fmt.Fprintf(&b, "| share of high samples, client and server | not published | %.2f, %.2f |\n", r.Client.HighShare.Mean, r.Server.HighShare.Mean)
	return b.String()
}

func variantsBlock(t *testing.T) string {
	list, err := variants()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| variant | settings |")
	for _, p := range variantPoints() {
		b.WriteString(" " + p.label + " us |")
	}
	b.WriteString("\n|---|---|---:|---:|---:|---:|\n")
	for _, v := range list {
		fmt.Fprintf(&b, "| %s | `%s` |", v.name, v.settings)
		for _, off := range v.off {
			fmt.Fprintf(&b, " %+.0f %% |", 100*off)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func constantsBlock(t *testing.T) string {
	var b strings.Builder
	for _, name := range Machines() {
		c, err := FrozenConstants(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n**%s**\n\n| constant | value | ± | role | source |\n|---|---:|---:|---|---|\n", name)
		for _, k := range c.List() {
			fmt.Fprintf(&b, "| %s | %g %s | %g | %s | %s |\n", k.Name, k.Value, k.Unit, k.Uncertainty, k.Role, k.Source)
		}
	}
	return b.String()
}

func settingsBlock() string {
	var b strings.Builder
	b.WriteString("| setting | values | default | meaning |\n|---|---|---|---|\n")
	for _, s := range Settings() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Key, s.Values, s.text(Thread().Client), s.Doc)
	}
	return b.String()
}

// recordingsBlock compares what was recorded with what the model gives, as it was and with a change that was recorded too.
func recordingsBlock(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| recording | change | packets on the wire | model | median exchange | model | compared with |\n|---|---|---:|---:|---:|---:|---|\n")
	for _, x := range recordingPairs() {
		p := playback(t, x.recording, x.change)
		got, want := p.Baseline, p.Recorded
		if x.change != "" {
			got, want = *p.Changed, trafficOf(recordings(t, x.truth)[0].packets)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %v | %v | %s |\n", x.recording, x.change, want.WirePackets, got.WirePackets, want.ExchangeP50, got.ExchangeP50, x.truth)
	}
	return b.String()
}

// recordingPairs are recordings, changes, and the recording that shows what the change gives; "" for none is the recording
// itself.
func recordingPairs() []struct{ recording, change, truth string } {
	return []struct{ recording, change, truth string }{
		{"nagle-wwr-stall", "", "itself"}, {"nagle-wwr-nodelay", "", "itself"}, {"nagle-head-3mss1", "", "itself"}, {"delack-server", "", "itself"},
		{"rr-4344-sender", "", "itself"}, {"rr-4345-sender", "", "itself"}, {"rr-65161-sender", "", "itself"}, {"rtt20-sender", "", "itself"}, {"rtt20-gro-receiver", "", "itself"}, {"bulk-gro-receiver", "", "itself"},
		{"nagle-wwr-stall", "nodelay=on", "nagle-wwr-nodelay"}, {"nagle-wwr-nodelay", "nodelay=off", "nagle-wwr-stall"},
		{"rr-4345-sender", "gso-max-segs=3", "rr-4345-gso3-sender"}, {"bulk-gro-receiver", "gro=off", "bulk-nogro-receiver"}, {"bulk-nogro-receiver", "gro=on", "bulk-gro-receiver"},
	}
}

func playbackSettingsBlock() string {
	var b strings.Builder
	for _, s := range playbackSettings() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.key, s.values, s.doc)
	}
	return b.String()
}

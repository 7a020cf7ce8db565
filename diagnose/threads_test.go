package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/finding"
	"nettrace/fixtures/shared"
)

// mail returns the mails of a thread.
func mail(t *testing.T, number string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "data", "threads"), number+"_*.txt"))
	if err != nil || len(files) != 1 {
		t.Fatalf("thread %s: %q %v", number, files, err)
	}
	return files[0]
}

// first returns the first finding of files under other names.
func first(t *testing.T, edit func(string) string, files ...string) finding.Finding {
	t.Helper()
	dir := t.TempDir()
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, ".pcap") {
			data = []byte(edit(string(data)))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("attachment %d", i)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := diagnosed(t, dir)
	if len(r.Findings) == 0 {
		return finding.Finding{Rule: "nothing"}
	}
	return r.Findings[0]
}

// TestThreads: the mails, the published figures, and both beside what was recorded, under other names, of other hosts and
// interfaces, give the cause first.
func TestThreads(t *testing.T) {
	published := func(name string) string { return shared.Path(t, "data", "published", name) }
	bundled := func(name string) string { return filepath.Join("..", "fixtures", "bundles", name) }
	other := strings.NewReplacer("eth2", "ens5f1", "mumble.3.21", "192.0.2.77", "193.168.10.143", "198.51.100.9", "server", "box").Replace
	for _, test := range []struct {
		name, cause string
		files       []string
	}{
		{"adaptive-rx mail", "cross/adaptive-rx", []string{mail(t, "001")}},
		{"adaptive-rx figures", "cross/adaptive-rx", []string{published("mlx4-adaptive-rx.rr-results.csv"), published("mlx4-adaptive-rx.ethtool-c.txt")}},
		{"adaptive-rx as archived", "cross/adaptive-rx", []string{published("mlx4-adaptive-rx.netperf-interim.as-archived.txt"), published("mlx4-adaptive-rx.ethtool-c.as-archived.txt")}},
		{"map-lock mail with locks and stacks", "cross/map-lock", []string{mail(t, "000"), bundled("map-lock/server.lock_stat.txt"), bundled("map-lock/server.folded")}},
		{"map-lock figures with locks and stacks", "cross/map-lock", []string{published("mlx4-map-pages.uperf-transactions.csv"), bundled("map-lock/server.lock_stat.txt"), bundled("map-lock/server.folded")}},
		{"tx-ring mail with locks and stacks", "cross/tx-ring", []string{mail(t, "004"), bundled("tx-ring/sender.lockstat.txt"), bundled("tx-ring/sender.pmcstat.txt")}},
		{"tx-ring figures with locks", "cross/tx-ring", []string{published("iflib-mpring.netperf-scaling.csv"), published("iflib-mpring.ministat-5.txt"), bundled("tx-ring/sender.lockstat.txt")}},
		{"tag-race mail", "cross/tag-race", []string{mail(t, "003")}},
		{"tag-race figures", "cross/tag-race", []string{published("tg3-coalescing.packets-per-interrupt.csv"), published("tg3-coalescing.cpu-util.csv")}},
		{"zero-copy mail", "cross/zero-copy-threshold", []string{mail(t, "002")}},
		{"zero-copy figures", "cross/zero-copy-threshold", []string{published("sdp-bzcopy.throughput.csv"), published("sdp-bzcopy.service-demand.csv")}},
	} {
		for how, edit := range map[string]func(string) string{"as they are": func(s string) string { return s }, "of others": other} {
			if f := first(t, edit, test.files...); f.Rule != test.cause {
				t.Errorf("%s, %s: first is %s: %s", test.name, how, f.Rule, f.Summary)
			}
		}
	}
}

// causesIn returns the summaries of a rule's findings in a table.
func causesIn(t *testing.T, rule, name, text string) (list []finding.Finding) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r := diagnosed(t, path)
	for _, f := range r.Findings {
		if f.Rule == rule {
			list = append(list, f)
		}
	}
	return list
}

// TestTagTables has a patch set about the tag that loses packets for an interrupt, and near misses: at one load it does not,
// the patch is about something else, there are two loads.
func TestTagTables(t *testing.T) {
	const head = "# received packets per interrupt\n"
	for name, test := range map[string]struct {
		table string
		told  bool
	}{
		"told":          {"load_pct,v1,v1+status-tag\n30,4.0,3.0\n50,5.0,4.1\n70,6.2,5.0\n", true},
		"one is better": {"load_pct,v1,v1+status-tag\n30,4.0,3.0\n50,5.0,5.2\n70,6.2,5.0\n", false},
		"another patch": {"load_pct,v1,v1+napi\n30,4.0,3.0\n50,5.0,4.1\n70,6.2,5.0\n", false},
		"two loads":     {"load_pct,v1,v1+status-tag\n30,4.0,3.0\n50,5.0,4.1\n", false},
	} {
		if found := causesIn(t, "cross/tag-race", "table.csv", head+test.table); test.told != (len(found) == 1) {
			t.Errorf("%s: %d causes", name, len(found))
		}
	}
}

// TestZeroCopyOneSided has a zero copy that is ahead at all sizes, one that is behind at all, and near misses.
func TestZeroCopyOneSided(t *testing.T) {
	const head = "# TCP stream; 10^6 bits/s\nmode,message_bytes,throughput_Mbit_per_s\n"
	for name, test := range map[string]struct {
		table, says string
	}{
		"ahead":            {"plain,32768,5000\nplain,65536,5100\nplain,131072,5050\nzerocopy,32768,5400\nzerocopy,65536,6100\nzerocopy,131072,7050\n", "mode=zerocopy is ahead of mode=plain by 8.0 % to 40 %"},
		"behind":           {"plain,4096,5000\nplain,8192,5100\nplain,16384,5050\nzerocopy,4096,3400\nzerocopy,8192,4100\nzerocopy,16384,4650\n", "mode=plain is ahead of mode=zerocopy by 8.6 % to 47 %"},
		"within the noise": {"plain,32768,5000\nplain,65536,5100\nplain,131072,5050\nzerocopy,32768,5050\nzerocopy,65536,5160\nzerocopy,131072,7050\n", ""},
		"another setting":  {"plain,32768,5000\nplain,65536,5100\nplain,131072,5050\nnodelay,32768,5400\nnodelay,65536,6100\nnodelay,131072,7050\n", ""},
	} {
		found := causesIn(t, "cross/zero-copy-threshold", "table.csv", head+test.table)
		if test.says == "" != (len(found) == 0) || test.says != "" && !strings.HasPrefix(found[0].Summary, test.says) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

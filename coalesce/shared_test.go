package coalesce

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/source"
)

// importer is a row of the table that the tests read with; the table of formats is elsewhere.
type importer struct {
	name  string
	sniff func([]byte) source.Match
	read  func(*source.Lines, *source.Ledger) (*Output, error)
}

func importers() []importer {
	return []importer{
		{"ethtool-c", SniffCoalesce, ReadCoalesce},
		{"ethtool-k", SniffFeatures, ReadFeatures},
		{"ethtool-i", SniffDriver, ReadDriver},
		{"ethtool-g", SniffRings, ReadRings},
		{"ethtool-l", SniffChannels, ReadChannels},
		{"ethtool --json", SniffJSON, ReadJSON},
		{"ethtool refusal", SniffRefusal, ReadRefusal},
		{"proc-net-dev", SniffNetDev, ReadNetDev},
		{"proc-softnet_stat", SniffSoftnet, ReadSoftnet},
		{"proc-interrupts", SniffInterrupts, ReadInterrupts},
		{"proc-softirqs", SniffSoftirqs, ReadSoftirqs},
		{"ethtool-S", SniffStatistics, ReadStatistics},
		{"ethtool", SniffLink, ReadLink},
		{"ethtool-a", SniffPause, ReadPause},
		{"ethtool-x", SniffRSS, ReadRSS},
		{"ethtool-n", SniffFlowHash, ReadFlowHash},
		{"nstat", SniffNstat, ReadNstat},
		{"proc-net-snmp", SniffSNMP, ReadSNMP},
		{"proc-net-netstat", SniffNetstat, ReadNetstat},
		{"proc-stat", SniffStat, ReadStat},
		{"ip-s-link", SniffIPLink, ReadIPLink},
		{"tc-qdisc", SniffQdisc, ReadQdisc},
		{"vmstat-i", SniffVmstat, ReadVmstat},
		{"netstat-i", SniffNetstatInterfaces, ReadNetstatInterfaces},
		{"ss", SniffSockets, ReadSockets},
		{"netstat-s", SniffNetstatSentences, ReadNetstatSentences},
		{"netstat-w", SniffTraffic, ReadTraffic},
		{"sysctl", SniffSysctl, ReadSysctl},
		{"sysstat", SniffSysstat, ReadSysstat},
		{"vmstat", SniffSystem, ReadSystem},
		{"perf-stat", SniffPerfStat, ReadPerfStat},
		{"turbostat", SniffTurbostat, ReadTurbostat},
		{"lspci", SniffLspci, ReadLspci},
		{"nodes", SniffNodes, ReadNodes},
		{"kernel-files", SniffKernelFiles, ReadKernelFiles},
		{"mail-table", SniffMailTable, ReadMailTable},
	}
}

// readText reads all outputs in a text as the driver of the analysis does: line by line until one begins.
func readText(t testing.TB, name, text string) ([]Output, *source.Ledger) {
	t.Helper()
	ledger := &source.Ledger{}
	lines := source.NewLines(source.NewInput(name, strings.NewReader(text)), ledger)
	lines.Foreign = func(head []byte) bool { return pick(head) != nil }
	var outputs []Output
	for len(lines.Head(4096)) > 0 {
		at := lines.Pos().Offset
		if i := pick(lines.Head(4096)); i != nil {
			out, err := i.read(lines, ledger)
			if err != nil {
				t.Errorf("%s: %s: %v", name, i.name, err)
				break
			}
			out.Name = source.ParseName(name)
			outputs = append(outputs, *out)
			if lines.Pos().Offset > at {
				continue
			}
			t.Errorf("%s: %s took no line at offset %d", name, i.name, at)
		}
		lines.Next()
	}
	return outputs, ledger
}

func pick(head []byte) *importer {
	for _, i := range importers() {
		if i.sniff(head) >= source.Weak {
			return &i
		}
	}
	return nil
}

// readDir reads all files of a folder, as a bundle.
func readDir(t testing.TB, dir string) (outputs []Output, ledgers []source.Entry) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(filepath.Dir(dir), p)
		outs, ledger := readText(t, filepath.ToSlash(rel), string(text))
		outputs = append(outputs, outs...)
		ledgers = append(ledgers, ledger.Entries()...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return outputs, ledgers
}

package coalesce

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nettrace/source"
)

// seed adds all fixtures of counters to a fuzz target.
func seed(f *testing.F) {
	f.Helper()
	err := filepath.WalkDir(filepath.Join("..", "fixtures", "counters"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		f.Add(string(text))
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// fuzz reads any text with one importer, whether it sniffs it or not: it must not panic, must go on in the input, and
// must keep its places inside it.
func fuzz(f *testing.F, i importer) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		head := text[:min(len(text), 4096)]
		match := i.sniff([]byte(head))
		ledger := &source.Ledger{}
		lines := source.NewLines(source.NewInput("fuzz", strings.NewReader(text)), ledger)
		out, err := i.read(lines, ledger)
		if err == nil && match == source.Strong && lines.Pos().Offset == 0 {
			t.Errorf("%s took nothing of what it recognised", i.name)
		}
		if out == nil {
			return
		}
		for _, iface := range out.Interfaces {
			for _, s := range iface.Settings {
				if s.Pos.Offset < 0 || s.Pos.Offset > int64(len(text)) || s.Pos.Line == 0 {
					t.Errorf("%s: setting %s at %+v", i.name, s.Name, s.Pos)
				}
			}
			for _, c := range iface.Counters {
				if c.Offset < 0 || c.Offset > int64(len(text)) || c.Line == 0 {
					t.Errorf("%s: counter %s at %d, %d", i.name, c.Name, c.Line, c.Offset)
				}
			}
		}
	})
}

func FuzzCoalesce(f *testing.F)   { fuzz(f, importer{"ethtool-c", SniffCoalesce, ReadCoalesce}) }
func FuzzFeatures(f *testing.F)   { fuzz(f, importer{"ethtool-k", SniffFeatures, ReadFeatures}) }
func FuzzDriver(f *testing.F)     { fuzz(f, importer{"ethtool-i", SniffDriver, ReadDriver}) }
func FuzzRings(f *testing.F)      { fuzz(f, importer{"ethtool-g", SniffRings, ReadRings}) }
func FuzzChannels(f *testing.F)   { fuzz(f, importer{"ethtool-l", SniffChannels, ReadChannels}) }
func FuzzJSON(f *testing.F)       { fuzz(f, importer{"ethtool --json", SniffJSON, ReadJSON}) }
func FuzzRefusal(f *testing.F)    { fuzz(f, importer{"refusal", SniffRefusal, ReadRefusal}) }
func FuzzStatistics(f *testing.F) { fuzz(f, importer{"ethtool-S", SniffStatistics, ReadStatistics}) }
func FuzzInterrupts(f *testing.F) { fuzz(f, importer{"interrupts", SniffInterrupts, ReadInterrupts}) }
func FuzzSoftirqs(f *testing.F)   { fuzz(f, importer{"softirqs", SniffSoftirqs, ReadSoftirqs}) }
func FuzzSoftnet(f *testing.F)    { fuzz(f, importer{"softnet", SniffSoftnet, ReadSoftnet}) }
func FuzzNetDev(f *testing.F)     { fuzz(f, importer{"net/dev", SniffNetDev, ReadNetDev}) }
func FuzzLink(f *testing.F)       { fuzz(f, importer{"ethtool", SniffLink, ReadLink}) }
func FuzzPause(f *testing.F)      { fuzz(f, importer{"ethtool-a", SniffPause, ReadPause}) }
func FuzzRSS(f *testing.F)        { fuzz(f, importer{"ethtool-x", SniffRSS, ReadRSS}) }
func FuzzFlowHash(f *testing.F)   { fuzz(f, importer{"ethtool-n", SniffFlowHash, ReadFlowHash}) }
func FuzzNstat(f *testing.F)      { fuzz(f, importer{"nstat", SniffNstat, ReadNstat}) }
func FuzzSNMP(f *testing.F)       { fuzz(f, importer{"snmp", SniffSNMP, ReadSNMP}) }
func FuzzNetstat(f *testing.F)    { fuzz(f, importer{"netstat", SniffNetstat, ReadNetstat}) }
func FuzzStat(f *testing.F)       { fuzz(f, importer{"stat", SniffStat, ReadStat}) }
func FuzzIPLink(f *testing.F)     { fuzz(f, importer{"ip link", SniffIPLink, ReadIPLink}) }
func FuzzQdisc(f *testing.F)      { fuzz(f, importer{"tc qdisc", SniffQdisc, ReadQdisc}) }
func FuzzVmstat(f *testing.F)     { fuzz(f, importer{"vmstat -i", SniffVmstat, ReadVmstat}) }
func FuzzNetstatInterfaces(f *testing.F) {
	fuzz(f, importer{"netstat -i", SniffNetstatInterfaces, ReadNetstatInterfaces})
}

func FuzzSockets(f *testing.F) { fuzz(f, importer{"ss", SniffSockets, ReadSockets}) }
func FuzzNetstatSentences(f *testing.F) {
	fuzz(f, importer{"netstat-s", SniffNetstatSentences, ReadNetstatSentences})
}
func FuzzTraffic(f *testing.F)   { fuzz(f, importer{"netstat-w", SniffTraffic, ReadTraffic}) }
func FuzzSysctl(f *testing.F)    { fuzz(f, importer{"sysctl", SniffSysctl, ReadSysctl}) }
func FuzzSysstat(f *testing.F)   { fuzz(f, importer{"sysstat", SniffSysstat, ReadSysstat}) }
func FuzzSystem(f *testing.F)    { fuzz(f, importer{"vmstat", SniffSystem, ReadSystem}) }
func FuzzPerfStat(f *testing.F)  { fuzz(f, importer{"perf-stat", SniffPerfStat, ReadPerfStat}) }
func FuzzTurbostat(f *testing.F) { fuzz(f, importer{"turbostat", SniffTurbostat, ReadTurbostat}) }
func FuzzLspci(f *testing.F)     { fuzz(f, importer{"lspci", SniffLspci, ReadLspci}) }
func FuzzNodes(f *testing.F)     { fuzz(f, importer{"nodes", SniffNodes, ReadNodes}) }
func FuzzKernelFiles(f *testing.F) {
	fuzz(f, importer{"kernel-files", SniffKernelFiles, ReadKernelFiles})
}
func FuzzMailTable(f *testing.F) { fuzz(f, importer{"mail-table", SniffMailTable, ReadMailTable}) }

// FuzzHost takes two texts as snapshots of one host all the way to findings, which have to be JSON and come out the
// same again.
func FuzzHost(f *testing.F) {
	f.Add(fixture(f, "storm", "before.ethtool-S-eth0.20240305T101500.000Z.txt"), fixture(f, "storm", "after.ethtool-S-eth0.20240305T101503.000Z.txt"))
	f.Add(fixture(f, "storm", "before.proc-interrupts.20240305T101500.000Z.txt"), fixture(f, "storm", "after.proc-interrupts.20240305T101503.000Z.txt"))
	f.Add(fixture(f, "settings", "shell-log.txt"), fixture(f, "e-napi-1flow", "after.proc-softnet_stat.20261130T163711.963Z.txt"))
	f.Fuzz(func(t *testing.T, before, after string) {
		judge := func() string {
			a, _ := readText(&quiet{}, "before.x.20240305T101500.000Z.txt", before)
			b, _ := readText(&quiet{}, "after.x.20240305T101503.000Z.txt", after)
			var all []any
			for _, h := range Join(append(a, b...), Options{}) {
				h.Exchange = &Exchange{Rate: 3406, RequestBytes: 4345, ResponseBytes: 1, Outstanding: 1}
				all = append(all, h)
				for _, r := range rules() {
					all = append(all, r.Run(h, nil))
				}
			}
			text, err := json.Marshal(all)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if first, second := judge(), judge(); first != second {
			t.Errorf("two runs differ:\n%s\n%s", first, second)
		}
	})
}

// quiet takes errors of importers, which fuzzed texts may well cause.
type quiet struct{ testing.TB }

func (*quiet) Helper()               {}
func (*quiet) Errorf(string, ...any) {}

func BenchmarkStatistics(b *testing.B) {
	benchmark(b, ReadStatistics, "NIC statistics:\n"+strings.Repeat("     rx_queue_0_packets: 123456789\n", 2000))
}

func BenchmarkInterrupts(b *testing.B) {
	row := " 54:" + strings.Repeat("          0", 31) + "    3489881   PCI-MSI-edge      eth2-3\n"
	header := "     "
	for c := range 32 {
		header += "      CPU" + string(rune('0'+c/10)) + string(rune('0'+c%10))
	}
	benchmark(b, ReadInterrupts, header+"\n"+strings.Repeat(row, 500))
}

func BenchmarkCoalesce(b *testing.B) {
	benchmark(b, ReadCoalesce, fixture(b, "settings", "mlx4-adaptive-rx.ethtool-c.txt"))
}
func BenchmarkFeatures(b *testing.B) {
	benchmark(b, ReadFeatures, fixture(b, "settings", "virtio.ethtool-k.txt"))
}
func BenchmarkJSON(b *testing.B) {
	benchmark(b, ReadJSON, fixture(b, "settings", "virtio.ethtool-k.json"))
}

// The importers of what belongs to the whole host and to the link, each with its fixture.
func BenchmarkHostOutputs(b *testing.B) {
	for _, c := range []struct {
		file string
		read func(*source.Lines, *source.Ledger) (*Output, error)
	}{
		{"udp.nstat.txt", ReadNstat}, {"udp.nstat.json", ReadNstat}, {"udp.snmp.txt", ReadSNMP}, {"udp.netstat.txt", ReadNetstat}, {"udp.stat.txt", ReadStat},
		{"veth.ip-s-s-link.txt", ReadIPLink}, {"veth.ip-s-link.json", ReadIPLink}, {"tc-s-qdisc.txt", ReadQdisc}, {"vmstat-i.txt", ReadVmstat}, {"netstat-ibdn.txt", ReadNetstatInterfaces},
		{"ss.txt", ReadSockets}, {"netstat-s.txt", ReadNetstatSentences}, {"netstat-w.txt", ReadTraffic}, {"sysctl-dev.txt", ReadSysctl}, {"mpstat-P-ALL.txt", ReadSysstat}, {"vmstat.txt", ReadSystem},
		{"perf-stat-I-x.txt", ReadPerfStat}, {"turbostat.txt", ReadTurbostat}, {"lspci-vv.txt", ReadLspci}, {"lscpu.txt", ReadNodes}, {"kernel-files.txt", ReadKernelFiles}, {"mpstat-I-ALL.json", ReadSysstat}, {"virtio.ethtool.txt", ReadLink}, {"ethtool-a.txt", ReadPause}, {"ethtool-x.txt", ReadRSS}, {"ethtool-n.txt", ReadFlowHash},
	} {
		b.Run(c.file, func(b *testing.B) { benchmark(b, c.read, fixture(b, "settings", c.file)) })
	}
}

// Outputs that do not begin their fixtures.
func BenchmarkMailTable(b *testing.B) {
	_, table, _ := strings.Cut(fixture(b, "settings", "mail-table.txt"), "\n\n")
	benchmark(b, ReadMailTable, table)
}

func BenchmarkPerfStat(b *testing.B) {
	benchmark(b, ReadPerfStat, strings.TrimPrefix(fixture(b, "settings", "perf-stat.txt"), "\n"))
}

func BenchmarkSoftnet(b *testing.B) {
	benchmark(b, ReadSoftnet, strings.Repeat(strings.Repeat("00ad6638 ", 12)+"00000001 00000000 00000000\n", 256))
}

func benchmark(b *testing.B, read func(*source.Lines, *source.Ledger) (*Output, error), text string) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		ledger := &source.Ledger{}
		if _, err := read(source.NewLines(source.NewInput("x", strings.NewReader(text)), ledger), ledger); err != nil {
			b.Fatal(err)
		}
	}
}

// Sniffing prose, which is done for each of its lines, allocates nothing.
func TestSniffAllocatesNothing(t *testing.T) {
	head := []byte("Now, at 11000 transactions per second, even with the request being 4 packets, that is still < 55000 packets\nand so on: 12\n")
	for _, i := range importers() {
		if n := testing.AllocsPerRun(100, func() { i.sniff(head) }); n > 0 {
			t.Errorf("%s: %g allocations for a line of prose", i.name, n)
		}
	}
}

func BenchmarkSniffProse(b *testing.B) {
	head := []byte("Now, at 11000 transactions per second, even with the request being 4 packets, that is still < 55000 packets\n")
	b.ReportAllocs()
	for b.Loop() {
		for _, i := range importers() {
			i.sniff(head)
		}
	}
}

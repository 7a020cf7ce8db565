package analyze

import (
	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/pcap"
	"nettrace/perf"
	"nettrace/source"
)

// Kind groups formats by the model that they feed.
type Kind string

const (
	Capture    Kind = "capture"
	Locks      Kind = "locks"
	Stacks     Kind = "stacks"
	Settings   Kind = "settings"
	Counters   Kind = "counters"
	Interrupts Kind = "interrupts"
	Benchmark  Kind = "benchmark"
	Symbols    Kind = "symbols"
	Written    Kind = "result"
)

// Format is one kind of input that nettrace reads, recognised by content only.
type Format struct {
	Name   string // public, never renamed
	Kind   Kind
	Doc    string // who writes it, in which variants
	Record string // the command that records it
	Sniff  func(head []byte) source.Match

	// One of the two: a text decoder takes the lines that are its own, so that a file may hold several outputs.
	bytes func(r *reader, out *Source) error
	lines func(r *reader, out *Source, l *source.Lines) error
}

// Text reports whether the format is made of lines.
func (f *Format) Text() bool { return f.lines != nil }

// Formats returns all formats in the order in which they are tried.
func Formats() []Format {
	return []Format{
		{Name: "pcap", Kind: Capture, Sniff: sniffCapture(pcap.FormatPcap), bytes: readCapture, Record: "tcpdump -i eth0 -s 128 -w x.pcap",
			Doc: "Captures of tcpdump, dumpcap, Wireshark and libpcap programs: microseconds or nanoseconds, either byte order, modified header, any snap length."},
		{Name: "pcapng", Kind: Capture, Sniff: sniffCapture(pcap.FormatPcapng), bytes: readCapture, Record: "dumpcap -i eth0 -s 128 -w x.pcapng",
			Doc: "Captures of dumpcap and Wireshark: several sections, interfaces, link types and time resolutions in one file."},
		{Name: "snoop", Kind: Capture, Sniff: sniffCapture(pcap.FormatSnoop), bytes: readCapture, Record: "snoop -o x.snoop",
			Doc: "Captures of Solaris and illumos snoop (RFC 1761)."},
		{Name: "nettrace-partial", Kind: Written, Sniff: sniffPartial, bytes: readPartial, Record: "nettrace analyze --partial PATH... > x.partial",
			Doc: "What nettrace read of recordings and did not judge yet: captures as headers, everything else as models."},
		{Name: "nettrace-result", Kind: Written, Sniff: sniffResult, bytes: readResult, Record: "nettrace analyze PATH... -o json",
			Doc: "A result that nettrace wrote."},
		{Name: "nettrace-report", Kind: Written, Sniff: sniffPage, bytes: readPage, Record: "nettrace report PATH... -o x.html",
			Doc: "A page that nettrace wrote: the result in it is read."},
		{Name: "lockstat", Kind: Locks, Sniff: lockstat.SniffLockstat, lines: readLocks(lockstat.ReadLockstat), Record: "lockstat -x aggsize=4m sleep 10 > x.lockstat.txt",
			Doc: "Tables of lockstat(1) of FreeBSD, illumos and Solaris, in all its printed forms."},
		{Name: "proc-lock_stat", Kind: Locks, Sniff: lockstat.SniffProcLockStat, lines: readLocks(lockstat.ReadProcLockStat), Record: "cat /proc/lock_stat",
			Doc: "Lock statistics of Linux kernels built with LOCK_STAT, versions 0.2 to 0.4."},
		{Name: "perf-lock-contention", Kind: Locks, Sniff: lockstat.SniffPerfLockContention, lines: readLocks(lockstat.ReadPerfLockContention), Record: "perf lock record -a -- sleep 10; perf lock contention 2>&1",
			Doc: "Tables of perf lock contention, by caller, lock or thread, of all versions."},
		{Name: "perf-lock-report", Kind: Locks, Sniff: lockstat.SniffPerfLockReport, lines: readLocks(lockstat.ReadPerfLockReport), Record: "perf lock record -a -- sleep 10; perf lock report 2>&1",
			Doc: "Tables of perf lock report of all versions."},
		{Name: "perf-lock-info", Kind: Locks, Sniff: lockstat.SniffPerfLockInfo, lines: readLocks(lockstat.ReadPerfLockInfo), Record: "perf lock record -a -- sleep 10; perf lock info -m 2>&1",
			Doc: "The locks and threads that perf lock info names: names for what other tables know by address."},
		{Name: "klockstat", Kind: Locks, Sniff: lockstat.SniffKlockstat, lines: readLocks(lockstat.ReadKlockstat), Record: "klockstat-bpfcc -d 10 > x.klockstat.txt",
			Doc: "Tables of klockstat of bcc and of its libbpf tools, with stacks and intervals."},
		{Name: "ftrace", Kind: Locks, Sniff: lockstat.SniffFtrace, lines: readLockTables(lockstat.ReadFtrace), Record: "trace-cmd record -e lock:contention_begin -e lock:contention_end sleep 10; trace-cmd report -R > x.ftrace.txt",
			Doc: "Lock events in the text of the kernel's tracer (/sys/kernel/tracing/trace)."},
		{Name: "ethtool-c", Kind: Settings, Sniff: coalesce.SniffCoalesce, lines: readOutput(coalesce.ReadCoalesce), Record: "ethtool -c eth0",
			Doc: "Interrupt moderation settings of an interface, of all generations of ethtool, also with line ends lost."},
		{Name: "ethtool-k", Kind: Settings, Sniff: coalesce.SniffFeatures, lines: readOutput(coalesce.ReadFeatures), Record: "ethtool -k eth0",
			Doc: "Offload settings of an interface."},
		{Name: "ethtool-g", Kind: Settings, Sniff: coalesce.SniffRings, lines: readOutput(coalesce.ReadRings), Record: "ethtool -g eth0",
			Doc: "Ring sizes of an interface, and how large they can be."},
		{Name: "ethtool-l", Kind: Settings, Sniff: coalesce.SniffChannels, lines: readOutput(coalesce.ReadChannels), Record: "ethtool -l eth0",
			Doc: "Numbers of queues of an interface, and how many there can be."},
		{Name: "ethtool-i", Kind: Settings, Sniff: coalesce.SniffDriver, lines: readOutput(coalesce.ReadDriver), Record: "ethtool -i eth0",
			Doc: "Driver, versions and bus address of an interface."},
		{Name: "ethtool-json", Kind: Settings, Sniff: coalesce.SniffJSON, lines: readOutput(coalesce.ReadJSON), Record: "ethtool --json -c eth0",
			Doc: "JSON of ethtool -a, -c, -g and -k."},
		{Name: "ethtool-refusal", Kind: Settings, Sniff: coalesce.SniffRefusal, lines: readOutput(coalesce.ReadRefusal), Record: "ethtool -c lo 2>&1",
			Doc: "Error texts of ethtool: the device does not support the question."},
		{Name: "ethtool", Kind: Settings, Sniff: coalesce.SniffLink, lines: readOutput(coalesce.ReadLink), Record: "ethtool eth0",
			Doc: "Speed and state of the link."},
		{Name: "ethtool-a", Kind: Settings, Sniff: coalesce.SniffPause, lines: readOutput(coalesce.ReadPause), Record: "ethtool -a eth0",
			Doc: "Pause frames of an interface."},
		{Name: "ethtool-x", Kind: Settings, Sniff: coalesce.SniffRSS, lines: readOutput(coalesce.ReadRSS), Record: "ethtool -x eth0",
			Doc: "The table by which received packets are spread over queues."},
		{Name: "ethtool-n", Kind: Settings, Sniff: coalesce.SniffFlowHash, lines: readOutput(coalesce.ReadFlowHash), Record: "ethtool -n eth0 rx-flow-hash tcp4",
			Doc: "The fields of a packet that select its queue."},
		{Name: "ip-s-link", Kind: Counters, Sniff: coalesce.SniffIPLink, lines: readOutput(coalesce.ReadIPLink), Record: "ip -s -s link show dev eth0",
			Doc: "The kernel's counters of interfaces, text and JSON of ip."},
		{Name: "tc-qdisc", Kind: Counters, Sniff: coalesce.SniffQdisc, lines: readOutput(coalesce.ReadQdisc), Record: "tc -s qdisc",
			Doc: "What queueing disciplines sent and dropped."},
		{Name: "netstat-i", Kind: Counters, Sniff: coalesce.SniffNetstatInterfaces, lines: readOutput(coalesce.ReadNetstatInterfaces), Record: "netstat -ibdnW",
			Doc: "FreeBSD's counters of interfaces."},
		{Name: "nstat", Kind: Counters, Sniff: coalesce.SniffNstat, lines: readOutput(coalesce.ReadNstat), Record: "nstat -a -z -s",
			Doc: "Counters of the host's network protocols, text and JSON."},
		{Name: "proc-net-snmp", Kind: Counters, Sniff: coalesce.SniffSNMP, lines: readOutput(coalesce.ReadSNMP), Record: "cat /proc/net/snmp",
			Doc: "Linux counters of IP, ICMP, TCP and UDP."},
		{Name: "proc-net-netstat", Kind: Counters, Sniff: coalesce.SniffNetstat, lines: readOutput(coalesce.ReadNetstat), Record: "cat /proc/net/netstat",
			Doc: "Linux counters of TCP and IP beyond the standard ones."},
		{Name: "proc-stat", Kind: Counters, Sniff: coalesce.SniffStat, lines: readOutput(coalesce.ReadStat), Record: "cat /proc/stat",
			Doc: "Linux CPU time by what it was spent on."},
		{Name: "ethtool-S", Kind: Counters, Sniff: coalesce.SniffStatistics, lines: readOutput(coalesce.ReadStatistics), Record: "ethtool -S eth0",
			Doc: "Counters of an interface by its driver; a pair of them before and after gives rates."},
		{Name: "proc-net-dev", Kind: Counters, Sniff: coalesce.SniffNetDev, lines: readOutput(coalesce.ReadNetDev), Record: "cat /proc/net/dev",
			Doc: "Linux counters of all interfaces, also as ifconfig and netstat -i print them."},
		{Name: "proc-softnet_stat", Kind: Counters, Sniff: coalesce.SniffSoftnet, lines: readOutput(coalesce.ReadSoftnet), Record: "cat /proc/net/softnet_stat",
			Doc: "Linux counters of packet processing by CPU, of all widths."},
		{Name: "proc-interrupts", Kind: Interrupts, Sniff: coalesce.SniffInterrupts, lines: readOutput(coalesce.ReadInterrupts), Record: "cat /proc/interrupts",
			Doc: "Linux interrupt counts by CPU; a pair of them before and after gives rates."},
		{Name: "proc-softirqs", Kind: Interrupts, Sniff: coalesce.SniffSoftirqs, lines: readOutput(coalesce.ReadSoftirqs), Record: "cat /proc/softirqs",
			Doc: "Linux softirq counts by CPU."},
		{Name: "vmstat-i", Kind: Interrupts, Sniff: coalesce.SniffVmstat, lines: readOutput(coalesce.ReadVmstat), Record: "vmstat -i",
			Doc: "FreeBSD's interrupt counts."},
		{Name: "ss", Kind: Counters, Sniff: coalesce.SniffSockets, lines: readOutput(coalesce.ReadSockets), Record: "ss -tinmO",
			Doc: "TCP connections as Linux sees them: what limited each sender, retransmissions, windows, memory."},
		{Name: "netstat-s", Kind: Counters, Sniff: coalesce.SniffNetstatSentences, lines: readOutput(coalesce.ReadNetstatSentences), Record: "netstat -s",
			Doc: "Counters of the host's network protocols in sentences, of Linux and FreeBSD."},
		{Name: "netstat-w", Kind: Counters, Sniff: coalesce.SniffTraffic, lines: readOutput(coalesce.ReadTraffic), Record: "netstat -I ix0 -dw 1",
			Doc: "FreeBSD's traffic of an interface, a line for each interval."},
		{Name: "sysctl-dev", Kind: Counters, Sniff: coalesce.SniffSysctl, lines: readOutput(coalesce.ReadSysctl), Record: "sysctl dev.ix hw.intr_storm_threshold",
			Doc: "FreeBSD's counters of drivers and of iflib."},
		{Name: "sysstat", Kind: Counters, Sniff: coalesce.SniffSysstat, lines: readOutput(coalesce.ReadSysstat), Record: "mpstat -P ALL 1 10",
			Doc: "mpstat and sar: time of CPUs, rates of interfaces, interrupts and softirqs; also mpstat's JSON."},
		{Name: "vmstat", Kind: Counters, Sniff: coalesce.SniffSystem, lines: readOutput(coalesce.ReadSystem), Record: "vmstat 1 10",
			Doc: "Interrupts, context switches and CPU time of the host, of Linux and FreeBSD."},
		{Name: "perf-stat", Kind: Counters, Sniff: coalesce.SniffPerfStat, lines: readOutput(coalesce.ReadPerfStat), Record: "perf stat -a -I 1000 -x, sleep 10 2> x.perf-stat.txt",
			Doc: "Counts of events of perf stat, as text and with -x, also of intervals (-I) and single CPUs (-A)."},
		{Name: "turbostat", Kind: Counters, Sniff: coalesce.SniffTurbostat, lines: readOutput(coalesce.ReadTurbostat), Record: "turbostat --interval 5 --num_iterations 3",
			Doc: "How busy and fast CPUs were, and in which idle states they rested."},
		{Name: "lspci", Kind: Settings, Sniff: coalesce.SniffLspci, lines: readOutput(coalesce.ReadLspci), Record: "lspci -vv",
			Doc: "Links of PCI Express devices and the sizes of their requests, also as mails wrap them."},
		{Name: "nodes", Kind: Settings, Sniff: coalesce.SniffNodes, lines: readOutput(coalesce.ReadNodes), Record: "lscpu",
			Doc: "NUMA nodes and their CPUs, of lscpu and numactl -H."},
		{Name: "kernel-files", Kind: Settings, Sniff: coalesce.SniffKernelFiles, lines: readOutput(coalesce.ReadKernelFiles), Record: "grep -H . /proc/irq/*/smp_affinity_list /sys/class/net/*/queues/*/*ps_cpus /sys/class/net/*/device/numa_node",
			Doc: "Values of /proc and /sys behind their paths, and sysctl: affinities, RPS and XPS, nodes, idle states, sizes."},
		{Name: "mail-table", Kind: Counters, Sniff: coalesce.SniffMailTable, lines: readOutput(coalesce.ReadMailTable), Record: "written by hand",
			Doc: "Tables of packets per interrupt or CPU time that people write into mails: a title between rules, heads of several lines, rows of numbers."},
		{Name: "netperf", Kind: Benchmark, Sniff: bench.SniffNetperf, lines: readRuns(bench.ReadNetperf), Record: "netperf -D 0.25 -H host -t TCP_RR -- -r 4344,1",
			Doc: "Results of netperf's classic tests, with their interim results, also with line ends lost as mail archives have them."},
		{Name: "iperf3-json", Kind: Benchmark, Sniff: bench.SniffIperf3JSON, lines: readRuns(bench.ReadIperf3JSON), Record: "iperf3 -J -c host > x.json",
			Doc: "JSON of iperf3: TCP and UDP, reverse and bidirectional, with the keys that 3.7 writes twice, and failed runs."},
		{Name: "iperf3", Kind: Benchmark, Sniff: bench.SniffIperf3, lines: readRuns(bench.ReadIperf3), Record: "iperf3 -c host | tee x.iperf3.txt",
			Doc: "Text of iperf3's client."},
		{Name: "uperf", Kind: Benchmark, Sniff: bench.SniffUperf, lines: readUperf, Record: "uperf -m profile.xml | tee x.uperf.txt",
			Doc: "Results of uperf with their course, and raw statistics (-R)."},
		{Name: "ministat", Kind: Benchmark, Sniff: bench.SniffMinistat, lines: readRuns(bench.ReadMinistat), Record: "ministat before.txt after.txt",
			Doc: "Summaries that ministat printed of repeated results, of both generations."},
		{Name: "go-bench", Kind: Benchmark, Sniff: bench.SniffGoBench, lines: readRuns(bench.ReadGoBench), Record: "go test -bench . -count 10",
			Doc: "Go's benchmark format, which benchstat reads."},
		{Name: "numbers", Kind: Benchmark, Sniff: bench.SniffNumbers, lines: readRuns(bench.ReadNumbers), Record: "awk '{print $6}' x > x.numbers",
			Doc: "One number a line: repeated results of one benchmark; # begins a comment."},
		{Name: "csv", Kind: Benchmark, Sniff: bench.SniffCSV, lines: readRuns(bench.ReadCSV), Record: "printf 'threads,trans_per_s\\n1,9961.2\\n' > x.csv",
			Doc: "Tables with a head whose columns are named after what they hold: sizes, threads, labels, rates with their units, CPU costs."},
		{Name: "perf-script", Kind: Stacks, Sniff: perf.SniffScript, lines: readPerfScript, Record: "perf record -a -g -- sleep 10; perf script > x.perf.txt",
			Doc: "The text of perf script in any selection of its fields."},
		{Name: "perf-data", Kind: Stacks, Sniff: perf.SniffData, bytes: readPerfData, Record: "perf record -a -g -o x.perf.data -- sleep 10; cp /proc/kallsyms x.kallsyms; perf archive x.perf.data",
			Doc: "Recordings of perf as they are, from files and pipes, of either byte order, with compressed records. Names of functions come from kallsyms, objects and archives beside the recording, or given with --symbols."},
		{Name: "kallsyms", Kind: Symbols, Sniff: sniffKallsyms, lines: skipKallsyms, Record: "cp /proc/kallsyms x.kallsyms",
			Doc: "The kernel's symbols, from /proc/kallsyms or System.map: they name the functions of binary recordings beside them."},
		{Name: "elf", Kind: Symbols, Sniff: sniffELF, bytes: skipELF, Record: "cp /usr/lib/debug/boot/vmlinux-$(uname -r) .",
			Doc: "Programs, libraries and kernels: their symbols and debug information name the functions of binary recordings beside them."},
		{Name: "hwpmc", Kind: Stacks, Sniff: perf.SniffPMCLog, bytes: readPMCLog, Record: "pmcstat -S unhalted_core_cycles -O x.pmc sleep 10",
			Doc: "Logs of FreeBSD's hwpmc as pmcstat -O writes them, of FreeBSD 8 to 15. Give --symbols with the recorded machine's /boot/kernel and programs, or its root."},
		{Name: "pmcstat", Kind: Stacks, Sniff: flame.SniffPmcstat, lines: readStacks(flame.ReadPmcstat), Record: "pmcstat -S unhalted-cycles -O x.pmc sleep 10; pmcstat -R x.pmc -z 100 -G x.pmcstat.txt",
			Doc: "Call graphs of FreeBSD's hwpmc, one section for each counter, with each function's own share."},
		{Name: "dtrace", Kind: Stacks, Sniff: flame.SniffDTrace, lines: readStacks(flame.ReadDTrace), Record: "dtrace -qn 'profile-997 {@[stack(), ustack()] = count()} tick-10s {exit(0)}' > x.dtrace.txt",
			Doc: "DTrace aggregations over stack() and ustack(), with and without header and other keys."},
		{Name: "bpftrace", Kind: Stacks, Sniff: flame.SniffBpftrace, lines: readStacks(flame.ReadBpftrace), Record: "bpftrace -e 'profile:hz:99 {@[kstack, ustack, comm] = count()}' > x.bpftrace.txt",
			Doc: "bpftrace maps keyed by kstack and ustack, as text and as JSON lines."},
		{Name: "bcc", Kind: Stacks, Sniff: flame.SniffBCC, lines: readStacks(flame.ReadBCC), Record: "profile-bpfcc -F 99 -d 10 > x.bcc.txt",
			Doc: "Stacks of bcc's profile, offcputime and stackcount as they are printed without -f."},
		{Name: "pprof", Kind: Stacks, Sniff: flame.SniffPprof, bytes: readProfile(flame.ReadPprof), Record: "go tool pprof -proto http://HOST/debug/pprof/profile > x.pb.gz",
			Doc: "Profiles of pprof: Go's CPU, heap, mutex, block and goroutine profiles, as protobuf or as text (debug=1), and those of other writers; each sample type is kept."},
		{Name: "gmon", Kind: Stacks, Sniff: flame.SniffGmon, bytes: readProfile(flame.ReadGmon), Record: "pmcstat -S unhalted-cycles -O x.pmc sleep 10; pmcstat -R x.pmc -D . -g",
			Doc: "Flat profiles that pmcstat -g writes, one file for each event and object: counters of stretches of code, without names."},
		{Name: "speedscope", Kind: Stacks, Sniff: flame.SniffSpeedscope, bytes: readProfile(flame.ReadSpeedscope), Record: "py-spy record -f speedscope -o x.speedscope.json -- COMMAND",
			Doc: "The file format of speedscope, sampled and evented."},
		{Name: "folded", Kind: Stacks, Sniff: flame.SniffFolded, lines: readStacks(flame.ReadFolded), Record: "nettrace flame x.perf.txt -o x.folded",
			Doc: "One stack a line, frames joined by semicolons from the root on, and a count: the exchange format of flame graph tools."},
	}
}

func formatNames(formats []Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

package flame

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/source"
)

func fixture(name string) string { return filepath.Join("..", "fixtures", "stacks", name) }

func readPerf(t testing.TB, text []byte) (*Profile, *source.Ledger) {
	t.Helper()
	ledger := &source.Ledger{}
	p, err := ReadPerf(source.NewLines(source.NewInput("x.perf.txt", bytes.NewReader(text)), ledger), ledger, PerfOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Pprof().CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p, ledger
}

func readFolded(t testing.TB, text []byte) (*Profile, *source.Ledger) {
	t.Helper()
	ledger := &source.Ledger{}
	p, err := ReadFolded(source.NewLines(source.NewInput("x.folded", bytes.NewReader(text)), ledger), ledger)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Pprof().CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p, ledger
}

func folded(t testing.TB, p *Profile, c Column) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFolded(&b, p, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stackcollapse rewrites folded stacks the way stackcollapse-perf.pl 41fee1f prints names, so that they can be compared:
// it takes blanks out of thread names, quotes out of functions, arguments off C++ names, L off Java classes, and puts
// unnamed functions' objects into brackets of its own.
func stackcollapse(text string) map[string]string {
	lines := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		i := strings.LastIndexByte(line, ' ')
		frames := strings.Split(line[:i], ";")
		comm := frames[0]
		for n := range frames {
			if n == 0 {
				frames[n] = strings.ReplaceAll(comm, " ", "_")
			} else {
				frames[n] = tidy(frames[n], comm)
			}
		}
		add(lines, strings.Join(frames, ";"), line[i+1:])
	}
	return lines
}

func add(lines map[string]string, stack, count string) {
	var have, more int64
	fmt.Sscan(lines[stack], &have)
	fmt.Sscan(count, &more)
	lines[stack] = fmt.Sprint(have + more)
}

var (
	goMethod  = regexp.MustCompile(`\.\(.*\)\.`)
	anonymous = "(anonymous namespace)"
)

func tidy(name, comm string) string {
	switch name {
	case "[kernel.kallsyms]", "[vdso]", "[heap]", "[stack]":
		return "[" + name + "]"
	}
	if !goMethod.MatchString(name) {
		from := 0
		for {
			i := strings.IndexByte(name[from:], '(')
			if i < 0 {
				break
			}
			if !strings.HasPrefix(name[from+i:], anonymous) {
				name = name[:from+i]
				break
			}
			from += i + 1
		}
	}
	name = strings.NewReplacer(`"`, "", "'", "").Replace(name)
	if comm == "java" && strings.Contains(name, "/") {
		name = strings.TrimPrefix(name, "L")
	}
	return name
}

func parseFolded(text string) map[string]string {
	lines := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(line, ' '); i > 0 {
			stack := marks.ReplaceAllString(line[:i], "")
			add(lines, stack, line[i+1:])
		}
	}
	return lines
}

var marks = regexp.MustCompile(`_\[[kij]\]`)

// TestReferences compares with what stackcollapse-perf.pl and inferno print for the same texts, where these are right.
func TestReferences(t *testing.T) {
	const lastLost = "the reference loses the last sample, which no blank line follows"
	for _, c := range []struct {
		text, expected, event string
		differ                int // stacks that the reference has wrong
		why                   string
	}{
		{"stacks/net-cpuclock.perf.txt", "stacks/net-cpuclock.folded", "", 0, ""},
		{"stacks/iperf-client.perf.txt", "stacks/iperf-client.folded", "", 0, ""},
		{"stacks/go-user.perf.txt", "stacks/go-user.folded", "", 0, ""},
		{"stacks/diff-before-tcp.perf.txt", "stacks/diff-before-tcp.folded", "", 0, ""},
		{"stacks/diff-after-udp.perf.txt", "stacks/diff-after-udp.folded", "", 0, ""},
		{"stacks/variants/v0-default.perf.txt", "stacks/variants/v0-default.folded", "", 0, ""},
		{"stacks/variants/v1-header-pidtid.perf.txt", "stacks/variants/v1-header-pidtid.folded", "", 0, ""},
		{"stacks/variants/v2-ns-pid-misc.perf.txt", "stacks/variants/v2-ns-pid-misc.folded", "", 0, ""},
		{"stacks/variants/v4-reltime-no-cpu.perf.txt", "stacks/variants/v4-reltime-no-cpu.folded", "", 0, ""},
		{"stacks/variants/v5-srcline.perf.txt", "stacks/variants/v5-srcline.folded", "", 0, ""},
		{"stacks/variants/v6-side-records.perf.txt", "stacks/variants/v6-side-records.folded", "", 0, ""},
		{"stacks/variants/v9-max-stack-4.perf.txt", "stacks/variants/v9-max-stack-4.folded", "", 0, ""},
		{"stacks/variants/v10-kernel-unresolved.perf.txt", "stacks/variants/v10-kernel-unresolved.folded", "", 0, ""},
		{"stacks/variants/v11-crlf.perf.txt", "stacks/variants/v0-default.folded", "", 0, ""},
		{"stacks/variants/v13-no-final-newline.perf.txt", "stacks/variants/v9-max-stack-4.folded", "", 0, ""},
		{"public-stacks/flamegraph/perf-dd-stacks-01.txt", "public-stacks/flamegraph/expected/perf-dd-stacks-01-collapsed-all.txt", "", 1, lastLost},
		{"public-stacks/flamegraph/perf-iperf-stacks-pidtid-01.txt", "public-stacks/flamegraph/expected/perf-iperf-stacks-pidtid-01-collapsed-all.txt", "", 1, lastLost},
		{"public-stacks/flamegraph/perf-java-stacks-01.txt", "public-stacks/flamegraph/expected/perf-java-stacks-01-collapsed-all.txt", "", 1, lastLost},
		{"public-stacks/flamegraph/perf-js-stacks-01.txt", "public-stacks/flamegraph/expected/perf-js-stacks-01-collapsed-all.txt", "", 0, ""},
		{"public-stacks/flamegraph/perf-numa-stacks-01.txt", "public-stacks/flamegraph/expected/perf-numa-stacks-01-collapsed-all.txt", "", 1, lastLost},
		{"public-stacks/flamegraph/perf-cycles-instructions-01.txt", "public-stacks/flamegraph/expected/perf-cycles-instructions-01-collapsed-all.txt", "instructions", 0, ""},
		{"public-stacks/inferno/collapse-perf/go-stacks.txt", "public-stacks/inferno/collapse-perf/expected/go-stacks-collapsed.txt", "", 0, ""},
		{"public-stacks/inferno/collapse-perf/java-inline.txt", "public-stacks/inferno/collapse-perf/expected/java-inline-collapsed.txt", "", 0, ""},
		{"public-stacks/inferno/collapse-perf/single-line-stacks.txt", "public-stacks/inferno/collapse-perf/expected/single-line-stacks-collapsed.txt", "", 0, ""},
		{"public-stacks/inferno/collapse-perf/versioned-vmlinux.txt", "public-stacks/inferno/collapse-perf/expected/versioned-vmlinux-collapsed-kernel.txt", "", 0, ""},
		{"public-stacks/firefox/simple-perf.txt.gz", "public-stacks/firefox/expected/simple-perf.folded", "", 2, "the reference leaves out frames that begin with a parenthesis, such as (anonymous namespace)::f"},
		{"public-stacks/flamescope/perf.test01", "public-stacks/flamescope/expected/perf.test01.folded", "", 3, "the reference drops a frame whose object is damaged and the last sample"},
		{"public-stacks/speedscope/simple-with-pid.linux-perf.txt", "public-stacks/speedscope/expected/simple-with-pid.linux-perf.txt.folded", "", 0, ""},
		{"public-stacks/speedscope/system-wide.linux-perf.txt", "public-stacks/speedscope/expected/system-wide.linux-perf.txt.folded", "", 0, ""},
	} {
		t.Run(filepath.Base(c.text), func(t *testing.T) {
			p, _ := readPerf(t, shared.Read(t, shared.Path(t, filepath.Join("data", c.text))))
			got := stackcollapse(folded(t, p, Column{Event: c.event}))
			want := parseFolded(string(shared.Read(t, shared.Path(t, filepath.Join("data", c.expected)))))
			var differences []string
			for stack, count := range want {
				if got[stack] != count {
					differences = append(differences, fmt.Sprintf("want %s %s, got %q", stack, count, got[stack]))
				}
			}
			for stack, count := range got {
				if want[stack] == "" {
					differences = append(differences, fmt.Sprintf("got %s %s, which is not expected", stack, count))
				}
			}
			if len(differences) != c.differ {
				t.Errorf("%d stacks differ, expected %d %s:\n%s", len(differences), c.differ, c.why, strings.Join(differences, "\n"))
			}
		})
	}
}

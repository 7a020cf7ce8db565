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

// TestReferences compares with what stackcollapse-perf.pl prints for the same texts, where that is right.
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		text, expected string
	}{
		{"stacks/net-cpuclock.perf.txt", "stacks/net-cpuclock.folded"},
		{"stacks/iperf-client.perf.txt", "stacks/iperf-client.folded"},
		{"stacks/go-user.perf.txt", "stacks/go-user.folded"},
		{"stacks/diff-before-tcp.perf.txt", "stacks/diff-before-tcp.folded"},
		{"stacks/diff-after-udp.perf.txt", "stacks/diff-after-udp.folded"},
		{"stacks/variants/v0-default.perf.txt", "stacks/variants/v0-default.folded"},
		{"stacks/variants/v1-header-pidtid.perf.txt", "stacks/variants/v1-header-pidtid.folded"},
		{"stacks/variants/v2-ns-pid-misc.perf.txt", "stacks/variants/v2-ns-pid-misc.folded"},
		{"stacks/variants/v4-reltime-no-cpu.perf.txt", "stacks/variants/v4-reltime-no-cpu.folded"},
		{"stacks/variants/v5-srcline.perf.txt", "stacks/variants/v5-srcline.folded"},
		{"stacks/variants/v6-side-records.perf.txt", "stacks/variants/v6-side-records.folded"},
		{"stacks/variants/v9-max-stack-4.perf.txt", "stacks/variants/v9-max-stack-4.folded"},
		{"stacks/variants/v10-kernel-unresolved.perf.txt", "stacks/variants/v10-kernel-unresolved.folded"},
		{"stacks/variants/v11-crlf.perf.txt", "stacks/variants/v0-default.folded"},
		{"stacks/variants/v13-no-final-newline.perf.txt", "stacks/variants/v9-max-stack-4.folded"},
	} {
		t.Run(filepath.Base(c.text), func(t *testing.T) {
			p, _ := readPerf(t, shared.Read(t, shared.Path(t, filepath.Join("data", c.text))))
			got := stackcollapse(folded(t, p, Column{}))
			want := parseFolded(string(shared.Read(t, shared.Path(t, filepath.Join("data", c.expected)))))
			if list := differences(got, want); len(list) > 0 {
				t.Errorf("%d stacks differ:\n%s", len(list), strings.Join(list, "\n"))
			}
		})
	}
}

package flame

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nettrace/fixtures/shared"
	"nettrace/perf"
	"nettrace/source"
)

// TestPublicPairs compares each result that another project ships for its samples, or that its tool made of them, with
// what is read here. The stacks that differ, and why, are listed in docs/flame.md; nothing else may.
func TestPublicPairs(t *testing.T) {
	root := shared.Path(t, "data/public-stacks")
	listed := listedPairs(t)
	seen := map[string]bool{}
	compared := 0
	for _, pattern := range []string{"*/expected/*", "*/*/expected/*"} {
		paths, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range paths {
			pair, ok := publicPair(path)
			if !ok {
				continue // profile.String() dumps and differences have tests of their own
			}
			compared++
			seen[pair.sample] = true
			t.Run(strings.TrimPrefix(path, root+"/"), func(t *testing.T) {
				differences := pair.compare(t)
				if want := listed[pair.sample]; len(differences) != want {
					t.Errorf("%d stacks differ, docs/flame.md lists %d:\n%s", len(differences), want, strings.Join(differences, "\n"))
				}
			})
		}
	}
	for sample := range listed {
		if !seen[sample] {
			t.Errorf("docs/flame.md lists %q, which no pair is called", sample)
		}
	}
	if compared < 50 {
		t.Errorf("only %d pairs were there to compare", compared)
	}
}

// listedPairs reads the table of pairs that differ: sample, number of stacks, reason.
func listedPairs(t *testing.T) map[string]int {
	text, err := os.ReadFile(filepath.Join("..", "docs", "flame.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| public sample | stacks | why the other result is wrong |\n|---|---|---|\n")
	if !ok {
		t.Fatal("docs/flame.md has no table of the public samples that differ")
	}
	listed := map[string]int{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			break
		}
		n := 0
		fmt.Sscan(cells[1], &n)
		listed[strings.TrimSpace(cells[0])] = n
	}
	return listed
}

// pair is a sample and what another tool made of it with an option.
type pair struct{ input, expected, sample, option string }

func publicPair(expected string) (pair, bool) {
	folder, name := filepath.Dir(filepath.Dir(expected)), filepath.Base(expected)
	p := pair{expected: expected}
	switch {
	case strings.HasSuffix(name, ".string"), strings.Contains(expected, "diff-folded"):
		return p, false
	case strings.Contains(name, "-collapsed"):
		base, option, _ := strings.Cut(strings.TrimSuffix(name, ".txt"), "-collapsed")
		p.sample, p.option = base, strings.TrimPrefix(option, "-")
		p.input = filepath.Join(folder, base+".txt")
	case strings.HasSuffix(name, ".folded"):
		p.sample = strings.TrimSuffix(name, ".folded")
		p.input = filepath.Join(folder, p.sample)
		if matches, _ := filepath.Glob(p.input + ".txt.gz"); len(matches) == 1 {
			p.input = matches[0]
		}
	default:
		p.sample = strings.TrimSuffix(name, ".txt")
		p.input = filepath.Join(folder, name)
	}
	return p, true
}

// compare returns the stacks that are not the same on both sides.
func (p pair) compare(t *testing.T) []string {
	text := shared.Read(t, p.input)
	expected := string(shared.Read(t, p.expected))
	var got, want map[string]string
	switch {
	case perf.SniffScript(text) == source.Strong:
		profile, _ := readPerf(t, text)
		column := Column{}
		if len(profile.Events) > 1 { // the first one met wins there
			column.Event = profile.Events[0].Name
		}
		got, want = stackcollapse(p.foldedBy(t, profile, column)), parseFolded(addressMark.ReplaceAllString(expected, "$1"))
	case SniffPmcstat(text) == source.Strong:
		profile, _ := readText(t, ReadPmcstat, text)
		got, want = parseFolded(folded(t, profile, Column{})), parseFolded(expected)
	case SniffDTrace(text) == source.Strong:
		profile, _ := readText(t, ReadDTrace, text)
		got, want = parseFolded(folded(t, profile, Column{})), parseFolded(expected)
		if strings.Contains(p.expected, "inferno") { // which cuts arguments and hashes off names: depths and counts are left
			got, want = byDepth(got), byDepth(want)
		}
	case strings.Contains(p.input, "recursive"):
		profile, _ := readFolded(t, text)
		got, want = parseFolded(folded(t, profile.Select(Selection{MergeRecursion: true}), Column{})), parseFolded(expected)
	default:
		t.Fatalf("%s is not recognised", p.input)
	}
	return differences(got, want)
}

// addressMark is what stackcollapse-perf.pl --addrs puts behind functions without a name.
var addressMark = regexp.MustCompile(`(\[[^;\[\]]*) <[0-9a-f]+>`)

// foldedBy folds with the root that the option asks for: "comm-pid/tid".
func (p pair) foldedBy(t *testing.T, profile *Profile, c Column) string {
	if p.option != "pid" && p.option != "tid" {
		return folded(t, profile, c)
	}
	var b strings.Builder
	for line := range strings.Lines(folded(t, profile.By(Comm, PID, TID), c)) {
		frames := strings.Split(line, ";")
		root, pid, tid := frames[0], "?", ""
		for frames = frames[1:]; len(frames) > 0; frames = frames[1:] {
			if id, ok := strings.CutPrefix(frames[0], "pid "); ok {
				pid = id
			} else if id, ok := strings.CutPrefix(frames[0], "tid "); ok && p.option == "tid" {
				tid = "/" + id
			} else if !ok {
				break
			}
		}
		b.WriteString(strings.Join(append([]string{root + "-" + pid + tid}, frames...), ";"))
	}
	return b.String()
}

// byDepth counts stacks by their depths and counts.
func byDepth(stacks map[string]string) map[string]string {
	n := map[string]string{}
	for stack, count := range stacks {
		add(n, fmt.Sprintf("%d frames, count %s", strings.Count(stack, ";")+1, count), "1")
	}
	return n
}

func differences(got, want map[string]string) []string {
	var list []string
	for stack, count := range want {
		if got[stack] != count {
			list = append(list, fmt.Sprintf("want %s %s, got %q", stack, count, got[stack]))
		}
	}
	for stack, count := range got {
		if want[stack] == "" {
			list = append(list, fmt.Sprintf("got %s %s, which is not expected", stack, count))
		}
	}
	slices.Sort(list)
	return list
}

// TestPublicPprofDumps: the values of profiles in the old forms and of the protobuf add up to those that pprof's own tests
// expect of them, and no sample is missing.
func TestPublicPprofDumps(t *testing.T) {
	root := shared.Path(t, "data/public-stacks/pprof")
	paths, _ := filepath.Glob(filepath.Join(root, "expected", "*.string"))
	if len(paths) < 5 {
		t.Fatalf("%d profiles", len(paths))
	}
	for _, path := range paths {
		text := shared.Read(t, filepath.Join(root, strings.TrimSuffix(filepath.Base(path), ".string")))
		if SniffPprof(text) != source.Strong {
			t.Errorf("%s is not recognised", path)
			continue
		}
		p, _ := readBinary(t, ReadPprof, text)
		samples, period := expectedValues(string(shared.Read(t, path)))
		if e := p.Events[0]; len(p.Events) != 1 || e.Samples != samples || e.PeriodSum != period {
			t.Errorf("%s: %+v, want %d and %d", path, p.Events, samples, period)
		}
	}
}

// expectedValues adds up the two values of the samples in a dump of profile.String.
func expectedValues(dump string) (first, second int64) {
	_, rest, _ := strings.Cut(dump, "Samples:\n")
	rest, _, _ = strings.Cut(rest, "Locations\n")
	for line := range strings.Lines(rest) {
		var a, b int64
		if n, _ := fmt.Sscan(strings.ReplaceAll(line, ":", " "), &a, &b); n == 2 {
			first, second = first+a, second+b
		}
	}
	return first, second
}

// TestPublicDiff compares with what inferno makes of two folded texts, where it does not cut fractions off.
func TestPublicDiff(t *testing.T) {
	root := shared.Path(t, "data/public-stacks/inferno/diff-folded")
	base, _ := readFolded(t, shared.Read(t, filepath.Join(root, "before.txt")))
	other, _ := readFolded(t, shared.Read(t, filepath.Join(root, "after.txt")))
	d := diff(t, base, other, DiffOptions{})
	for name, scaled := range map[string]bool{"default.txt": false, "normalize.txt": true} {
		var b strings.Builder
		if err := d.WriteFolded(&b, scaled); err != nil {
			t.Fatal(err)
		}
		counts := func(text string) map[string]string {
			m := map[string]string{}
			for line := range strings.Lines(marks.ReplaceAllString(text, "")) {
				f := strings.Fields(line)
				before, after := 0., 0.
				fmt.Sscan(f[len(f)-2], &before)
				fmt.Sscan(f[len(f)-1], &after)
				m[strings.Join(f[:len(f)-2], " ")] = fmt.Sprint(int(before), int(after))
			}
			return m
		}
		if list := differences(counts(b.String()), counts(string(shared.Read(t, filepath.Join(root, "expected", name))))); len(list) > 0 {
			t.Errorf("%s:\n%s", name, strings.Join(list, "\n"))
		}
	}
}

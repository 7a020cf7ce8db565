package bench

import (
	"bytes"
	"strconv"
	"strings"

	"nettrace/source"
)

// Go's benchmark format (go.dev/design/14313-benchmark-format), which benchstat reads:
//
//	goos: linux
//	unit: Mb/s
//	BenchmarkTCP-8    1   10641.62 Mb/s   12 allocs/op
//
// Each pair of value and unit is a run of its own; units are kept as printed (benchstat turns ns/op into sec/op, MB/s
// into B/s). The lines "key: value" before are its settings. Unit lines, PASS, ok and FAIL are passed over.

// SniffGoBench recognises a line of results, or lines of settings that one follows.
func SniffGoBench(head []byte) source.Match {
	if len(head) == 0 || head[0] != 'B' && (head[0] < 'a' || head[0] > 'z') {
		return source.No
	}
	for n := 0; n < 16 && len(head) > 0; n++ {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		if goBenchLine(line) {
			return source.Strong
		}
		if key, _, ok := goBenchSetting(line); !ok || n == 0 && !knownGoBenchKey(key) {
			return source.No
		}
		head = rest
	}
	return source.No
}

// knownGoBenchKey reports whether a setting may begin an output: those that go test writes, and "unit".
func knownGoBenchKey(key string) bool {
	switch key {
	case "goos", "goarch", "pkg", "cpu", "unit", "toolchain", "commit":
		return true
	}
	return false
}

// goBenchLine reports whether a line is one of results.
func goBenchLine(line []byte) bool {
	name, ok := bytes.CutPrefix(line, []byte("Benchmark"))
	if !ok || len(name) > 0 && name[0] >= 'a' && name[0] <= 'z' {
		return false
	}
	words := bytes.Fields(line[:min(len(line), 400)])
	return len(words) >= 4 && kindOf(words[1]) == integer && kindOf(words[2]) != notNumber && kindOf(words[3]) == notNumber
}

// goBenchSetting reads "goos: linux": the key begins with a small letter and has no blank and no capital.
func goBenchSetting(line []byte) (key, value string, ok bool) {
	k, v, ok := strings.Cut(string(line[:min(len(line), 400)]), ":")
	if !ok || k == "" || k[0] < 'a' || k[0] > 'z' || strings.ContainsFunc(k, func(r rune) bool { return r == ' ' || r == '\t' || r >= 'A' && r <= 'Z' }) {
		return "", "", false
	}
	if v != "" && v[0] != ' ' && v[0] != '\t' {
		return "", "", false
	}
	return printable([]byte(k)), printable([]byte(strings.TrimSpace(v))), true
}

// maxGoBenchPairs bounds the pairs of value and unit in a line.
const maxGoBenchPairs = 64

// ReadGoBench reads one output. It enters into the ledger: incomplete-row, too-many-results.
func ReadGoBench(l *source.Lines, ledger *source.Ledger) ([]Run, error) {
	var runs []Run
	var settings []Setting
	begin := l.Pos()
	for l.Next() {
		line, pos := l.Bytes(), l.Pos()
		key, value, isSetting := goBenchSetting(line)
		switch {
		case goBenchLine(line):
			found := goBenchRuns(line, Run{Pos: pos, Group: begin.Offset, Tool: "go", Settings: settings})
			if len(found) == 0 {
				ledger.Add("incomplete-row", source.Warning, pos, 1, "a line of results without a value and its unit; it is left out")
			}
			if len(runs)+len(found) > maxRuns {
				ledger.Add("too-many-results", source.Warning, pos, 1, "more than 10,000 results in one output; the rest is left out")
				continue
			}
			runs = append(runs, found...)
		case isSetting && len(settings) < maxGoBenchPairs:
			settings = withSetting(settings, Setting{key, value})
		case !goBenchOther(line):
			l.Back()
			return runs, nil
		}
	}
	return runs, nil
}

// goBenchOther reports whether a line is one that go test writes around results.
func goBenchOther(line []byte) bool {
	for _, start := range [...]string{"PASS", "FAIL", "ok  ", "---", "Unit ", "Benchmark"} {
		if bytes.HasPrefix(line, []byte(start)) {
			return true
		}
	}
	return len(bytes.TrimSpace(line)) == 0
}

// withSetting returns the settings with one of them set anew; the old ones stay as they are.
func withSetting(settings []Setting, s Setting) []Setting {
	fresh := make([]Setting, 0, len(settings)+1)
	for _, old := range settings {
		if old.Name != s.Name {
			fresh = append(fresh, old)
		}
	}
	return append(fresh, s)
}

func goBenchRuns(line []byte, of Run) []Run {
	words := strings.Fields(string(line))
	of.Test = printable([]byte(strings.TrimPrefix(words[0], "Benchmark")))
	var runs []Run
	for i := 2; i+1 < len(words) && len(runs) < maxGoBenchPairs; i += 2 {
		v, err := strconv.ParseFloat(words[i], 64)
		if err != nil || v != v || v > maxNumber || v < -maxNumber {
			break
		}
		of.Rate, of.Unit = v, printable([]byte(words[i+1]))
		runs = append(runs, of)
	}
	return runs
}

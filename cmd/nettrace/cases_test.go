package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"nettrace/finding"
	"nettrace/fixtures/drive"
	"nettrace/fixtures/shared"
	"nettrace/report"
	"nettrace/tui"
)

// The collected cases are inputs rebuilt from public reports, each with an expected.md that says what must come out and what
// must not. Each has a story in testdata/cases that quotes these lines above what it asserts of them.

// TestCases runs the stories; each finds its case in the folder case.
func TestCases(t *testing.T) {
	cases := shared.Path(t, "cases")
	fixtures, err := filepath.Abs(filepath.Join(root, "fixtures"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "cases"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			name := strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")
			if err := os.Symlink(fixtures, filepath.Join(e.WorkDir, "fixtures")); err != nil {
				return err
			}
			return os.CopyFS(filepath.Join(e.WorkDir, "case"), os.DirFS(filepath.Join(cases, name)))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "value": value, "xml": xmlText, "shows": shows, "boxes": boxes, "elements": elements},
	})
}

// shows expects that the page of inputs, read again, and the explorer tell the findings that analyze tells: shows PATH...
func shows(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) == 0 {
		ts.Fatalf("usage: shows PATH...")
	}
	for i := range args {
		args[i] = ts.MkAbs(args[i]) // for the explorer, which runs here
	}
	findings := func(args ...string) (list []finding.Finding) {
		var r struct{ Findings []finding.Finding }
		ts.Check(ts.Exec("nettrace", append([]string{"analyze", "-o", "json"}, args...)...))
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &r))
		return r.Findings
	}
	want := findings(args...)
	ts.Check(ts.Exec("nettrace", append([]string{"report", "-o", "page.html"}, args...)...))
	if diff := cmp.Diff(want, findings("page.html")); diff != "" {
		ts.Fatalf("the page tells other findings (-analyze +page):\n%s", diff)
	}
	html := ts.ReadFile("page.html")
	for _, f := range want {
		if !strings.Contains(html, f.ID) {
			ts.Fatalf("the page does not show %s: %s", f.Rule, f.Summary)
		}
	}
	explored := explored(ts, args)
	if len(explored) != len(want) {
		ts.Fatalf("the explorer lists %d findings, analyze %d", len(explored), len(want))
	}
	for _, f := range want {
		if !slices.ContainsFunc(explored, func(row string) bool {
			return strings.Contains(row, fmt.Sprintf("%v ", f.Severity)) && strings.Contains(row, f.Rule+" on "+report.Clean(f.Subject.Name)) && strings.Contains(row, report.Clean(f.Summary))
		}) {
			ts.Fatalf("the explorer does not show %s: %s, but\n%s", f.Rule, f.Summary, strings.Join(explored, "\n"))
		}
	}
}

// explored walks down the explorer's findings; of each it returns the row and what is shown beside it, in one line.
func explored(ts *testscript.TestScript, paths []string) (list []string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d := drive.New(ts, tui.NewModel(ctx, tui.Options{Paths: paths, Predict: true, Theme: "dark"}))
	d.Start(400, 100)
	count := regexp.MustCompile(`findings \((\d+)\)|nothing found\.`)
	d.Until(func() bool { return count.MatchString(d.Screen()) })
	n, _ := strconv.Atoi(count.FindStringSubmatch(d.Screen())[1]) // of nothing 0
	for range n {
		var row, beside strings.Builder
		for line := range strings.Lines(d.Screen()) {
			left, right, _ := strings.Cut(line, "│")
			if strings.HasPrefix(left, "▸") {
				row.WriteString(left)
			}
			beside.WriteString(right)
		}
		list = append(list, strings.Join(strings.Fields(row.String()+beside.String()), " "))
		d.Type("down", func() {})
	}
	return list
}

// TestCasesAreQuoted fails for each line of a case that no story holds.
func TestCasesAreQuoted(t *testing.T) {
	cases := shared.Path(t, "cases")
	files, err := filepath.Glob(filepath.Join(cases, "*", "expected.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, f := range files {
		name := filepath.Base(filepath.Dir(f))
		story, err := os.ReadFile(filepath.Join("testdata", "cases", name+".txtar"))
		if err != nil {
			t.Errorf("no story is told of it: %v", err)
			continue
		}
		quoted := quotes(string(story))
		for _, line := range demands(string(shared.Read(t, f))) {
			if !quoted[line] {
				t.Errorf("%s: no assertion is quoted for %q", name, line)
			}
		}
	}
}

var (
	heading   = regexp.MustCompile(`^##+ (.*)$`)
	listItem  = regexp.MustCompile(`^(- |\d+\. )(.*)$`)
	separator = regexp.MustCompile(`^\|[-|]+\|$`)
	binding   = regexp.MustCompile(`^(Must|A:)`) // where a case offers A and B, A is the better one
)

// demands returns the lines that bind: list items and paragraphs, joined where they are broken, table rows, and the lines of
// code blocks.
func demands(expected string) (list []string) {
	binds, code, joins := false, false, false
	for _, line := range strings.Split(expected, "\n") {
		text := strings.TrimSpace(line)
		switch h := heading.FindStringSubmatch(line); {
		case h != nil:
			binds, joins = binding.MatchString(h[1]), false
		case !binds || separator.MatchString(text):
		case strings.HasPrefix(text, "```"):
			code, joins = !code, false
		case text == "":
			joins = false
		case code || text[0] == '|':
			list, joins = append(list, text), false
		case listItem.MatchString(line):
			list, joins = append(list, listItem.FindStringSubmatch(line)[2]), true
		case joins:
			list[len(list)-1] += " " + text
		default:
			list, joins = append(list, text), true
		}
	}
	return list
}

// quotes returns the comments of a story that stand above an assertion.
func quotes(story string) map[string]bool {
	quoted := map[string]bool{}
	var pending []string
	for line := range strings.Lines(story) {
		line = strings.TrimSpace(line)
		if quote, found := strings.CutPrefix(line, "# "); found {
			pending = append(pending, quote)
			continue
		}
		if asserts(line) {
			for _, q := range pending {
				quoted[q] = true
			}
		}
		if line == "" || asserts(line) {
			pending = nil
		}
	}
	return quoted
}

// asserts tells whether a line of a story can fail because of what the program printed.
func asserts(line string) bool {
	words := strings.Fields(strings.TrimPrefix(line, "! "))
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "value", "xml", "stdout", "stderr", "cmp", "cmpenv", "exits", "grep", "shows":
		return true
	}
	return strings.HasPrefix(line, "! exec ")
}

func TestQuotes(t *testing.T) {
	expected := "# Right outcome\n\n## Must\n\nAll of\nit:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n  more\n1. two\n\n```\ncode 3\n```\n\n## Why\n\n- because\n\n## B: other\n\n- no\n\n## Must not\n\n- lie\n"
	want := []string{"All of it:", "| a | b |", "| 1 | 2 |", "one more", "two", "code 3", "lie"}
	if diff := cmp.Diff(want, demands(expected)); diff != "" {
		t.Errorf("demands (-want +got):\n%s", diff)
	}
	got := quotes("# held\n# held too\nexec nettrace x\nstdout y\n# not held\nexec nettrace z\n\n# nor this\n")
	if diff := cmp.Diff(map[string]bool{"held": true, "held too": true}, got); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(asserts("exec nettrace x"), asserts("! exec nettrace x"), asserts("! stdout x")); got != "false true true" {
		t.Error(got)
	}
}

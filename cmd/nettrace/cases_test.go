package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"nettrace/finding"
	"nettrace/fixtures/shared"
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "value": value, "xml": xmlText, "page": page},
	})
}

// page expects the page of inputs, read again, to tell the findings that analyze tells: page PATH...
func page(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) == 0 {
		ts.Fatalf("usage: page PATH...")
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
}

// untold are the cases that have no story yet: tests in Go hold parts of what they ask for.
const untold = "01-perf-comm-spaces-brackets 02-perf-parens-in-symbols 03-perf-last-event-crlf 04-flamegraph-self-width-deep " +
	"18-softnet-cpu0-only 21-ethtool-ring-na 22-softnet-columns-offline 24-iperf3-json-defects 25-uperf-ops-not-mbps " +
	"26-svg-escaping 28-adaptive-rx-rr"

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
		if told := err == nil; told == slices.Contains(strings.Fields(untold), name) {
			t.Errorf("%s: has a story: %v", name, told)
		}
		if err != nil {
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
	case "value", "xml", "stdout", "stderr", "cmp", "cmpenv", "exits", "grep", "page":
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

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreeWaysOfUse follows README.md as a new user does: its three commands on one bundle all show the cause, and the
// pages of the stories that it leads to are there, one for each cause.
func TestThreeWaysOfUse(t *testing.T) {
	t.Chdir(root)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "report.html")
	ways := regexp.MustCompile(`(?m)^    nettrace (analyze|explore|report) (\S+)( -o \S+)?$`).FindAllStringSubmatch(string(readme), -1)
	if len(ways) != 3 {
		t.Fatalf("README.md has %d ways of use, expected analyze, explore and report", len(ways))
	}
	const cause = "adaptive interrupt moderation delays each request"
	for _, way := range ways {
		args := []string{way[1], way[2]}
		if way[3] != "" {
			args = append(args, "-o", page)
		}
		code, shown, stderr := command(t, nil, args...)
		if way[3] != "" {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			shown = string(text)
		}
		if code != exitDone || !strings.Contains(shown, cause) {
			t.Errorf("%s: exit %d, %q, and the cause is not shown", way[0], code, stderr)
		}
	}
	_, rules, _ := command(t, nil, "rules")
	index, err := os.ReadFile("docs/diagnosis.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range regexp.MustCompile(`(?m)^cross/(\S+)`).FindAllStringSubmatch(rules, -1) {
		story := "stories/" + rule[1] + ".md"
		if text, err := os.ReadFile(filepath.Join("docs", story)); err != nil || !strings.Contains(string(text), "cross/"+rule[1]) || !strings.Contains(string(index), "("+story+")") {
			t.Errorf("cross/%s has no page that docs/diagnosis.md leads to (%v)", rule[1], err)
		}
	}
}

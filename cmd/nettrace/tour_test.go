package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The pages in docs show what the program shows: a block that begins with "$ nettrace ..." holds the command's output, a
// block of the kind "screen FILE SIZE" the explorer's screen of that size in a golden file. With -update the blocks are
// written anew.
var (
	consoleBlock = regexp.MustCompile("(?s)```console\n\\$ (nettrace [^\n]*)\n(.*?)```")
	screenBlock  = regexp.MustCompile("(?s)```screen ([^\n]*)\n(.*?)```")
)

func TestDocsShowWhatTheProgramShows(t *testing.T) {
	t.Chdir(root)
	var pages []string
	for _, folder := range []string{"docs/*.md", "docs/stories/*.md"} {
		found, err := filepath.Glob(folder)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	blocks := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		fresh := consoleBlock.ReplaceAllStringFunc(string(text), func(block string) string {
			blocks++
			line := consoleBlock.FindStringSubmatch(block)[1]
			_, stdout, stderr := command(t, nil, words(line)[1:]...)
			return "```console\n$ " + line + "\n" + stdout + stderr + "```"
		})
		fresh = screenBlock.ReplaceAllStringFunc(fresh, func(block string) string {
			blocks++
			what := screenBlock.FindStringSubmatch(block)[1]
			return "```screen " + what + "\n" + screen(t, what) + "```"
		})
		if *update && fresh != string(text) {
			if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(fresh, string(text)); diff != "" {
			t.Errorf("%s shows something else than the program (-program +page); go test -update writes it anew:\n%s", page, diff)
		}
	}
	if blocks == 0 {
		t.Error("no page shows anything")
	}
}

// screen returns the screen that "FILE WIDTH x HEIGHT" names: the lines behind its size in the golden file.
func screen(t *testing.T, what string) string {
	t.Helper()
	file, size, _ := strings.Cut(what, " ")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut("\n"+string(text), "\n"+size+"\n")
	if !found {
		t.Fatalf("%s has no screen of %s", file, size)
	}
	var lines []string
	for line := range strings.Lines(rest) {
		if sizeLine.MatchString(line) {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// sizeLine begins a screen in a golden file.
var sizeLine = regexp.MustCompile(`^\d+ x \d+\n$`)

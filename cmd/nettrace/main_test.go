package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// root is the checkout, where examples are run.
const root = "../.."

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nettrace": func() { os.Exit(Main()) }})
}

// TestStories runs the user stories: commands, their output, streams and exit codes.
func TestStories(t *testing.T) {
	fixtures, err := filepath.Abs(filepath.Join(root, "fixtures"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("FIXTURES", fixtures)
			return os.Symlink(fixtures, filepath.Join(e.WorkDir, "fixtures"))
		},
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and expects its exit code: exits 2 nettrace analyze --no-such-flag.
func exits(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	var failure *exec.ExitError
	code := 0
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failure) {
		code = failure.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit status %d, expected %s", code, args[0])
	}
}

// command runs one command line in the checkout and returns its output.
func command(t *testing.T, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{stdin: stdin, piped: stdin != nil, stdout: bufio.NewWriter(&out), stderr: &errs}
	if stdin == nil {
		e.stdin = strings.NewReader("")
	}
	code = run(context.Background(), e, args)
	return code, out.String(), errs.String()
}

// TestExamples runs every example of --help.
func TestExamples(t *testing.T) {
	t.Chdir(root)
	tree := newRoot(&env{stdout: bufio.NewWriter(io.Discard)})
	for _, c := range append(tree.Commands(), tree) {
		if c.Hidden {
			continue
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			t.Run(strings.TrimSpace(line), func(t *testing.T) { example(t, strings.TrimSpace(line)) })
		}
	}
}

// example runs a line such as "cat x | nettrace analyze -" and expects it to print something and to succeed.
func example(t *testing.T, line string) {
	var stdin io.Reader
	if file, rest, piped := strings.Cut(line, " | "); piped {
		data, err := os.ReadFile(strings.TrimPrefix(file, "cat "))
		if err != nil {
			t.Fatal(err)
		}
		stdin, line = bytes.NewReader(data), rest
	}
	line, _, _ = strings.Cut(line, " > ")
	args := words(line)
	if len(args) < 2 || args[0] != "nettrace" {
		t.Fatalf("%q is no nettrace command", line)
	}
	if args[1] == "demo" {
		args[2] = filepath.Join(t.TempDir(), args[2])
	}
	product := false // a file is the product
	for i, arg := range args[:len(args)-1] {
		if (arg == "-o" || arg == "--write" || arg == "--plot") && strings.Contains(args[i+1], ".") {
			args[i+1] = filepath.Join(t.TempDir(), args[i+1])
			product = true
		}
	}
	code, stdout, stderr := command(t, stdin, args[1:]...)
	if code != exitDone || stdout == "" && !product {
		t.Errorf("exit %d, %d bytes of output, stderr %q", code, len(stdout), stderr)
	}
}

// words splits a command line at blanks outside of single quotes.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// TestDocumentedCommands runs the nettrace commands in README.md and docs/: indented lines, or lines of shell blocks,
// that begin with "nettrace" or "go run ./cmd/nettrace" and name no placeholder.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir(root)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			cmd, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
			cmd = strings.TrimPrefix(strings.TrimPrefix(cmd, "$ "), "go run ./cmd/")
			if !indented || !strings.HasPrefix(cmd, "nettrace ") || strings.ContainsAny(cmd, "<>") || strings.ToUpper(cmd) == cmd {
				continue
			}
			ran++
			t.Run(page+"/"+cmd, func(t *testing.T) { example(t, cmd) })
		}
	}
	if ran == 0 {
		t.Error("no documented command was found")
	}
}

// TestEveryCommandHasHelp guards what a user reads first.
func TestEveryCommandHasHelp(t *testing.T) {
	tree := newRoot(&env{stdout: bufio.NewWriter(io.Discard)})
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" && !c.Hidden {
			t.Errorf("%s has no short help", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(tree)
}

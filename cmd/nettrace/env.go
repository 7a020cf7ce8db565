package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/charmbracelet/x/term"

	"nettrace/report"
)

// env is what a command may use of the process: its streams and what is known of the terminal.
type env struct {
	stdin    io.Reader
	stdout   *bufio.Writer
	stderr   io.Writer
	terminal bool // stdout is one
	progress bool // stderr is a terminal: progress may be shown there
	piped    bool // stdin is none: it holds data
	width    int  // of the terminal, 0 if stdout is none
	now      func() time.Time
	colors   bool // the terminal's, unless NO_COLOR, TERM or a flag says otherwise
}

func newEnv(stdin, stdout, stderr *os.File, getenv func(string) string) *env {
	e := &env{stdin: stdin, stdout: bufio.NewWriterSize(stdout, 64<<10), stderr: stderr, now: time.Now}
	e.terminal = term.IsTerminal(stdout.Fd())
	e.progress = term.IsTerminal(stderr.Fd())
	info, err := stdin.Stat()
	e.piped = err == nil && info.Mode()&os.ModeCharDevice == 0 && (info.Mode()&os.ModeNamedPipe != 0 || info.Mode().IsRegular())
	if e.terminal {
		e.width = 100
		if width, _, err := term.GetSize(stdout.Fd()); err == nil && width > 0 {
			e.width = min(width, 120) // longer lines are hard to read
		}
		if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
			e.width = columns
		}
	}
	e.colors = e.terminal && getenv("TERM") != "dumb" && getenv("NO_COLOR") == ""
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		e.colors = true
	}
	return e
}

// style returns how text is printed, with --color (auto, always, never) taken into account.
func (e *env) style(color string, verbose bool) report.Style {
	s := report.Style{Width: e.width, Color: e.colors, Verbose: verbose}
	switch color {
	case "always":
		s.Color = true
	case "never":
		s.Color = false
	}
	return s
}

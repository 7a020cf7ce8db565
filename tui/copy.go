package tui

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// clip is something that can be copied.
type clip struct{ what, text string }

// commanded is implemented by pages that a command prints the same of as text.
type commanded interface{ Command() string }

// equivalent is the command that prints what is seen.
func (m *Model) equivalent() string {
	if p, ok := m.page().(commanded); ok {
		if c := p.Command(); c != "" {
			return c
		}
	}
	return m.analyzeCommand()
}

func (m *Model) analyzeCommand() string { return commandLine("analyze", m.options.Paths...) + " -v" }

// commandLine writes a command of the program as a shell takes it.
func commandLine(command string, words ...string) string {
	line := "nettrace " + command
	for _, w := range words {
		line += " " + Quoted(clean(w))
	}
	return line
}

// Quoted writes a word as a shell takes it.
func Quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[](){}<>|&;!#~") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// copy offers what can be copied here.
func (m *Model) copy() {
	clips := m.page().Copies()
	clips = append(clips, clip{"the command that prints this", m.equivalent()})
	title, do := "copy", m.copyOut
	if !takesCopies(m.options.Env) {
		title, do = "this terminal takes no copies: into a file", m.copyToFile
	}
	var items []item
	for i, c := range clips {
		key := ""
		switch {
		case i == len(clips)-1:
			key = "c"
		case i == 0:
			key = "y"
		case i < 10:
			key = strconv.Itoa(i)
		}
		items = append(items, item{key, c.what + ": " + oneLine(c.text), func() act { return do(c) }})
	}
	first := clips[0]
	items = append(items, item{"f", "into a file: " + first.what, func() act { return m.copyToFile(first) }})
	m.choose(title, items)
}

// oneLine is a text as far as a line shows it.
func oneLine(s string) string { return strings.Join(strings.Fields(s[:min(len(s), 400)]), " ") }

// copyOut puts a text into the clipboard of the terminal, which may be far away, and says what it was.
func (m *Model) copyOut(c clip) act {
	return act{
		say: fmt.Sprintf("copied %s (%s): %s", c.what, plural(len(c.text), "byte", "bytes"), oneLine(c.text)),
		cmd: clipboard(c.text, m.options.Env),
	}
}

func (m *Model) copyToFile(c clip) act {
	m.askFile(c.what, m.fileName("copy", ".txt"), func(w io.Writer) error {
		_, err := io.WriteString(w, c.text+"\n")
		return err
	})
	return act{}
}

// takesCopies reports whether a terminal may know OSC 52. The console of Linux (console_codes(4)) and Terminal of macOS do
// not; others that do not cannot be told apart, for which the menu offers a file.
func takesCopies(env []string) bool {
	return variable(env, "TERM") != "linux" && variable(env, "TERM_PROGRAM") != "Apple_Terminal"
}

// clipboard returns the command that sets the clipboard of the terminal (OSC 52). tmux and screen hand it on to the
// terminal only when it is wrapped for them; tmux takes it itself when it is not.
func clipboard(text string, env []string) tea.Cmd {
	set := ansi.SetSystemClipboard(text)
	switch {
	case variable(env, "TMUX") != "":
		return tea.Raw(set + ansi.TmuxPassthrough(set))
	case strings.HasPrefix(variable(env, "TERM"), "screen"):
		return tea.Raw(ansi.ScreenPassthrough(set, 0))
	default:
		return tea.Raw(set)
	}
}

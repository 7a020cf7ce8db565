package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"nettrace/source"
	"nettrace/unit"
)

// Widths below are those of the terminal: a wide character takes two columns, a combining one none.

// cut makes cleaned text fit into width columns; what does not fit is told by the mark.
func cut(s string, width int, more string) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width && plainASCII(s) {
		return s
	}
	return ansi.Truncate(s, width, more)
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

func widthOf(s string) int {
	if plainASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

const blanks = "                                                                                                                                "

func blank(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// fit cuts or fills text to exactly width columns.
func fit(s string, width int, more string) string {
	s = cut(s, width, more)
	return s + blank(width-widthOf(s))
}

// fitRight is fit with the text at the right.
func fitRight(s string, width int, more string) string {
	s = cut(s, width, more)
	return blank(width-widthOf(s)) + s
}

// wrap breaks text at blanks into lines of at most width columns; longer words are broken too.
func wrap(s string, width int) []string {
	if width < 1 {
		return nil
	}
	lines := strings.Split(ansi.Wrap(s, width, ""), "\n")
	for i, line := range lines { // a blank at the break may be one too many
		lines[i] = cut(strings.TrimRight(line, " "), width, "")
	}
	return lines
}

// clean is source.Clean: short, since every text of an input goes through it.
func clean(s string) string { return source.Clean(s) }

// exactly makes lines a block of the given size; lines hold styles, and none is wider than width already.
func exactly(lines []string, width, height int) []string {
	if len(lines) > height {
		lines = lines[:max(height, 0)]
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w < width {
			lines[i] = line + blank(width-w)
		}
	}
	for len(lines) < height {
		lines = append(lines, blank(width))
	}
	return lines
}

// beside joins two blocks of the same height.
func beside(left, right []string, between string) []string {
	for i := range left {
		left[i] += between + right[i]
	}
	return left
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// shifted leaves out the first columns of a text.
func shifted(s string, columns int) string {
	if plainASCII(s) {
		return s[min(columns, len(s)):]
	}
	return ansi.TruncateLeft(s, columns, "")
}

func count(n int) string { return unit.Count(int64(n)) }

// matches reports whether a text holds all words, without regard to case.
func matches(s, words string) bool {
	s = strings.ToLower(s)
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(s, word) {
			return false
		}
	}
	return true
}

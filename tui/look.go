package tui

import (
	"image/color"

	"charm.land/lipgloss/v2"

	"nettrace/finding"
	"nettrace/flame"
)

// look is how things are drawn: styles for one background, and the characters that lines and bars are made of. Colour
// never tells anything alone: severity has a letter and a word, what is selected a mark in front of it.
type look struct {
	plain, faint, bold, title lipgloss.Style
	here, away                lipgloss.Style // what is selected, in the pane that has the keys and in another
	good, bad                 lipgloss.Style
	match                     lipgloss.Style
	severity                  [4]lipgloss.Style
	kinds                     map[flame.Kind]lipgloss.Style
	grew, shrank              lipgloss.Style // boxes of a difference

	glyphs
	arranged map[string]*arrangement // by the names of a table's columns
}

// glyphs are the characters of drawings.
type glyphs struct {
	rule, bar, more, into, cursor, child, mark string
	levels                                     []rune // of a sparkline, from empty to full
	dot                                        string // between words of a line
}

func unicodeGlyphs() glyphs {
	return glyphs{rule: "─", bar: "│", more: "…", into: " › ", cursor: "▸", child: "└ ", mark: "●", levels: []rune("▁▂▃▄▅▆▇█"), dot: " · "}
}

func asciiGlyphs() glyphs {
	return glyphs{rule: "-", bar: "|", more: "~", into: " > ", cursor: ">", child: "` ", mark: "*", levels: []rune("_.-=+*%#"), dot: " - "}
}

// theme is what a look is made for.
type theme struct {
	dark     bool // the background
	contrast bool // as much of it as there can be
	ascii    bool
}

// shades are a colour for a dark background and one for a light one, both with a contrast of at least 4.5 to 1 there, then
// the same with at least 7 to 1 (WCAG 2.1, 1.4.3 and 1.4.6).
type shades struct{ dark, light, darkMore, lightMore string }

func (t theme) of(s shades) color.Color {
	switch {
	case t.contrast && t.dark:
		return lipgloss.Color(s.darkMore)
	case t.contrast:
		return lipgloss.Color(s.lightMore)
	case t.dark:
		return lipgloss.Color(s.dark)
	}
	return lipgloss.Color(s.light)
}

func newLook(t theme) *look {
	style := lipgloss.NewStyle().Inline(true)
	fg := func(s shades) lipgloss.Style { return style.Foreground(t.of(s)) }
	// Texts on coloured boxes are black on a dark screen's bright boxes, and on a light screen's pale ones.
	box := func(dark, light string) lipgloss.Style {
		return style.Background(t.of(shades{dark, light, light, light})).Foreground(lipgloss.Color("#000000"))
	}
	l := &look{
		plain: style,
		faint: fg(shades{"#9a9a9a", "#666666", "#ffffff", "#000000"}),
		bold:  style.Bold(true),
		title: fg(shades{"#7cc7ff", "#005a9c", "#80ffff", "#0000a0"}).Bold(true),
		here:  style.Reverse(true),
		away:  style.Bold(true),
		good:  fg(shades{"#7fd18b", "#1a6b2b", "#80ff80", "#004d00"}),
		bad:   fg(shades{"#ffb454", "#8a4b00", "#ffd000", "#7a0000"}),
		match: style.Bold(true).Underline(true),
		severity: [4]lipgloss.Style{
			finding.Info:     fg(shades{"#b0b0b0", "#5a5a5a", "#ffffff", "#000000"}),
			finding.Notice:   fg(shades{"#6fd3e8", "#00647a", "#80ffff", "#003a66"}),
			finding.Warning:  fg(shades{"#ffc14d", "#7d5000", "#ffff60", "#5c3300"}),
			finding.Critical: fg(shades{"#ff7b7b", "#b00020", "#ffa0a0", "#8a0000"}).Bold(true),
		},
		kinds: map[flame.Kind]lipgloss.Style{
			flame.User:   box("#6aa5e0", "#a9cdf2"),
			flame.Kernel: box("#e8935a", "#f5c09a"),
			flame.Module: box("#d9b945", "#ecd98a"),
			flame.JIT:    box("#63c2a5", "#a5e0cd"),
			flame.Thread: box("#a594d6", "#cfc3ee"),
			flame.Marker: box("#b0b0b0", "#d5d5d5"),
			flame.Rest:   box("#8f8f8f", "#c4c4c4"),
		},
		grew: box("#e8935a", "#f5c09a"), shrank: box("#6aa5e0", "#a9cdf2"), // apart for eyes that tell red from green badly
		glyphs:   unicodeGlyphs(),
		arranged: map[string]*arrangement{},
	}
	if t.ascii {
		l.glyphs = asciiGlyphs()
	}
	return l
}

// change takes other styles; what the user arranged stays.
func (l *look) change(t theme) {
	arranged := l.arranged
	*l = *newLook(t)
	l.arranged = arranged
}

// severityWord is how a severity is told everywhere: its letter, so that a column of them can be skimmed, and the word.
func severityWord(s finding.Severity) string {
	word := s.String()
	return string(word[0]-'a'+'A') + " " + word
}

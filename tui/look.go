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

	glyphs
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

// shades are a colour for a dark background and one for a light one; both have a contrast of at least 4.5 to 1 there.
type shades struct{ onDark, onLight string }

func newLook(dark, ascii bool) *look {
	of := func(s shades) color.Color {
		if dark {
			return lipgloss.Color(s.onDark)
		}
		return lipgloss.Color(s.onLight)
	}
	style := lipgloss.NewStyle().Inline(true)
	fg := func(s shades) lipgloss.Style { return style.Foreground(of(s)) }
	// Texts on coloured boxes are black on a dark screen's bright boxes, and on a light screen's pale ones.
	box := func(s shades) lipgloss.Style { return style.Background(of(s)).Foreground(lipgloss.Color("#000000")) }
	l := &look{
		plain: style,
		faint: fg(shades{"#9a9a9a", "#666666"}),
		bold:  style.Bold(true),
		title: fg(shades{"#7cc7ff", "#005a9c"}).Bold(true),
		here:  style.Reverse(true),
		away:  style.Bold(true),
		good:  fg(shades{"#7fd18b", "#1a6b2b"}),
		bad:   fg(shades{"#ffb454", "#8a4b00"}),
		match: style.Bold(true).Underline(true),
		severity: [4]lipgloss.Style{
			finding.Info:     fg(shades{"#b0b0b0", "#5a5a5a"}),
			finding.Notice:   fg(shades{"#6fd3e8", "#00647a"}),
			finding.Warning:  fg(shades{"#ffc14d", "#7d5000"}),
			finding.Critical: fg(shades{"#ff7b7b", "#b00020"}).Bold(true),
		},
		kinds: map[flame.Kind]lipgloss.Style{
			flame.User:   box(shades{"#6aa5e0", "#a9cdf2"}),
			flame.Kernel: box(shades{"#e8935a", "#f5c09a"}),
			flame.Module: box(shades{"#d9b945", "#ecd98a"}),
			flame.JIT:    box(shades{"#63c2a5", "#a5e0cd"}),
			flame.Thread: box(shades{"#a594d6", "#cfc3ee"}),
			flame.Marker: box(shades{"#b0b0b0", "#d5d5d5"}),
			flame.Rest:   box(shades{"#8f8f8f", "#c4c4c4"}),
		},
		glyphs: unicodeGlyphs(),
	}
	if ascii {
		l.glyphs = asciiGlyphs()
	}
	return l
}

// severityWord is how a severity is told everywhere: its letter, so that a column of them can be skimmed, and the word.
func severityWord(s finding.Severity) string {
	word := s.String()
	return string(word[0]-'a'+'A') + " " + word
}

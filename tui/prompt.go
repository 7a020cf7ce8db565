package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// prompt is a line that is typed: a filter, a command, the name of a file.
type prompt struct {
	sign     string // in front of the text
	edit     edit
	err      error                      // why the text is not understood
	changed  func(text string) error    // is told of each change; nil if only the whole text counts
	entered  func(text string) act      // Enter was pressed on a text that is understood
	left     func()                     // Esc was pressed; may be nil
	hint     func() string              // what may be typed
	complete func(text string) []string // what the text may become; nil where Tab is Enter
	offered  []string                   // of several completions, those that were found
}

// newFilterPrompt is the filter of a page while it is typed. The list follows each key; a text that cannot be understood is
// told and leaves the list as it is.
func newFilterPrompt(p filtering) *prompt {
	before := p.FilterText()
	return &prompt{
		sign: "/", edit: edit{before, len(before)}, changed: p.Filter, hint: p.FilterHint,
		entered: func(string) act { return act{} },
		left:    func() { _ = p.Filter(before) }, // it was understood then
	}
}

// Press takes a key; done says that the prompt ends.
func (p *prompt) Press(key tea.Key) (a act, done bool) {
	name := key.String()
	switch {
	case name == "tab" && p.complete != nil:
		p.completed()
		return act{}, false
	case name == "enter", p.complete == nil && (name == "tab" || name == "down"):
		if p.err != nil {
			return act{}, false
		}
		return p.entered(p.edit.text), true
	case name == "esc", name == "ctrl+c":
		if p.left != nil {
			p.left()
		}
		return act{}, true
	case p.edit.Press(key):
		p.follow()
	}
	return act{}, false
}

// Paste inserts text as if it was typed.
func (p *prompt) Paste(text string) {
	p.edit.Insert(text)
	p.follow()
}

func (p *prompt) follow() {
	p.offered = nil
	if p.changed != nil {
		p.err = p.changed(p.edit.text)
	}
}

// completed makes the text as long as all completions have it in common, and offers them if there are several.
func (p *prompt) completed() {
	found := p.complete(p.edit.text)
	if len(found) == 0 {
		return
	}
	common := found[0]
	for _, f := range found[1:] {
		n := 0
		for n < min(len(common), len(f)) && common[n] == f[n] {
			n++
		}
		common = strings.ToValidUTF8(common[:n], "")
	}
	if len(common) > len(p.edit.text) {
		p.edit = edit{common, len(common)}
		p.follow()
	}
	if len(found) > 1 {
		p.offered = found
	}
}

// Render draws the prompt: its sign, the text, and a mark that tells whether it is understood, with a hint.
func (p *prompt) Render(l *look, width int) string {
	room := max(width*2/5, 20)
	if p.complete != nil {
		room = max(width/2, 20)
	}
	line := l.bold.Render(p.sign) + fit(p.edit.Render(l, room), room, "")
	rest := width - room - widthOf(p.sign) - 1
	switch {
	case p.err != nil:
		return line + " " + l.bad.Render(fit("! "+clean(p.err.Error()), rest, l.more))
	case len(p.offered) > 0:
		return line + " " + l.faint.Render(fit(clean(strings.Join(p.offered, "  ")), rest, l.more))
	default:
		return line + " " + l.faint.Render(fit("ok  "+p.hint(), rest, l.more))
	}
}

package tui

import tea "charm.land/bubbletea/v2"

// prompt is the filter of a page while it is typed. The list follows each key; a text that cannot be understood is told
// and leaves the list as it is.
type prompt struct {
	page   filtering
	before string // the filter that Esc goes back to
	edit   edit
	err    error
}

func newPrompt(p filtering) *prompt {
	text := p.FilterText()
	return &prompt{page: p, before: text, edit: edit{text, len(text)}}
}

// Press takes a key; done says that the prompt ends.
func (p *prompt) Press(key tea.Key) (done bool) {
	switch key.String() {
	case "enter", "tab", "down":
		return p.err == nil
	case "esc", "ctrl+c":
		p.err = p.page.Filter(p.before)
		return true
	}
	if p.edit.Press(key) {
		p.err = p.page.Filter(p.edit.text)
	}
	return false
}

// Paste inserts text as if it was typed.
func (p *prompt) Paste(text string) {
	p.edit.Insert(text)
	p.err = p.page.Filter(p.edit.text)
}

// Render draws the prompt: a mark that tells whether the text is understood, the text, and a hint.
func (p *prompt) Render(l *look, width int) string {
	room := max(width*2/5, 20)
	line := l.bold.Render("/") + fit(p.edit.Render(l, room), room, "")
	rest := width - room - 2
	if p.err != nil {
		return line + " " + l.bad.Render(fit("! "+clean(p.err.Error()), rest, l.more))
	}
	return line + " " + l.faint.Render(fit("ok  "+p.page.FilterHint(), rest, l.more))
}

package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
)

// readingPage stands for a screen until everything is read. On the home screen it shows the first packets meanwhile.
type readingPage struct {
	split
	name    string
	words   *document
	packets *packetList
}

func newReadingPage(l *look, name string, paths []string) *readingPage {
	p := &readingPage{name: name, words: &document{look: l}}
	p.words.Set("reading", []paragraph{
		{text: "Reading " + clean(strings.Join(paths, " ")) + "."},
		{text: "Findings come when all is read; the corner below tells how far it is. Ctrl-C ends the reading: what was read until then is judged."},
	})
	p.split = newSplit(l, 30, p.words)
	return p
}

// preview shows the first packets of a capture below the words.
func (p *readingPage) preview(c *capture) {
	p.packets = newPacketList(p.look, c, 0)
	p.packets.table.title = "first packets of " + c.name()
	p.split = newSplit(p.look, 30, p.words, p.packets.table)
	p.focus = 1
}

// Name implements page.
func (p *readingPage) Name() string { return p.name }

func (p *readingPage) panes() *split { return &p.split }

// Keys implements page.
func (p *readingPage) Keys() []binding {
	return []binding{openKey("open the packet"), {"ctrl+c", "end reading", "end the reading and judge what was read"}, {"1 to 8", "screens", "screens"}}
}

// Press implements page.
func (p *readingPage) Press(string) (act, bool) { return act{}, false }

// Enter implements page.
func (p *readingPage) Enter() act {
	if p.packets == nil || p.packets.Record() == 0 {
		return say("there is nothing to open yet")
	}
	return act{push: newPacketPage(p.look, p.packets, p.packets.Record())}
}

// Copies implements page.
func (p *readingPage) Copies() []clip { return nil }

// Note implements page.
func (p *readingPage) Note() string {
	if p.packets == nil {
		return ""
	}
	return p.packets.Note()
}

// Want implements wanting.
func (p *readingPage) Want() tea.Cmd {
	if p.packets == nil {
		return nil
	}
	return p.packets.Want()
}

// absentPage stands for a screen without data: it says why there is none, and how to record it.
type absentPage struct {
	split
	name  string
	words *document
}

func newAbsentPage(l *look, name, why string, kinds ...analyze.Kind) *absentPage {
	p := &absentPage{name: name, words: &document{look: l}}
	list := []paragraph{{text: why}, {}, {text: "Any of these brings it:"}}
	for _, f := range analyze.Formats() {
		for _, k := range kinds {
			if f.Kind == k {
				list = append(list, paragraph{text: "  " + f.Record, style: &l.bold, plain: true})
			}
		}
	}
	list = append(list, paragraph{}, paragraph{text: "nettrace formats lists all that is read, with what each brings."})
	p.words.Set("nothing to show", list)
	p.split = newSplit(l, 100, p.words)
	return p
}

// Name implements page.
func (p *absentPage) Name() string { return p.name }

func (p *absentPage) panes() *split { return &p.split }

// Keys implements page.
func (p *absentPage) Keys() []binding {
	return []binding{{"1 to 8", "screens", "screens"}, {"q", "quit", "quit"}}
}

// Press implements page.
func (p *absentPage) Press(string) (act, bool) { return act{}, false }

// Enter implements page.
func (p *absentPage) Enter() act { return say("there is nothing here to open") }

// Copies implements page.
func (p *absentPage) Copies() []clip { return nil }

// Note implements page.
func (p *absentPage) Note() string { return "" }

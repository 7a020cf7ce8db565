package tui

import (
	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
)

// previewed shows the first packets of a capture while everything is still being read.
func (m *Model) previewed(msg previewMsg) tea.Cmd {
	if msg.file == nil || msg.file.Extent().Records == 0 {
		return nil
	}
	c := m.library.capture(msg.file.Path())
	if c.file != nil && c.extent.Records >= msg.file.Extent().Records {
		return nil // of the same pipe, told late
	}
	first := c.file == nil
	cmd := c.adopt(msg.file)
	c.keep(msg.rows)
	if !first || !m.reading {
		return cmd
	}
	if p, ok := m.screens[findingsScreen].pages[0].(*readingPage); ok {
		p.preview(c)
	}
	m.screens[packetsScreen].pages[0] = newPacketsPage(m.look, c, 0)
	return cmd
}

// show fills the screens with a result. Where the user went deeper meanwhile, only the top level below is exchanged.
func (m *Model) show(msg resultMsg) {
	m.reading, m.result, m.errs = false, msg.result, msg.errs
	if m.stopped {
		m.said = "the reading was ended; this is what was learnt until then"
	}
	m.library.cite(m.result.Findings)
	m.library.names = m.result.ShortNames()
	x := m.explorer()
	for i, p := range m.topPages(x) {
		s := &m.screens[i]
		_, preview := s.pages[0].(*packetsPage)
		switch {
		case i == packetsScreen && preview && m.current == packetsScreen:
			if _, list := p.(*capturesPage); list { // the user looks at packets: the list of captures goes above them
				s.pages = append([]page{p}, s.pages...)
			}
		default:
			s.pages[0] = p
		}
	}
	m.history = history{} // its pages are those of the reading
	m.history.note(m.place())
}

func (m *Model) explorer() *explorer {
	return &explorer{look: m.look, result: m.result, names: m.library.names, library: m.library, paths: m.options.Paths}
}

// topPages makes the top level of each screen.
func (m *Model) topPages(x *explorer) [screenCount]page {
	models := &x.result.Models
	name := screenNames()
	pages := [screenCount]page{findingsScreen: newFindingsPage(x), sourcesScreen: newSourcesPage(x, m.errs)}
	absent := func(screen int, why string, kinds ...analyze.Kind) {
		pages[screen] = newAbsentPage(m.look, name[screen], why, kinds...)
	}
	if len(models.Captures) > 0 {
		pages[flowsScreen] = newFlowsPage(x)
	} else {
		absent(flowsScreen, "No capture is among the sources, so no connections are known.", analyze.Capture)
	}
	pages[packetsScreen] = m.packetsTop(x)
	pages[replayScreen] = newReplayPage(x) // has workloads of its own
	if len(models.Locks) > 0 {
		pages[locksScreen] = newLocksPage(x)
	} else {
		absent(locksScreen, "No lock statistics are among the sources.", analyze.Locks)
	}
	if len(models.Profiles) > 0 {
		pages[stacksScreen] = newStacksTop(x)
	} else {
		absent(stacksScreen, "No stack samples are among the sources.", analyze.Stacks)
	}
	if len(models.Hosts) > 0 {
		pages[countersScreen] = newCountersPage(x)
	} else {
		absent(countersScreen, "No counters, interrupt counts or settings are among the sources.", analyze.Settings, analyze.Counters, analyze.Interrupts)
	}
	return pages
}

// packetsTop is the list of packets of the one capture, or of the captures.
func (m *Model) packetsTop(x *explorer) page {
	var captures []*analyze.Source
	for i := range x.result.Sources {
		if s := &x.result.Sources[i]; s.Kind == analyze.Capture {
			captures = append(captures, s)
		}
	}
	switch len(captures) {
	case 0:
		return newAbsentPage(m.look, "Packets", "No capture is among the sources.", analyze.Capture)
	case 1:
		return newPacketsPage(m.look, m.library.capture(captures[0].Path), 0)
	default:
		return newCapturesPage(m.look, m.library, captures)
	}
}

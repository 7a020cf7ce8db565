package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"nettrace/unit"
)

func TestConnectionOverTime(t *testing.T) {
	root(t)
	d := start(t, 100, 30, "fixtures/pcap/loss-queue-sender.pcap").press("2", "t")
	d.shows("connection 1 over time", "R sent again (", "s SACK (", "ack", "⡇")
	pane := d.m.page().(*sequencePage).plot
	whole := pane.to - pane.from
	d.press("n")
	first := pane.at().record
	if pane.at().mark == nil {
		t.Fatalf("n goes to packet %d, which has no mark", first)
	}
	d.press("+", "+", "+")
	if got := pane.to - pane.from; got >= whole/4 || pane.at().time < pane.from || pane.at().time > pane.to {
		t.Errorf("zoomed from %v to %v, %v to %v with the cursor at %v", whole, got, pane.from, pane.to, pane.at().time)
	}
	from := pane.from
	if d.press("right"); pane.from <= from {
		t.Error("right stays")
	}
	d.press("left", "a")
	if pane.to-pane.from != whole {
		t.Errorf("a shows %v of %v", pane.to-pane.from, whole)
	}
	d.press("n", "N")
	if pane.at().record != first {
		t.Errorf("n N leads from packet %d to %d", first, pane.at().record)
	}
	d.press("v").shows("win")
	d.press("w").shows("connection 1 of", "what is seen of it").press("esc")
	d.press("y").shows(fmt.Sprintf("packet %d", first)).press("esc")
	if got := d.m.equivalent(); got != "nettrace flows fixtures/pcap/loss-queue-sender.pcap --series 1 -o csv" {
		t.Errorf("the command is %s", got)
	}
	d.press("r").shows("server > client").press("r")
	d.press("enter")
	if got := d.m.page().(*packetsPage).packets.Record(); got != first {
		t.Errorf("enter leads to packet %d, want %d", got, first)
	}
	d.press("t").shows("over time")
	if got := d.m.page().(*sequencePage).plot.at().record; got != first {
		t.Errorf("t begins at packet %d, want %d", got, first)
	}
}

// TestPlotInASCII draws without other characters.
func TestPlotInASCII(t *testing.T) {
	root(t)
	d := newDriver(t, Options{Paths: []string{"fixtures/pcap/loss-queue-sender.pcap"}, Theme: "dark", ASCII: true})
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.send(d.m.analyse()())
	d.press("2", "t").shows("R sent again (", "|", "ack")
	for _, r := range d.screen() {
		if r > 0x7e {
			t.Fatalf("%q on the screen:\n%s", r, d.screen())
		}
	}
}

// TestPlotIsBounded thins a long connection; packets with marks stay as long as they are few.
func TestPlotIsBounded(t *testing.T) {
	marks := plotMarks()
	d := &sequenceData{every: 1}
	for i := range 10 * maxPlotted {
		p := plotted{time: unit.Nanos(i), record: int64(i) + 1, payload: 1}
		if i%(maxPlotted/10) == 1 {
			p.mark = &marks[0]
		}
		d.add(p)
	}
	marked := 0
	for i := range d.points {
		if d.points[i].mark != nil {
			marked++
		}
	}
	if len(d.points) > maxPlotted || d.every < 10 || marked != 101 && marked != 100 {
		t.Errorf("%d points, one in %d, %d marked", len(d.points), d.every, marked)
	}
	d = &sequenceData{every: 1}
	for i := range 4 * maxPlotted {
		d.add(plotted{record: int64(i), mark: &marks[0]})
	}
	if len(d.points) > maxPlotted {
		t.Errorf("%d marked points", len(d.points))
	}
}

func TestCanvas(t *testing.T) {
	l := newLook(theme{dark: true})
	k, high := &ink{1, '-', nil}, &ink{2, '|', nil}
	c := newCanvas(2, 1, false)
	c.across(0, 3, 0, k)
	c.down(0, -5, 99, k)
	if got := strings.Join(c.lines(), "/"); got != "⡏⠉" {
		t.Errorf("%q", got)
	}
	c = newCanvas(2, 1, true)
	c.across(-3, 99, 0, k)
	c.down(0, 3, 0, high)
	c.write(2, 0, "AB", k)
	if got := strings.Join(c.lines(), "/"); got != "|A" {
		t.Errorf("%q with %s", got, l.dot)
	}
}

func TestCompareIncidents(t *testing.T) {
	root(t)
	d := start(t, 120, 40, bundle).press("5", "d").shows("compare with: ")
	d.press("fixtures/bundles/tag-race", "enter").shows("%", "compared", "= chance")
	page := d.m.page().(*stacksPage)
	if page.diff == nil {
		t.Fatal("d on a flame graph shows no difference")
	}
	d.press("down").shows("before ", ", after ")
	d.press("d").shows("this is the difference already").press("E").shows("a difference is of one event")
	d.press("1", "d").shows("what changed since fixtures/bundles/tag-race", "cross/adaptive-rx").press("enter").shows("evidence (")
	d.press("esc")
	if got := d.m.equivalent(); got != "nettrace compare fixtures/bundles/tag-race "+bundle {
		t.Errorf("the command is %s", got)
	}
	d.press("/", "part:gone", "enter").shows("gone").press("enter").shows("evidence (")
	d.press(":", "compare nowhere", "enter").shows("nowhere: no such file")
}

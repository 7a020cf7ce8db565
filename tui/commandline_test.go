package tui

import (
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	root(t)
	d := start(t, 120, 30, bundle)
	d.press(":", "fl").shows(":fl", "ok  Tab completes").press("tab").shows("flows", "flame")
	d.press("ows rtt>1us", "enter").shows("[2 Flows]", "/rtt>1us")
	d.press(":", "nosuch").shows("! no command is called nosuch").press("enter").shows(":nosuch").press("esc").lacks(":nosuch")
	d.press(":", "packets", "enter").shows("[3 Packets]")
	d.press(":", "explain cross/adap", "tab", "enter").shows("cross/adaptive-rx", "what", "how")
	d.press(":", "explain nothing", "enter").shows("no rule is called nothing; the nearest is")
	d.press(":", "replay send", "tab", "enter").shows("[8 Replay]") // send and senders: not told apart
	d.press(":", "replay senders", "enter").shows("senders", "discipline")
	d.press(":", "inspect", "enter", ":", "12", "enter")
	if row, _ := d.m.list().Selected(); row != 11 {
		t.Errorf(":12 goes to row %d", row+1)
	}
	for _, c := range commands() {
		d.press(":", c.name, "enter")
		if strings.Contains(d.m.said, "may be") || strings.Contains(d.m.said, "no command") {
			t.Errorf(":%s: %s", c.name, d.m.said)
		}
		if d.m.prompt != nil {
			d.press("esc")
		}
	}
}

func TestHistory(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle)
	d.press("[").shows("this is where you began")
	d.press("enter", "enter", "2", "enter")
	deepest := d.m.breadcrumb()
	var seen []string
	for range 4 {
		seen = append(seen, d.press("[").m.breadcrumb())
	}
	if seen[0] != "Flows" || !strings.HasPrefix(seen[1], "Findings › cross/adaptive-rx › ") || seen[2] != "Findings › cross/adaptive-rx" || seen[3] != "Findings" {
		t.Errorf("back through %q", seen)
	}
	d.press("]", "]", "]", "]")
	if got := d.m.breadcrumb(); got != deepest {
		t.Errorf("forth again to %q, want %q", got, deepest)
	}
	d.press("]").shows("this is where you were last")
	d.press("[", "7", "]").shows("this is where you were last") // what was ahead is forgotten
}

func TestMarksAndCounts(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle)
	d.press("'").shows("no mark is set")
	d.press("3", "end", "enter", "down", "down", "m", "a").shows("mark a set")
	d.press("1", "'", "b").shows("no mark is called b").press("'", "a")
	if p, ok := d.m.page().(*packetsPage); !ok || p.packets.Record() != 3 {
		t.Fatalf("the mark leads to %s", d.m.breadcrumb())
	}
	d.press("12G")
	if p, ok := d.m.page().(*packetsPage); !ok || p.packets.Record() != 12 {
		t.Errorf("12G leads to %s, %q", d.m.breadcrumb(), d.line())
	}
	d.press("05j")
	if got := d.m.page().(*packetsPage).packets.Record(); got != 17 {
		t.Errorf("05j leads to packet %d, want 17", got)
	}
	d.press("7", "04j")
	if row, _ := d.m.list().Selected(); row != 4 {
		t.Errorf("04j leads to row %d", row)
	}
	d.press("7", "G") // one digit is a screen
	if d.m.current != sourcesScreen {
		t.Errorf("7 G leads to %s", d.m.breadcrumb())
	}
	d.press("9").shows("there are 8 screens")
	d.press("m", "1").shows("a mark is a letter")
}

func TestColumnsAreRemembered(t *testing.T) {
	root(t)
	d := start(t, 200, 40, bundle).press("2").shows("  length  ")
	d.press("c", "down", "down", "down", "down", "space", "enter").lacks("  length  ")
	d.press("c", "end", "esc").press(">", "S").shows("by conn")
	d.press("7", "c", "enter", "2").lacks("  length  ").shows("by conn")
	d.press("c", "r", "enter").shows("  length  ")
	d.press("c", "right", "enter")
	if client, conn := strings.Index(d.screen(), "client"), strings.Index(d.screen(), "conn  "); client > conn {
		t.Errorf("conn did not move behind client:\n%s", d.screen())
	}
	d.press("5", "c").shows("this screen has no columns")
}

func TestSearchInAText(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle).press("enter", "enter", "n").shows("/ searches")
	d.press("/", "4345", "enter").shows("/4345: ")
	first := d.line()
	if !strings.Contains(first, "4345") {
		t.Errorf("the search is at %q", first)
	}
	if d.press("n"); d.line() == first || !strings.Contains(d.line(), "4345") {
		t.Errorf("n went to %q", d.line())
	}
	if d.press("N"); d.line() != first {
		t.Errorf("N went to %q, want %q", d.line(), first)
	}
}

package tui

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/fixtures/drive"
)

// TestProofInFiveKeys goes from the start to the packet that proves the first finding, and on to its bytes.
func TestProofInFiveKeys(t *testing.T) {
	root(t)
	for _, size := range [][2]int{{80, 24}, {200, 60}, {60, 16}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			d := start(t, size[0], size[1], bundle)
			first := d.m.result.Findings[0]
			d.shows("C critical", first.Rule)
			d.press("p", "n").shows("tail-visible", "gso3-receiver.pcap #1")
			if line := d.line(); !strings.HasPrefix(line, "▸●") || !strings.Contains(line, " 6 ") {
				t.Errorf("the selected packet is %q, want evidence #6", line)
			}
			d.press("enter").shows("packet 6", "fields", "tail-visible")
			d.press("esc", "esc").shows("findings (")
		})
	}
}

// TestKeysFasterThanTheFile presses the keys of the proof before the capture is open.
func TestKeysFasterThanTheFile(t *testing.T) {
	root(t)
	d := start(t, 80, 24, bundle)
	d.press2("p", "n", "enter")
	d.settle()
	d.shows("packet 6", "tail-visible")
}

// TestEnterDownEscUp walks every screen down to its end and up again.
func TestEnterDownEscUp(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle)
	for screen, levels := range map[string][]string{
		"1": {"cross/adaptive-rx", "netperf-rr.txt:8"},
		"2": {"connection 1 of", "packet 1"},
		"3": {"rr-4344-sender.pcap", "packet 1"},
		"4": {"0xfffff80004c8a0e8", "netserver.lockstat.txt:"},
		"6": {"before.ethtool-i.txt:1"},
		"7": {"after.ethtool-S"},
	} {
		name := screenNames()[screen[0]-'1']
		d.press(screen)
		for depth, level := range levels {
			d.press("enter")
			if got := d.m.breadcrumb(); strings.Count(got, "›") != depth+1 || !strings.Contains(got, level) {
				t.Errorf("after %d enter on %s: %q, want %q at the end", depth+1, name, got, level)
			}
		}
		for range levels {
			d.press("esc")
		}
		if got := d.m.breadcrumb(); got != name {
			t.Errorf("back up on %s: %q", name, got)
		}
		d.press("esc").shows("top level of " + name)
	}
}

func TestEvidenceOpensItsLine(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle).press("enter", "enter")
	d.shows("netperf-rr.txt:8", "10030.37")
	if line := d.line(); !strings.HasPrefix(line, "▸●") || !strings.Contains(line, "10030.37") {
		t.Errorf("the selected line is %q", line)
	}
}

func TestSymptomsStandUnderTheirCause(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle)
	d.shows("└ bench/cliff", "└ nic/adaptive-unbalanced")
	d.press("/", "severity<critical", "enter").lacks("C critical  cross").shows("W warning")
	d.press("esc").shows("C critical  cross/adaptive-rx")
}

func TestFilterAsYouType(t *testing.T) {
	root(t)
	d := start(t, 120, 30, bundle)
	all := d.m.page().(*findingsPage).list.Len()
	shown := func() int { return d.m.page().(*findingsPage).list.Len() }
	d.press("/", "rule:tso").shows("tcp/tso-split").lacks("bench/noisy")
	some := shown()
	if some == 0 || some == all {
		t.Fatalf("%d of %d rows pass", some, all)
	}
	d.press(" severity>=") // half an operator
	d.shows("!", "needs a value")
	if shown() != some {
		t.Errorf("a half-typed filter shows %d rows, before it were %d", shown(), some)
	}
	d.press("enter").shows("needs a value") // it cannot be kept
	for range len(" severity>=") {
		d.press("backspace")
	}
	d.press(" nosuch=1").shows("no column is called nosuch")
	d.press("esc").shows(fmt.Sprintf("findings (%d)", all))
}

func TestPacketFilterInTcpdumpsWords(t *testing.T) {
	root(t)
	d := start(t, 100, 30, "fixtures/bundles/rr-4345/rr-4345-wire.pcap").press("3")
	list := d.m.page().(*packetsPage).packets
	d.press("/", "src port 5001")
	some := list.Len()
	if some == 0 || some == 48 {
		t.Fatalf("%d of 48 packets pass", some)
	}
	d.press(" and prot").shows("! ")
	if list.Len() != some {
		t.Errorf("half a filter shows %d packets, before it were %d", list.Len(), some)
	}
	d.press("esc")
	if list.Len() != 48 {
		t.Errorf("after esc %d packets are shown", list.Len())
	}
	d.press("down", "down")
	before := list.Record()
	d.press("f").shows("/tcp and host")
	if list.Record() != before {
		t.Errorf("following the connection went from packet %d to %d", before, list.Record())
	}
}

func TestSortKeepsTheSelectedRow(t *testing.T) {
	root(t)
	d := start(t, 160, 40, bundle).press("2", "down", "down")
	before := d.line()
	d.press("s", "s", "s", "S").shows("by ")
	if got := d.line(); got != before {
		t.Errorf("selected after sorting: %q, before: %q", got, before)
	}
	d.press("3", "enter", "s").shows("stay in this order")
}

func TestResizeKeepsTheSelectedRow(t *testing.T) {
	root(t)
	d := start(t, 80, 24, bundle).press("7", "G")
	want := strings.Fields(d.line())[1]
	for _, size := range [][2]int{{200, 60}, {60, 16}, {10, 3}, {120, 20}, {80, 24}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		if size[0] < leastWidth {
			d.shows("nettrace")
			continue
		}
		if got := strings.Fields(d.line()); len(got) < 2 || !strings.HasPrefix(want, strings.TrimSuffix(got[1], "…")) {
			t.Errorf("selected at %v: %q, want %q", size, got, want)
		}
	}
}

func TestTooSmallSaysSo(t *testing.T) {
	root(t)
	start(t, 59, 16, bundle).shows("nettrace needs 60x16 characters", "59x16")
	start(t, 60, 15, bundle).shows("60x15")
}

func TestHelpListsTheKeysOfTheScreen(t *testing.T) {
	root(t)
	d := start(t, 100, 40, bundle).press("5", "?").shows("zoom in", "next event", "type to search")
	d.press("hot").lacks("next event").shows("")
	d.press("backspace", "backspace", "backspace", "widest").shows("down the widest callees").lacks("next event")
	d.press("esc").lacks("keys of this screen")
	d.press("1", "?").shows("the first packet that is cited for it").lacks("next event")
}

func TestCopyGoesThroughTheTerminal(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle)
	d.press("y").shows("the finding as Markdown", "the command that prints this: nettrace analyze "+bundle+" -v", "into a file")
	_, cmd := d.m.Update(tea.KeyPressMsg(drive.Keys("y")[0]))
	d.shows("copied the finding as Markdown")
	raw, ok := find[tea.RawMsg](cmd)
	if !ok {
		t.Fatal("y sends nothing to the terminal")
	}
	_, after, found := strings.Cut(fmt.Sprint(raw.Msg), "\x1b]52;c;")
	encoded, _, _ := strings.Cut(after, "\x07")
	text, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || !strings.Contains(string(text), "## CRITICAL: "+d.m.result.Findings[0].Summary) {
		t.Errorf("copied %q, %v", text, err)
	}
}

// find returns the first message of a type that a command, or one of a batch, gives.
func find[M any](cmd tea.Cmd) (found M, ok bool) {
	if cmd == nil {
		return found, false
	}
	switch msg := cmd().(type) {
	case M:
		return msg, true
	case tea.BatchMsg:
		for _, c := range msg {
			if m, ok := find[M](c); ok {
				return m, true
			}
		}
	}
	return found, false
}

func TestClipboardInTmuxAndScreen(t *testing.T) {
	for name, env := range map[string][]string{"\x1bPtmux;": {"TMUX=/tmp/x,1,0", "TERM=screen-256color"}, "\x1bP\x1b]52": {"TERM=screen"}, "\x1b]52": {"TERM=xterm"}} {
		raw, ok := find[tea.RawMsg](clipboard("text", env))
		if !ok || !strings.Contains(fmt.Sprint(raw.Msg), name) {
			t.Errorf("%v: %q, want %q in it", env, raw.Msg, name)
		}
	}
}

func TestScreensWithoutDataSayWhyAndHow(t *testing.T) {
	root(t)
	d := start(t, 80, 24, "fixtures/bundles/rr-4345/netperf-rr.txt")
	for key, want := range map[string]string{"2": "tcpdump -i eth0", "3": "tcpdump -i eth0", "4": "lockstat", "5": "perf record", "6": "ethtool"} {
		d.press(key).shows("nothing to show", want)
	}
	d.press("7").shows("netperf-rr.txt")
}

func TestUnreadablePathsAreListed(t *testing.T) {
	root(t)
	d := start(t, 100, 30, "fixtures/bundles/rr-4345/netperf-rr.txt", "nowhere.txt")
	d.shows("1 source could not be read").press("7").shows("nowhere.txt: no such file")
}

// TestWrittenResult opens a result that was written: its packets come from the captures, if they are there.
func TestWrittenResult(t *testing.T) {
	root(t)
	r, errs := analyze.Run(t.Context(), []string{bundle}, analyze.Options{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	path := filepath.Join(t.TempDir(), "result.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(f); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	d := start(t, 100, 30, path)
	d.press("3", "down", "enter").shows("192.0.2.1:47694")
	t.Chdir(t.TempDir())
	d = start(t, 100, 30, path)
	d.press("3", "down", "enter").shows("rr-4344-wire.pcap is not where it was")
	d.press("1", "enter", "enter").shows("netperf-rr.txt is not where it was")
}

func TestFirstPacketsAreShownWhileReading(t *testing.T) {
	root(t)
	d := newDriver(t, Options{Paths: []string{"fixtures/bundles/rr-4345/rr-4345-wire.pcap"}, Theme: "dark"})
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.shows("Reading fixtures/bundles", "Ctrl-C ends the reading")
	d.send(d.m.preview()())
	d.settle()
	d.shows("reading", "192.0.2.1:47696", "first packets")
	d.Begin(d.m.analyse())
	d.press2("enter")
	d.shows("packet 1") // deeper while it is read
	d.settle()
	d.shows("packet 1").press("esc").shows("tcp/tso-split")
}

func TestCtrlCEndsTheReading(t *testing.T) {
	root(t)
	d := newDriver(t, Options{Paths: []string{bundle}, Theme: "dark"})
	d.send(tea.WindowSizeMsg{Width: 100, Height: 24})
	d.press2("ctrl+c")
	d.shows("the reading ends")
	d.send(d.m.analyse()())
	d.shows("interrupted", "what was learnt until then")
	if _, quits := find[tea.QuitMsg](d.m.press(drive.Keys("ctrl+c")[0])); !quits {
		t.Error("ctrl+c after reading does not quit")
	}
}

// press2 presses keys without waiting for what they start.
func (d *driver) press2(names ...string) {
	for _, name := range names {
		d.Type(name, func() {})
	}
}

func TestMouse(t *testing.T) {
	root(t)
	d := start(t, 80, 24, bundle)
	click := func(x, y int) {
		d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		d.settle()
	}
	click(strings.Index(strings.Split(d.screen(), "\n")[1], "7 Sources"), 1)
	if d.m.current != sourcesScreen {
		t.Fatalf("a click on 7 Sources goes to screen %d", d.m.current+1)
	}
	click(5, 7)
	click(5, 7)
	if len(d.m.screens[sourcesScreen].pages) != 2 {
		t.Error("a second click on a row does not open it")
	}
	d.press("esc")
	before := d.line()
	d.send(tea.MouseWheelMsg{X: 5, Y: 7, Button: tea.MouseWheelDown})
	if d.line() == before {
		t.Error("the wheel does not move")
	}
	click(4, 4)
	d.shows("by source")
	click(strings.Index(strings.Split(d.screen(), "\n")[23], "? keys"), 23)
	d.shows("keys of this screen").press("esc")
	d.press("e").shows("sources as JSON")
	for y, line := range strings.Split(d.screen(), "\n") {
		if strings.Contains(line, "sources as JSON") {
			click(20, y)
		}
	}
	d.shows("file: rr-4345-sources.json").press("esc")
}

func TestSearchInStacks(t *testing.T) {
	root(t)
	d := start(t, 120, 40, bundle).press("5", "/", "lock", "enter")
	d.shows("/lock: ", "% of all", "*")
	d.press("n")
	pane := d.m.page().(*stacksPage).flame
	if !strings.Contains(strings.ToLower(pane.name(pane.box(pane.at))), "lock") {
		t.Errorf("n went to %q", pane.name(pane.box(pane.at)))
	}
	d.press("/", "nothing-is-called-so", "enter").shows("0 boxes, 0 % of all")
}

// TestEveryMatchIsSeen walks through all matches on a narrow screen: each is drawn, however small its share.
func TestEveryMatchIsSeen(t *testing.T) {
	root(t)
	d := start(t, 60, 20, bundle).press("5", "/", "tcp", "enter")
	pane := d.m.page().(*stacksPage).flame
	for i := range pane.count + 2 {
		d.press("n")
		if !pane.reachable() || d.line() == "" && !strings.Contains(d.screen(), "▸") {
			t.Fatalf("match %d, %s, is not on the screen:\n%s", i, pane.name(pane.box(pane.at)), d.screen())
		}
	}
}

func TestWalkTheStacks(t *testing.T) {
	root(t)
	d := start(t, 120, 40, bundle).press("5")
	pane := d.m.page().(*stacksPage).flame
	name := func() string { return pane.name(pane.box(pane.at)) }
	d.press("down")
	widest := name()
	d.press("left")
	if name() == widest {
		t.Error("left stays")
	}
	d.press("right", "enter")
	if pane.zoom() != pane.at {
		t.Error("enter does not zoom")
	}
	d.press("G")
	if deepest := pane.at.row; deepest < 5 {
		t.Errorf("the hot path ends at level %d", deepest)
	}
	d.press("esc", "up")
	if name() != "all" {
		t.Errorf("up of the first level is %q", name())
	}
	d.press("v").shows("showing samples", "181 samples")
}

func TestPacketBytesAndFields(t *testing.T) {
	root(t)
	d := start(t, 160, 60, bundle).press("p", "n", "enter")
	page := d.m.page().(*packetPage)
	for row := range page.fields {
		if page.fields[row].Name == "source port" {
			page.list.Select(row)
		}
	}
	d.shows("bytes 34 to 35")
	d.press("tab", "right", "right").shows("bytes 36 to 37") // the next field, by its byte
	if row, _ := page.list.Selected(); page.fields[row].Name != "destination port" {
		t.Errorf("the byte selects %q", page.fields[row].Name)
	}
	d.press("tab", "right").shows("packet 7")
	d.press("esc")
	if got := d.m.page().(*packetsPage).packets.Record(); got != 7 {
		t.Errorf("the list is at packet %d after going on to 7", got)
	}
}

// TestKeyTable keeps the documentation's table the one of the code.
func TestKeyTable(t *testing.T) {
	path := filepath.Join("..", "docs", "explorer.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- keys: written by go test ./tui -update -->\n", "<!-- end of keys -->"
	before, rest, ok1 := strings.Cut(string(doc), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no key table between %q and %q", path, begin, end)
	}
	want := before + begin + KeyTable() + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(doc) != want {
		t.Errorf("the key table of %s is not that of the code; go test ./tui -update writes it", path)
	}
}

// TestEveryKeyIsListed presses each key that a page lists: none is unknown there.
func TestEveryKeyIsListed(t *testing.T) {
	root(t)
	for _, p := range pages {
		if slices.Contains([]string{"help", "copy", "columns"}, p.name) {
			continue // a dialog, not a page
		}
		d := start(t, 120, 40, bundle).press(p.keys...)
		for _, b := range d.m.page().Keys() {
			for _, key := range strings.Fields(b.keys) {
				if key == "arrows" || key == "esc" {
					continue
				}
				d.press(key)
				if strings.Contains(d.m.said, "no key") {
					t.Errorf("%s lists %q: %s", p.name, key, d.m.said)
				}
				if key == "enter" || d.m.prompt != nil || len(d.m.dialogs) > 0 {
					d.press("esc")
				}
			}
		}
	}
}

// TestLateNews takes what goroutines told in any order: what is known already is not forgotten.
func TestLateNews(t *testing.T) {
	d := newDriver(t, Options{Paths: []string{"x"}, Theme: "dark"})
	c := d.m.library.capture("x")
	d.send(fedMsg{extentMsg{"x", analyze.Extent{Records: 10, Bytes: 100}}})
	d.send(extentMsg{"x", analyze.Extent{Records: 20, Bytes: 200, Done: true}})
	d.send(fedMsg{extentMsg{"x", analyze.Extent{Records: 15, Bytes: 150}}})
	if c.extent.Records != 20 || !c.extent.Done {
		t.Errorf("extent %+v", c.extent)
	}
	list := newPacketList(d.m.look, c, 0)
	if err := list.Filter("tcp"); err != nil {
		t.Fatal(err)
	}
	d.send(selectedMsg{to: list, number: 1, selection: analyze.Selection{Records: []int64{3, 5}, Read: 20, Done: true}})
	d.send(fedMsg{selectedMsg{to: list, number: 1, selection: analyze.Selection{Records: []int64{3}, Read: 4}}})
	if list.Len() != 2 {
		t.Errorf("a late message leaves %d of 2 packets", list.Len())
	}
	if err := list.Filter("udp"); err != nil {
		t.Fatal(err)
	}
	d.send(fedMsg{selectedMsg{to: list, number: 2, selection: analyze.Selection{Read: 4}}})
	if list.Len() != 2 {
		t.Errorf("while nothing is found yet %d packets are shown, want those before", list.Len())
	}
	d.send(selectedMsg{to: list, number: 2, selection: analyze.Selection{Read: 20, Done: true}})
	if list.Len() != 0 {
		t.Errorf("nothing was found, %d packets are shown", list.Len())
	}
}

// TestPipe keeps the beginning of what comes from a pipe, and tells of it before it has ended.
func TestPipe(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "fixtures", "pcap", "rr-4345-wire.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	k := newKeeper(r)
	go io.Copy(io.Discard, k) // the analysis
	told := make(chan tea.Msg, 16)
	last := make(chan tea.Msg, 1)
	go func() { last <- k.preview(t.Context(), func(m tea.Msg) { told <- m }) }()
	if _, err := w.Write(content[:16<<10]); err != nil {
		t.Fatal(err)
	}
	early := (<-told).(previewMsg)
	if e := early.file.Extent(); e.Records == 0 || early.file.Limit() == "" || len(early.rows.rows) == 0 {
		t.Errorf("early: %+v, limit %q", e, early.file.Limit())
	}
	if _, err := w.Write(content[16<<10:]); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	whole := (<-last).(previewMsg)
	if e := whole.file.Extent(); e.Records != 48 || whole.file.Limit() != "" {
		t.Errorf("whole: %+v, limit %q", e, whole.file.Limit())
	}
}

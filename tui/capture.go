package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"nettrace/analyze"
	"nettrace/finding"
	"nettrace/pcap"
	"nettrace/unit"
)

// Rows of a capture are read in blocks, of which a few are kept.
const (
	blockRows = 64
	maxBlocks = 256
	maxPicked = 4096
)

// library holds the captures that pages show, and the feed through which goroutines tell what they read.
type library struct {
	ctx      context.Context
	look     *look
	feed     chan tea.Msg
	captures map[string]*capture
	evidence map[string]map[int64]string // by path and record
	names    map[string]string           // short ones, by path
}

func newLibrary(ctx context.Context, l *look) *library {
	return &library{ctx: ctx, look: l, feed: make(chan tea.Msg, 16), captures: map[string]*capture{}}
}

// fedMsg is a message that came through the feed.
type fedMsg struct{ tea.Msg }

// listen waits for the next message of the feed. Without a feed only what commands return is told.
func (l *library) listen() tea.Cmd {
	if l.feed == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case msg := <-l.feed:
			return fedMsg{msg}
		case <-l.ctx.Done():
			return nil
		}
	}
}

// tell sends a message, unless there are too many already: the next one tells more.
func (l *library) tell(msg tea.Msg) {
	select {
	case l.feed <- msg:
	default:
	}
}

// capture returns the capture behind a source's path.
func (l *library) capture(path string) *capture {
	c, known := l.captures[path]
	if !known {
		c = &capture{library: l, path: path, blocks: map[int64]*block{}, picked: map[int64]analyze.PacketRecord{}}
		l.captures[path] = c
	}
	return c
}

// cite remembers which records are evidence of findings.
func (l *library) cite(findings []finding.Finding) {
	l.evidence = map[string]map[int64]string{}
	for i := range findings {
		for _, e := range findings[i].Evidence {
			if e.Record == 0 {
				continue
			}
			if l.evidence[e.Source] == nil {
				l.evidence[e.Source] = map[int64]string{}
			}
			if _, cited := l.evidence[e.Source][e.Record]; !cited {
				l.evidence[e.Source][e.Record] = findings[i].Rule + ": " + e.Text
			}
		}
	}
}

// name returns the short name of a capture, cleaned.
func (c *capture) name() string {
	if c.path == "-" {
		return "standard input"
	}
	if short := c.library.names[c.path]; short != "" {
		return clean(short)
	}
	return clean(c.path)
}

// capture is what is known of a capture while it is shown.
type capture struct {
	library *library
	path    string
	file    *analyze.PacketFile
	err     error
	opening bool
	extent  analyze.Extent

	blocks map[int64]*block // by first record
	clock  int64
	picked map[int64]analyze.PacketRecord // rows of selections
	width  int                            // of the longest endpoint seen
}

// block is a run of rows, and how far the file reached when they were read.
type block struct {
	rows    []analyze.PacketRecord
	at      analyze.Extent
	pending bool
	used    int64
}

// What goroutines tell of captures.
type (
	openedMsg struct {
		path string
		file *analyze.PacketFile
		err  error
	}
	extentMsg struct {
		path   string
		extent analyze.Extent
	}
	rowsMsg struct {
		path  string
		first int64
		rows  []analyze.PacketRecord
		at    analyze.Extent
		err   error
	}
	pickedMsg struct {
		path string
		rows []analyze.PacketRecord
	}
)

// take takes what was read. A file that was opened is read on to its end.
func (l *library) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case openedMsg:
		c := l.capture(msg.path)
		c.opening, c.err = false, msg.err
		if msg.file != nil {
			return c.adopt(msg.file)
		}
	case extentMsg:
		if c := l.capture(msg.path); msg.extent.Done || !c.extent.Done && msg.extent.Bytes >= c.extent.Bytes { // the feed may be late
			c.extent = msg.extent
		}
	case rowsMsg:
		l.capture(msg.path).keep(msg)
	case pickedMsg:
		c := l.capture(msg.path)
		if len(c.picked) > maxPicked {
			clear(c.picked)
		}
		for _, row := range msg.rows {
			c.picked[row.Record] = row
		}
	case selectedMsg:
		msg.to.take(msg)
	case packetMsg:
		msg.to.take(msg)
	case excerptMsg:
		msg.to.take(msg)
	case layoutMsg:
		msg.to.take(msg)
	case triedMsg:
		msg.to.take(msg)
	case sequenceMsg:
		msg.to.take(msg)
	}
	return nil
}

// adopt takes an open file and returns the command that reads it to its end.
func (c *capture) adopt(f *analyze.PacketFile) tea.Cmd {
	c.file, c.extent = f, f.Extent()
	return c.library.scan(f)
}

func (c *capture) keep(msg rowsMsg) {
	if msg.err != nil {
		c.err = msg.err
	}
	c.clock++
	c.blocks[msg.first] = &block{rows: msg.rows, at: msg.at, used: c.clock}
	for i := range msg.rows {
		c.width = max(c.width, len(msg.rows[i].Src), len(msg.rows[i].Dst))
	}
	for len(c.blocks) > maxBlocks {
		oldest, at := int64(0), c.clock+1
		for first, b := range c.blocks {
			if b.used < at && !b.pending {
				oldest, at = first, b.used
			}
		}
		delete(c.blocks, oldest)
	}
}

// row returns a row, if it was read.
func (c *capture) row(record int64) (*analyze.PacketRecord, bool) {
	first := blockOf(record)
	if b := c.blocks[first]; b != nil {
		c.clock++
		b.used = c.clock
		if i := int(record - first); i < len(b.rows) && b.rows[i].Record == record {
			return &b.rows[i], true
		}
		for i := range b.rows { // numbers are missing where blocks hold no packet
			if b.rows[i].Record == record {
				return &b.rows[i], true
			}
		}
	}
	row, ok := c.picked[record]
	return &row, ok
}

func blockOf(record int64) int64 { return (record-1)/blockRows*blockRows + 1 }

// open returns the command that opens the file, if that has not begun.
func (c *capture) open() tea.Cmd {
	if c.file != nil || c.opening || c.err != nil {
		return nil
	}
	c.opening = true
	path := c.path
	return func() tea.Msg {
		f, err := analyze.OpenPacketFile(path)
		return openedMsg{path, f, err}
	}
}

// want returns the command that reads the rows from one record to another, as far as they are not there.
func (c *capture) want(from, to int64) tea.Cmd {
	if c.file == nil {
		return c.open()
	}
	var cmds []tea.Cmd
	for first := blockOf(max(from, 1)); first <= min(to, c.extent.Records); first += blockRows {
		b := c.blocks[first]
		if b != nil && (b.pending || !c.stale(first, b)) {
			continue
		}
		if b == nil {
			b = &block{}
			c.blocks[first] = b
		}
		c.clock++
		b.pending, b.used = true, c.clock
		cmds = append(cmds, c.read(first))
	}
	return tea.Batch(cmds...)
}

// stale reports whether a block would hold more, or more marks, if it was read again.
func (c *capture) stale(first int64, b *block) bool {
	end := min(first+blockRows-1, c.extent.Records)
	return b.at.Records < end || b.at.Marked < min(end, c.extent.Marked)
}

func (c *capture) read(first int64) tea.Cmd {
	f := c.file
	return func() tea.Msg { return readRows(f, first) }
}

// readRows reads a block.
func readRows(f *analyze.PacketFile, first int64) rowsMsg {
	at := f.Extent()
	rows, err := f.Rows(first, blockRows)
	return rowsMsg{f.Path(), first, rows, at, err}
}

// pick returns the command that reads single rows, as far as they are not there.
func (c *capture) pick(records []int64) tea.Cmd {
	if c.file == nil {
		return c.open()
	}
	var missing []int64
	for _, r := range records {
		if _, ok := c.row(r); !ok {
			missing = append(missing, r)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	f := c.file
	return func() tea.Msg {
		msg := pickedMsg{path: f.Path()}
		for _, r := range missing {
			if rows, err := f.Rows(r, 1); err == nil {
				msg.rows = append(msg.rows, rows...)
			}
		}
		return msg
	}
}

// scan returns the command that reads the file to its end in the background.
func (l *library) scan(f *analyze.PacketFile) tea.Cmd {
	return func() tea.Msg {
		err := f.Scan(l.ctx, func(e analyze.Extent) { l.tell(extentMsg{f.Path(), e}) })
		if err != nil && l.ctx.Err() == nil {
			return openedMsg{f.Path(), nil, err}
		}
		return extentMsg{f.Path(), f.Extent()}
	}
}

// state says what there is to say of the capture as a whole: how far it is read, or why it is not.
func (c *capture) state() string {
	switch {
	case c.err != nil:
		return clean(c.err.Error())
	case c.file == nil:
		return "opening " + clean(c.path)
	case c.file.Limit() != "":
		return clean(c.file.Limit())
	case !c.extent.Done:
		return unit.Bytes(c.extent.Bytes) + " of " + unit.Bytes(c.extent.Size) + " read, " + unit.Count(c.extent.Records) + " packets so far"
	default:
		return ""
	}
}

// selectedMsg tells what a selection found.
type selectedMsg struct {
	to        *packetList
	number    int
	selection analyze.Selection
	err       error
}

// choose returns the command that lists the packets that a filter lets through.
func (l *library) choose(ctx context.Context, f *analyze.PacketFile, filter pcap.Filter, to *packetList, number int) tea.Cmd {
	return func() tea.Msg {
		last := selectedMsg{to: to, number: number}
		last.err = f.Select(ctx, filter, func(s analyze.Selection) {
			last.selection = s
			l.tell(last)
		})
		return last
	}
}

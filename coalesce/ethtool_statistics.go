package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// ethtool -S IFACE: the driver's counters. The title line is often missing in what people paste, and so is the
// indentation; the interface stands only in the prompt, if at all.
//
//	NIC statistics:
//	     rx_packets: 845320277
//	     [0]: rx_ucast_packets: 194386668
//
// Names are the driver's and hold blanks, dots, brackets and colons: the value follows the last colon. vmxnet3 prints
// sections ("Tx Queue#: 0") and, deeper indented, parts of the counter above; both are put before the name
// ("Tx Queue#0: drv dropped tx total: tso"), so that names are unique. Source: ethtool.c (show_gstrings), samples of 12 drivers.

const statisticsTitle = "NIC statistics:"

// SniffStatistics recognises ethtool -S: by its title, by a prompt with a counter below it, or by three counters in a
// row whose names are those of a NIC.
func SniffStatistics(head []byte) source.Match {
	line, rest := firstLine(head)
	trimmed := bytes.TrimSpace(line)
	if bytes.HasSuffix(trimmed, []byte(statisticsTitle)) {
		return source.Strong
	}
	if len(trimmed) == 0 || len(line) > 200 {
		return source.No
	}
	if _, after, ok := command(line, "-S"); ok {
		next, _ := firstLine(rest)
		if c, counter := splitCounter(next); counter && !isSettingOnly(c.name) || string(bytes.TrimSpace(next)) == statisticsTitle || bytes.HasPrefix(bytes.TrimSpace(after), []byte(statisticsTitle)) {
			return source.Strong
		}
		return source.No
	}
	return sniffBare(head)
}

// sniffBare recognises counters without a title.
func sniffBare(head []byte) source.Match {
	named := false
	for range 3 {
		line, rest := firstLine(head)
		c, ok := splitCounter(line)
		if !ok || isSettingOnly(c.name) {
			return source.No
		}
		named = named || nicName(c.name)
		head = rest
	}
	if !named {
		return source.No
	}
	return source.Strong
}

// isSettingOnly tells a line of ethtool -c or -g, whose title was lost, from a counter.
func isSettingOnly(name []byte) bool {
	return bytes.Contains(name, []byte("-usecs")) || bytes.Contains(name, []byte("-frame")) || bytes.HasPrefix(name, []byte("pkt-rate-")) ||
		string(name) == "sample-interval" || string(name) == "RX" || string(name) == "TX"
}

func nicName(name []byte) bool {
	for _, part := range []string{"rx_", "tx_", "rx-", "tx-", "]: ", "pkts", "octets"} {
		if bytes.Contains(name, []byte(part)) {
			return true
		}
	}
	return false
}

type counterLine struct {
	indent int
	name   []byte
	value  []byte // digits
}

// splitCounter splits "  name: 123" at the last colon, without allocation.
func splitCounter(line []byte) (c counterLine, ok bool) {
	body := bytes.TrimLeft(line, " \t")
	c.indent = len(line) - len(body)
	body = bytes.TrimRight(body, " \t\r")
	if len(body) < 4 || len(body) > 200 || !digit(body[len(body)-1]) {
		return c, false
	}
	colon := bytes.LastIndexByte(body, ':')
	if colon <= 0 {
		return c, false
	}
	c.name, c.value = bytes.TrimRight(body[:colon], " \t"), bytes.TrimLeft(body[colon+1:], " \t")
	if len(c.name) == 0 || len(c.value) == 0 {
		return c, false
	}
	for _, b := range c.value {
		if !digit(b) {
			return c, false
		}
	}
	blanks := 0
	for _, b := range c.name {
		if b < ' ' || b == '"' || b == '=' || b == '?' || b == '>' {
			return c, false
		}
		if b == ' ' {
			blanks++
		}
	}
	return c, blanks <= 5 && !bytes.Contains(c.name, []byte(". ")) && !bytes.Contains(c.name, []byte(", "))
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// ReadStatistics reads ethtool -S.
func ReadStatistics(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	if SniffStatistics(l.Head(4096)) != source.Strong || !l.Next() {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: "no counters of ethtool -S begin here; \"" + statisticsTitle + "\" or lines \"name: number\" were expected"}
	}
	r := statisticsReader{out: &Output{Tool: "ethtool-S", Pos: l.Pos()}, ledger: ledger, indent: -1}
	iface, _, prompt := command(l.Bytes(), "-S")
	titled := bytes.HasSuffix(bytes.TrimSpace(l.Bytes()), []byte(statisticsTitle))
	if !titled && !prompt {
		l.Back()
	}
	r.lines(l, prompt && !titled)
	r.out.Interfaces = []InterfaceOutput{{Name: iface, Counters: r.counters}}
	return r.out, nil
}

type statisticsReader struct {
	out      *Output
	ledger   *source.Ledger
	counters []Count
	indent   int    // of the first counter
	section  string // "Tx Queue#0: "
	parent   string // last counter at the usual indentation
	depth    int    // its indentation
}

func (r *statisticsReader) lines(l *source.Lines, titleMayFollow bool) {
	last, counters := l.Pos(), 0 // of the line before
	for l.Next() {
		line := l.Bytes()
		if titleMayFollow && string(bytes.TrimSpace(line)) == statisticsTitle {
			titleMayFollow = false
			continue
		}
		if text := refusal(line); text != "" && len(r.counters) == 0 {
			r.out.Refusal = text
			return
		}
		if len(bytes.TrimSpace(line)) == 0 && len(r.counters) > 0 && l.Complete() {
			return
		}
		counters = len(r.counters)
		if r.counter(line, l.Pos()) {
			last = l.Pos()
			continue
		}
		if unfinished(l) {
			cut(r.ledger, l.Pos(), "the input ends inside a counter of ethtool -S")
			return
		}
		if !damaged(l, r.mine) {
			return
		}
		skip(l, r.ledger, "a counter")
	}
	if atEnd(l) && !l.Complete() {
		cut(r.ledger, last, "the input ends without a line end, so that the last number may be cut; the counter is left out")
		r.counters = r.counters[:counters]
	}
}

func (r *statisticsReader) mine(line []byte) bool {
	c, ok := splitCounter(line)
	return ok && (r.indent <= 0 || c.indent > 0)
}

// counter takes a line and reports whether it is a counter.
func (r *statisticsReader) counter(line []byte, pos source.Pos) bool {
	c, ok := splitCounter(line)
	if !ok || r.indent > 0 && c.indent == 0 {
		return false
	}
	value, ok := parseUint(c.value)
	if !ok {
		return false
	}
	if r.indent < 0 {
		r.indent = c.indent
	}
	name := string(c.name)
	if strings.HasSuffix(name, "Queue#") {
		r.section = name + string(c.value) + ": "
		r.parent, r.depth = "", 0
		return true
	}
	switch {
	case r.section != "" && c.indent <= r.indent: // after the sections
		r.section, r.parent = "", ""
	case r.parent != "" && c.indent > r.depth:
		name = r.parent + ": " + name
	default:
		r.parent, r.depth = name, c.indent
	}
	if len(r.counters) == maxItems {
		r.ledger.Add("too-many-counters", source.Warning, pos, 1, "more than 65,536 counters in one output; the rest is left out")
		return true
	}
	r.counters = append(r.counters, Count{Name: r.section + name, Value: value, Line: pos.Line, Offset: pos.Offset})
	return true
}

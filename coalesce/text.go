package coalesce

import (
	"bytes"

	"nettrace/source"
)

// What the text importers share: looking at lines, telling damage from the end of an output, and entering losses.

// firstLine splits the first line, without its end, off head.
func firstLine(head []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(head, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

// command finds "ethtool -X IFACE" in a prompt line and returns the interface and what follows it, which is the
// beginning of the output where line ends were lost. option is "-S".
func command(line []byte, option string) (iface string, rest []byte, ok bool) {
	_, after, found := bytes.Cut(line, []byte("ethtool "+option+" "))
	after = bytes.TrimLeft(after, " \t")
	end := bytes.IndexAny(after, " \t|;&>")
	if end < 0 {
		end = len(after)
	}
	if found && end > 0 && end <= 32 {
		return string(after[:end]), after[end:], true
	}
	return "", nil, false
}

// header finds "TITLE for IFACE:" in a line; before it there may be a prompt, after it, where line ends were lost, the
// rest of the output.
func header(line []byte, title string) (iface string, rest []byte, ok bool) {
	_, after, found := bytes.Cut(line, []byte(title))
	if !found {
		return "", nil, false
	}
	end := bytes.IndexByte(after, ':')
	if end <= 0 || end > 32 || bytes.ContainsAny(after[:end], " \t") {
		return "", nil, false
	}
	return string(after[:end]), bytes.TrimSpace(after[end+1:]), true
}

// refusals are beginnings of ethtool's error texts that mean "not supported by the device", not damage.
func refusals() []string {
	return []string{"netlink error: ", "no stats available", "Cannot get ", "JSON output not available for this subcommand",
		"ethtool: bad command line argument", "Operation not supported", "No such device"}
}

// refusal returns the error text in a line of ethtool, or "".
func refusal(line []byte) string {
	line = bytes.TrimSpace(line)
	for _, r := range refusals() {
		if bytes.HasPrefix(line, []byte(r)) && len(line) < 160 {
			return string(line)
		}
	}
	return ""
}

// damaged puts the current line, which the importer does not understand, back and reports whether it is damage inside
// the output: the next line is the output's own again, and no other output begins here. The importer then goes on with
// Next; otherwise it returns.
func damaged(l *source.Lines, mine func(line []byte) bool) bool {
	l.Back()
	head := l.Head(4096)
	if l.Foreign(head) {
		return false
	}
	_, rest := firstLine(head)
	next, _ := firstLine(rest)
	return len(bytes.TrimSpace(next)) > 0 && mine(next)
}

// skip enters the next line into the ledger as not understood.
func skip(l *source.Lines, ledger *source.Ledger, expected string) {
	if l.Next() {
		ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(l.Bytes())+" is not understood; "+expected+" was expected, the line is left out")
	}
}

// atEnd reports whether the input, and not only a quotation in it, ends after the current line (after Back: before it).
func atEnd(l *source.Lines) bool {
	l.Head(1) // takes the current line as read
	return len(l.Input().Peek(1)) == 0
}

// cut enters an output into the ledger that the end of the input cut short.
func cut(ledger *source.Ledger, pos source.Pos, text string) {
	ledger.Add("cut-input", source.Warning, pos, 1, text)
}

// unfinished reports whether the current line, which the importer does not understand, is the beginning of one of its
// own that the end of the input cut off, rather than the first line of something else.
func unfinished(l *source.Lines) bool {
	line := l.Bytes()
	return !l.Complete() && (len(bytes.Fields(line)) <= 2 || line[0] == ' ' || line[0] == '\t')
}

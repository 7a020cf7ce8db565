package coalesce

import (
	"bytes"
	"slices"
	"strings"

	"nettrace/source"
)

// ethtool -c IFACE: interrupt moderation. Written by ethtool to 5.6 (ioctl: all fields numeric, 0 is zero or not
// supported), 5.7 and later (netlink: "n/a"), 5.15 (a line "CQE mode"), 6.2 (tabs after the colon), 6.3 (tx-aggr-*, the
// last of them without a colon until 6.9). Archived mails may have lost the line ends.
//
//	Coalesce parameters for eth2:
//	Adaptive RX: on  TX: off
//	rx-usecs: 16
//
// Source: ethtool coalesce.c and netlink/coalesce.c, and the outputs of each generation in the samples. With
// --per-queue the blocks follow "Queue: N". Fields of later versions are kept under their names. Nothing is ignored.

const coalesceTitle = "Coalesce parameters for "

// SniffCoalesce recognises ethtool -c.
func SniffCoalesce(head []byte) source.Match {
	line, rest := firstLine(head)
	_, inline, ok := header(line, coalesceTitle)
	if !ok {
		return source.No
	}
	if len(inline) == 0 {
		inline, _ = firstLine(rest)
	}
	if len(inline) == 0 || refusal(inline) != "" {
		return source.Strong
	}
	if _, ours := coalesceFields(inline); ours {
		return source.Strong
	}
	return source.No
}

// ReadCoalesce reads ethtool -c.
func ReadCoalesce(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	if !l.Next() {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: "the input is empty; \"" + coalesceTitle + "IFACE:\" was expected"}
	}
	iface, rest, ok := header(l.Bytes(), coalesceTitle)
	if !ok {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: source.Excerpt(l.Bytes()) + " begins no ethtool -c; \"" + coalesceTitle + "IFACE:\" was expected"}
	}
	out := &Output{Tool: "ethtool-c", Pos: l.Pos()}
	r := coalesceReader{output: InterfaceOutput{Name: iface}, queue: -1}
	r.line(rest, l.Pos())
	for {
		if !l.Next() {
			r.end(l, ledger)
			break
		}
		line := l.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if text := refusal(line); text != "" && len(r.output.Settings) == 0 {
			out.Refusal = text
			break
		}
		if r.line(line, l.Pos()) {
			continue
		}
		if _, _, another := header(line, coalesceTitle); another { // of the next interface
			l.Back()
			break
		}
		if unfinished(l) {
			continue
		}
		if !damaged(l, isCoalesceLine) {
			break
		}
		skip(l, ledger, "a setting of ethtool -c")
	}
	out.Interfaces = []InterfaceOutput{r.output}
	return out, nil
}

type coalesceReader struct {
	output   InterfaceOutput
	queue    int
	complete bool // the last line that all versions print was met
}

// line takes a line of the output and reports whether it is one.
func (r *coalesceReader) line(line []byte, pos source.Pos) bool {
	fields, ours := coalesceFields(line)
	if !ours {
		return false
	}
	for _, f := range fields {
		if f.name == "queue" {
			r.queue = int(min(f.value.N, 1<<16))
			continue
		}
		r.output.Settings = append(r.output.Settings, Setting{Name: f.name, Value: f.value, Queue: r.queue, Pos: pos})
		r.complete = r.complete || f.name == "tx-frame-high" && f.value.State != Unreadable
	}
	return true
}

// end is called at the end of the input, which may be that of a quotation.
func (r *coalesceReader) end(l *source.Lines, ledger *source.Ledger) {
	if r.complete || !atEnd(l) {
		return
	}
	s := r.output.Settings
	if n := len(s); !l.Complete() && n > 0 && s[n-1].Pos.Line == l.Pos().Line-1 { // "rx-usecs: 1" may have been 16
		r.output.Settings = s[:n-1]
	}
	cut(ledger, l.Pos(), "the input ends before the last line of ethtool -c, tx-frame-high; the settings that are missing count as absent")
}

func isCoalesceLine(line []byte) bool {
	fields, ours := coalesceFields(line)
	return ours && len(fields) > 0
}

type field struct {
	name  string
	value Value
}

// coalesceFields splits a line at the names of settings: one on a line as ethtool prints them, or all of them where
// line ends were lost. ours is false if there is anything else in it.
func coalesceFields(line []byte) (fields []field, ours bool) {
	group := ""
	words := strings.Fields(string(line))
	for i := 0; i < len(words); {
		w := words[i]
		switch {
		case w == "Adaptive":
			group, i = "adaptive-", i+1
			continue
		case w == "CQE" && i+1 < len(words) && words[i+1] == "mode":
			group, i = "cqe-mode-", i+2
			continue
		}
		name, glued, colon := strings.Cut(w, ":")
		switch {
		case group != "" && (w == "RX:" || w == "TX:"):
			name = group + strings.ToLower(name)
		case w == "Queue:":
			name = "queue"
		case !slices.Contains(coalesceNames(), name) && !(colon && strings.Contains(name, "-") && isSettingName(name)):
			return nil, false
		}
		i++
		value := Value{State: Unreadable}
		switch {
		case glued != "":
			value = parseValue([]byte(glued))
		case i < len(words) && !strings.HasSuffix(words[i], ":"):
			value = parseValue([]byte(words[i]))
			i++
		}
		if value.State == Unreadable && !slices.Contains(coalesceNames(), name) && group == "" {
			return nil, false
		}
		fields = append(fields, field{canonicalCoalesce(name), value})
	}
	return fields, true
}

// isSettingName reports whether s is spelled like a setting: lower case letters, digits and hyphens.
func isSettingName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return false
		}
	}
	return len(s) > 2 && len(s) < 40
}

// canonicalCoalesce undoes the plural that ethtool's options have and its output has not.
func canonicalCoalesce(name string) string {
	switch name {
	case "rx-frames-low", "rx-frames-high", "tx-frames-low", "tx-frames-high":
		return strings.Replace(name, "frames", "frame", 1)
	}
	return name
}

func coalesceNames() []string {
	return []string{"stats-block-usecs", "sample-interval", "pkt-rate-low", "pkt-rate-high",
		"rx-usecs", "rx-frames", "rx-usecs-irq", "rx-frames-irq", "tx-usecs", "tx-frames", "tx-usecs-irq", "tx-frames-irq",
		"rx-usecs-low", "rx-frame-low", "tx-usecs-low", "tx-frame-low", "rx-usecs-high", "rx-frame-high", "tx-usecs-high", "tx-frame-high",
		"tx-aggr-max-bytes", "tx-aggr-max-frames", "tx-aggr-time-usecs"}
}

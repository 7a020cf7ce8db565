package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// ethtool -g and -l IFACE: ring sizes and numbers of channels, each with the device's maximum first.
//
//	Ring parameters for ens3:
//	Pre-set maximums:
//	RX:		4096
//
// Written by all versions; since 5.7 (netlink) "n/a" stands for what the device has not (before, 0), and ring lines such
// as "RX Buf Len", "CQE Size", "TX Push", "TCP data split" were added. Names become those of ethtool --json: "rx-max",
// "rx", "tx-push-buf-len", for channels "combined-max", "combined". A maximum of 0 is not known (be2net). Unknown lines of
// the same form are kept. Source: ethtool.c (dump_ring), netlink/rings.c, netlink/channels.c.

const (
	ringsTitle    = "Ring parameters for "
	channelsTitle = "Channel parameters for "
	maximums      = "Pre-set maximums:"
)

// SniffRings recognises ethtool -g.
func SniffRings(head []byte) source.Match { return sniffMaximums(head, ringsTitle) }

// SniffChannels recognises ethtool -l.
func SniffChannels(head []byte) source.Match { return sniffMaximums(head, channelsTitle) }

func sniffMaximums(head []byte, title string) source.Match {
	line, rest := firstLine(head)
	if _, _, ok := header(line, title); !ok {
		return source.No
	}
	next, _ := firstLine(rest)
	cutOff := strings.HasPrefix(maximums, string(next)) && len(next) == len(rest)
	if next = bytes.TrimSpace(next); cutOff || string(next) == maximums || refusal(next) != "" {
		return source.Strong
	}
	return source.No
}

// ReadRings reads ethtool -g.
func ReadRings(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	return readMaximums(l, ledger, "ethtool-g", ringsTitle)
}

// ReadChannels reads ethtool -l.
func ReadChannels(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	return readMaximums(l, ledger, "ethtool-l", channelsTitle)
}

func readMaximums(l *source.Lines, ledger *source.Ledger, tool, title string) (*Output, error) {
	if !l.Next() {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: "the input is empty; \"" + title + "IFACE:\" was expected"}
	}
	iface, _, ok := header(l.Bytes(), title)
	if !ok {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: source.Excerpt(l.Bytes()) + " begins no " + tool + "; \"" + title + "IFACE:\" was expected"}
	}
	out := &Output{Tool: tool, Pos: l.Pos()}
	i := InterfaceOutput{Name: iface}
	suffix, current := "-max", 0
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if text := refusal(line); text != "" && len(i.Settings) == 0 {
			out.Refusal = text
			break
		}
		switch {
		case string(line) == maximums:
			continue
		case string(line) == "Current hardware settings:":
			suffix = ""
			continue
		}
		s, form, known := parseRing(line, suffix)
		if !l.Complete() {
			if !known && len(bytes.Fields(line)) > 4 {
				l.Back()
			}
			break
		}
		if !known { // of a later version, damage, or the next output
			if !damaged(l, isRing) {
				break
			}
			if !form {
				skip(l, ledger, "a line of "+tool)
				continue
			}
			l.Next()
		}
		s.Pos = l.Pos()
		i.Settings = append(i.Settings, s)
		if suffix == "" {
			current++
		}
	}
	if atEnd(l) && out.Refusal == "" && (current < 4 || !l.Complete()) {
		cut(ledger, l.Pos(), "the input ends before the current settings of "+tool+"; those that are missing count as absent")
	}
	out.Interfaces = []InterfaceOutput{i}
	return out, nil
}

// isRing reports whether a line is of ethtool -g or -l for sure.
func isRing(line []byte) bool {
	_, _, known := parseRing(bytes.TrimSpace(line), "")
	return known
}

// parseRing reads "RX Mini:  n/a". What has the form of a line may be one of a later version; it is known to be one by its
// name or value.
func parseRing(line []byte, suffix string) (s Setting, form, known bool) {
	name, value, found := bytes.Cut(line, []byte{':'})
	if !found || len(name) < 2 || len(name) > 24 || len(bytes.Fields(name)) > 4 || len(bytes.Fields(value)) != 1 {
		return s, false, false
	}
	key := strings.ToLower(strings.Join(strings.Fields(string(name)), "-"))
	if !isSettingName(key) && key != "rx" && key != "tx" {
		return s, false, false
	}
	key = strings.Replace(key, "buff-len", "buf-len", 1)
	s = Setting{Name: key + suffix, Value: parseValue(value), Queue: -1}
	named := strings.HasPrefix(key, "rx") || strings.HasPrefix(key, "tx") || strings.Contains("other combined cqe-size tcp-data-split hds-thresh", key)
	return s, true, named || s.Value.State != Unreadable
}

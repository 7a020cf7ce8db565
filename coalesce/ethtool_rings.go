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
)

// SniffRings recognises ethtool -g and -l.
func SniffRings(head []byte) source.Match {
	line, rest := firstLine(head)
	if _, _, ok := ringsHeader(line); !ok {
		return source.No
	}
	next, _ := firstLine(rest)
	if next = bytes.TrimSpace(next); strings.HasPrefix("Pre-set maximums:", string(next)) && len(next) == len(rest) || string(next) == "Pre-set maximums:" || refusal(next) != "" {
		return source.Strong
	}
	return source.No
}

func ringsHeader(line []byte) (tool, iface string, ok bool) {
	if iface, _, ok = header(line, ringsTitle); ok {
		return "ethtool-g", iface, true
	}
	iface, _, ok = header(line, channelsTitle)
	return "ethtool-l", iface, ok
}

// ReadRings reads ethtool -g or -l.
func ReadRings(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	if !l.Next() {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: "the input is empty; \"" + ringsTitle + "IFACE:\" was expected"}
	}
	tool, iface, ok := ringsHeader(l.Bytes())
	if !ok {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: quote(l.Bytes()) + " begins no ethtool -g or -l; \"" + ringsTitle + "IFACE:\" was expected"}
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
		case string(line) == "Pre-set maximums:":
			continue
		case string(line) == "Current hardware settings:":
			suffix = ""
			continue
		}
		s, ours := parseRing(line, suffix)
		if !ours || !l.Complete() {
			if l.Complete() || !ours && len(bytes.Fields(line)) > 4 {
				l.Back()
			}
			break
		}
		s.Pos = l.Pos()
		i.Settings = append(i.Settings, s)
		if suffix == "" {
			current++
		}
	}
	if atEnd(l) && out.Refusal == "" && (current < 4 || !l.Complete()) {
		cut(ledger, l.Pos(), "the input ends before the current settings of ethtool "+tool[len(tool)-2:]+"; those that are missing count as absent")
	}
	out.Interfaces = []InterfaceOutput{i}
	return out, nil
}

// parseRing reads "RX Mini:  n/a".
func parseRing(line []byte, suffix string) (s Setting, ok bool) {
	name, value, found := bytes.Cut(line, []byte{':'})
	if !found || len(name) < 2 || len(name) > 24 || len(bytes.Fields(name)) > 4 || len(bytes.Fields(value)) != 1 {
		return s, false
	}
	key := strings.ToLower(strings.Join(strings.Fields(string(name)), "-"))
	if !isSettingName(key) && key != "rx" && key != "tx" {
		return s, false
	}
	key = strings.Replace(key, "buff-len", "buf-len", 1)
	s = Setting{Name: key + suffix, Value: parseValue(value), Queue: -1}
	known := strings.HasPrefix(key, "rx") || strings.HasPrefix(key, "tx") || strings.Contains("other combined cqe-size tcp-data-split hds-thresh", key)
	return s, known || s.Value.State != Unreadable
}

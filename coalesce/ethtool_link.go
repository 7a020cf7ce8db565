package coalesce

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// ethtool IFACE: speed and state of the link.
//
//	Settings for eth0:
//		Speed: 1000Mb/s
//		Duplex: Full
//
// Written by all versions (ethtool.c, netlink/settings.c). Kept are "speed" in Mb/s ("n/a" where it is unknown), and the
// switches "full-duplex", "auto-negotiation" and "link-detected"; what the two ends could agree on, and wake-on-LAN, are
// ignored: they cost no performance. Lines of error texts between are about single questions.

const linkSettingsTitle = "Settings for "

// SniffLink recognises ethtool without an option.
func SniffLink(head []byte) source.Match {
	line, rest := firstLine(head)
	if _, _, ok := header(line, linkSettingsTitle); !ok {
		return source.No
	}
	next, _ := firstLine(rest)
	if len(next) == 0 || next[0] == '\t' || refusal(next) != "" {
		return source.Strong
	}
	return source.No
}

// ReadLink reads ethtool without an option.
func ReadLink(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "ethtool", Pos: l.Pos()}
	if !l.Next() {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "the input is empty; \"Settings for IFACE:\" was expected"}
	}
	iface, _, ok := header(l.Bytes(), linkSettingsTitle)
	if !ok {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: source.Excerpt(l.Bytes()) + " begins no ethtool; \"Settings for IFACE:\" was expected"}
	}
	i := InterfaceOutput{Name: iface}
	out.Pos = l.Pos()
	for l.Next() {
		line := l.Bytes()
		if refusal(line) != "" {
			continue
		}
		if len(line) == 0 || line[0] != '\t' {
			if len(line) > 0 {
				l.Back()
			}
			break
		}
		s, known := linkSetting(line)
		if s.Pos = l.Pos(); known && (l.Complete() || s.Name == "link-detected" && s.Value.State != Unreadable) {
			i.Settings = append(i.Settings, s)
		} else if known {
			cut(ledger, l.Pos(), "the input ends inside ethtool; the setting is left out")
		}
	}
	out.Interfaces = []InterfaceOutput{i}
	return out, nil
}

func linkSetting(line []byte) (s Setting, known bool) {
	name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ": ")
	s = Setting{Queue: -1, Value: Value{State: Unreadable}}
	switch name {
	case "Speed":
		s.Name, s.Value = "speed", Value{State: NotAvailable}
		if digits, ok := strings.CutSuffix(value, "Mb/s"); ok {
			s.Value = parseValue([]byte(digits))
		}
	case "Duplex":
		s.Name = "full-duplex"
		if value == "Full" || value == "Half" {
			s.Value = Switch(value == "Full")
		} else if strings.HasPrefix(value, "Unknown") {
			s.Value = Value{State: NotAvailable}
		}
	case "Auto-negotiation", "Link detected":
		s.Name = strings.ToLower(strings.ReplaceAll(name, " ", "-"))
		if word, _, _ := strings.Cut(value, " "); word == "on" || word == "yes" || word == "off" || word == "no" {
			s.Value = Switch(word == "on" || word == "yes")
		}
	}
	return s, s.Name != ""
}

// ethtool -a IFACE: pause frames.
//
//	Pause parameters for eth0:
//	Autonegotiate:	on
//	RX:		off
//
// Written by all versions; names become those of --json: "autonegotiate", "rx", "tx", "rx-negotiated".

const pauseTitle = "Pause parameters for "

// SniffPause recognises ethtool -a.
func SniffPause(head []byte) source.Match {
	line, rest := firstLine(head)
	if _, _, ok := header(line, pauseTitle); !ok {
		return source.No
	}
	next, _ := firstLine(rest)
	if len(next) == 0 || bytes.HasPrefix(next, []byte("Autonegotiate:")) || refusal(next) != "" {
		return source.Strong
	}
	return source.No
}

// ReadPause reads ethtool -a.
func ReadPause(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "ethtool-a", Pos: l.Pos()}
	if !l.Next() {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "the input is empty; \"" + pauseTitle + "IFACE:\" was expected"}
	}
	iface, _, ok := header(l.Bytes(), pauseTitle)
	if !ok {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: source.Excerpt(l.Bytes()) + " begins no ethtool -a; \"" + pauseTitle + "IFACE:\" was expected"}
	}
	out.Pos = l.Pos()
	i := InterfaceOutput{Name: iface}
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if text := refusal(line); text != "" && len(i.Settings) == 0 {
			out.Refusal = text
			break
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		key := strings.ToLower(strings.ReplaceAll(string(name), " ", "-"))
		switch key {
		case "autonegotiate", "rx", "tx", "rx-negotiated", "tx-negotiated":
			i.Settings = append(i.Settings, Setting{Name: key, Value: parseValue(value), Queue: -1, Pos: l.Pos()})
			continue
		}
		if len(line) > 0 && !unfinished(l) {
			l.Back()
		}
		break
	}
	if len(i.Settings) < 3 && out.Refusal == "" && atEnd(l) {
		cut(ledger, l.Pos(), "the input ends inside ethtool -a; the settings that are missing count as absent")
	}
	out.Interfaces = []InterfaceOutput{i}
	return out, nil
}

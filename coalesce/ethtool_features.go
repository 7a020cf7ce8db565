package coalesce

import (
	"bytes"

	"nettrace/source"
)

// ethtool -k IFACE: offload features.
//
//	Features for eth0:
//	tx-checksumming: on
//		tx-checksum-ipv4: off [fixed]
//
// Written by ethtool since 3.4; before, the title was "Offload parameters for". "[requested on]" says that the feature
// was asked for and could not be had. Error texts before the lines ("Cannot get device udp large send offload settings")
// belong to questions that the device does not support. Source: ethtool.c (dump_features), netlink/features.c.

func featuresHeader(line []byte) (iface string, rest []byte, ok bool) {
	if iface, rest, ok = header(line, "Features for "); ok {
		return iface, rest, true
	}
	return header(line, "Offload parameters for ")
}

// SniffFeatures recognises ethtool -k.
func SniffFeatures(head []byte) source.Match {
	line, rest := firstLine(head)
	_, inline, ok := featuresHeader(line)
	if !ok {
		return source.No
	}
	if len(inline) == 0 {
		inline, _ = firstLine(rest)
	}
	if _, ours := parseFeature(inline); ours || len(inline) == 0 || refusal(inline) != "" {
		return source.Strong
	}
	return source.No
}

// ReadFeatures reads ethtool -k.
func ReadFeatures(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	if !l.Next() {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: "the input is empty; \"Features for IFACE:\" was expected"}
	}
	iface, rest, ok := featuresHeader(l.Bytes())
	if !ok {
		return nil, &source.SyntaxError{Pos: l.Pos(), Msg: source.Excerpt(l.Bytes()) + " begins no ethtool -k; \"Features for IFACE:\" was expected"}
	}
	out := &Output{Tool: "ethtool-k", Pos: l.Pos()}
	i := InterfaceOutput{Name: iface}
	if s, ours := parseFeature(rest); ours {
		s.Pos = l.Pos()
		i.Settings = append(i.Settings, s)
	}
	for l.Next() {
		line := l.Bytes()
		if s, ours := parseFeature(line); ours && l.Complete() && len(i.Settings) < maxItems {
			s.Pos = l.Pos()
			i.Settings = append(i.Settings, s)
			continue
		}
		if text := refusal(line); text != "" {
			out.Refusal = text
			continue
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
		if _, _, another := featuresHeader(line); another { // of the next interface
			l.Back()
			break
		}
		if unfinished(l) { // also "name: off [fix"
			cut(ledger, l.Pos(), "the input ends inside ethtool -k; the features that are missing count as absent")
			break
		}
		if !damaged(l, func(line []byte) bool { _, ours := parseFeature(line); return ours }) {
			break
		}
		skip(l, ledger, "a feature of ethtool -k")
	}
	if len(i.Settings) > 0 { // the error texts were about single features
		out.Refusal = ""
	}
	out.Interfaces = []InterfaceOutput{i}
	return out, nil
}

// parseFeature reads "name: on|off [fixed]".
func parseFeature(line []byte) (s Setting, ok bool) {
	name, value, found := bytes.Cut(bytes.TrimSpace(line), []byte{':'})
	if !found || len(name) == 0 || len(name) > 64 || bytes.ContainsAny(name, " \t") && !isOldFeature(name) {
		return s, false
	}
	state, note, _ := bytes.Cut(bytes.TrimSpace(value), []byte{' '})
	s = Setting{Name: string(name), Value: parseValue(state), Queue: -1}
	if s.Value.State != On && s.Value.State != Off {
		return s, false
	}
	switch note := string(bytes.TrimSpace(note)); note {
	case "":
	case "[fixed]":
		s.Fixed = true
	case "[requested on]", "[requested off]":
		s.Requested = Switch(note == "[requested on]")
	default:
		if len(note) == 0 || note[0] != '[' {
			return s, false
		}
	}
	return s, true
}

// isOldFeature reports whether name has blanks as ethtool before 2.6.39 prints them: "udp fragmentation offload".
func isOldFeature(name []byte) bool { return bytes.HasSuffix(name, []byte("offload")) }

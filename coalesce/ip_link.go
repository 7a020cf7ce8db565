package coalesce

import (
	"bytes"
	"encoding/json"
	"strings"

	"nettrace/source"
)

// ip -s link, ip -s -s link: the kernel's counters of interfaces.
//
//	2: lcv1@if2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
//	    RX:   bytes packets errors dropped  missed   mcast
//	    21917948337 5418926      0       0       0       0
//
// Written by ip of iproute2 (ip/ipaddress.c); the columns are read by their titles, since versions differ ("overrun"
// gave way to "missed" in 5.x). With -j it is a list of objects, in which counts that are zero may be missing. Counters
// have the names of /sys/class/net/*/statistics. Addresses, aliases and what -d adds are ignored: they are no counts.

// SniffIPLink recognises ip link, text and JSON.
func SniffIPLink(head []byte) source.Match {
	if bytes.HasPrefix(head, []byte(`[{"ifindex":`)) {
		line, _ := firstLine(head)
		if bytes.Contains(line, []byte(`"ifname":`)) {
			return source.Strong
		}
		return source.No
	}
	line, rest := firstLine(head)
	if _, ok := linkTitle(line); ok {
		return source.Strong
	}
	if len(line) > 0 && line[0] == '[' && len(line) < 6 { // ip -j -p
		for range 4 {
			line, rest = firstLine(rest)
			if bytes.HasPrefix(bytes.TrimLeft(line, " {"), []byte(`"ifindex":`)) {
				return source.Strong
			}
		}
	}
	return source.No
}

// linkTitle reads "2: lcv1@if2: <FLAGS> mtu 1500 ..." up to the name.
func linkTitle(line []byte) (name []byte, ok bool) {
	if len(line) < 8 || !digit(line[0]) {
		return nil, false
	}
	index, rest, ok := bytes.Cut(line, []byte(": "))
	name, rest, found := bytes.Cut(rest, []byte(": <"))
	if _, number := parseUint(index); !ok || !found || !number || len(name) == 0 || len(name) > 40 || !bytes.Contains(rest, []byte(" mtu ")) {
		return nil, false
	}
	if at := bytes.IndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	return name, true
}

// ReadIPLink reads ip link, text or JSON.
func ReadIPLink(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "ip-s-link", Pos: l.Pos()}
	switch head := l.Head(4096); {
	case SniffIPLink(head) != source.Strong:
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no ip link begins here; \"1: NAME: <FLAGS> mtu\" was expected"}
	case head[0] == '[':
		readIPLinkJSON(l, ledger, out)
	default:
		readIPLinkText(l, ledger, out)
	}
	return out, nil
}

func readIPLinkText(l *source.Lines, ledger *source.Ledger, out *Output) {
	var titles []string // of the counts in the next line
	for l.Next() {
		line := l.Bytes()
		if name, ok := linkTitle(line); ok && len(out.Interfaces) < maxItems {
			out.Interfaces = append(out.Interfaces, InterfaceOutput{Name: string(name), Settings: linkSettings(line, l.Pos())})
			titles = nil
			continue
		}
		if len(line) == 0 || line[0] != ' ' {
			if len(line) > 0 {
				l.Back()
			}
			break
		}
		i := &out.Interfaces[len(out.Interfaces)-1]
		if titles != nil {
			if !l.Complete() {
				cut(ledger, l.Pos(), "the input ends inside ip -s link; the counts are left out")
				return
			}
			if !i.linkCounts(titles, bytes.Fields(line), l.Pos()) {
				ledger.Add("unreadable-line", source.Warning, l.Pos(), 1, source.Excerpt(line)+" are not as many counts as there are titles above; they are left out")
			}
		}
		titles = linkTitles(line)
	}
	if titles != nil && atEnd(l) {
		cut(ledger, l.Pos(), "the input ends before counts of ip -s link")
	}
}

// linkSettings reads the words of the title that are settings.
func linkSettings(line []byte, pos source.Pos) []Setting {
	var settings []Setting
	words := bytes.Fields(line)
	for k := 0; k+1 < len(words); k++ {
		name := map[string]string{"mtu": "mtu", "qlen": "txqlen"}[string(words[k])]
		if n, ok := parseUint(words[k+1]); ok && name != "" {
			settings = append(settings, Setting{Name: name, Value: Num(n), Queue: -1, Pos: pos})
		}
	}
	return settings
}

// linkTitles reads a line of titles, "RX: bytes packets ..." or "TX errors: aborted ...".
func linkTitles(line []byte) []string {
	title, rest, ok := bytes.Cut(bytes.TrimSpace(line), []byte{':'})
	direction, _, _ := strings.Cut(strings.ToLower(string(title)), " ")
	if !ok || direction != "rx" && direction != "tx" || len(title) > len("RX errors") {
		return nil
	}
	var titles []string
	for _, w := range strings.Fields(string(rest)) {
		titles = append(titles, linkName(direction, w))
	}
	return titles
}

// linkName returns the name in /sys/class/net/*/statistics of a column of ip, or of a key of its JSON.
func linkName(direction, word string) string {
	switch word {
	case "mcast", "multicast":
		return "multicast"
	case "collsns", "collisions":
		return "collisions"
	case "transns", "carrier_changes":
		return "carrier_changes"
	case "overrun":
		word = "over_errors"
	case "heartbt":
		word = "heartbeat_errors"
	case "length", "crc", "frame", "fifo", "missed", "carrier", "aborted", "window", "heartbeat":
		word += "_errors"
	}
	return direction + "_" + word
}

func (i *InterfaceOutput) linkCounts(titles []string, values [][]byte, pos source.Pos) bool {
	if len(titles) != len(values) {
		return false
	}
	for k, v := range values {
		n, ok := parseUint(v)
		if !ok {
			return false
		}
		i.Counters = append(i.Counters, Count{Name: titles[k], Value: n, Line: pos.Line, Offset: pos.Offset})
	}
	return true
}

func readIPLinkJSON(l *source.Lines, ledger *source.Ledger, out *Output) {
	visit := func(path []string, value json.Token, pos source.Pos) {
		key := ""
		if len(path) > 0 {
			key = path[len(path)-1]
		}
		if name, isText := value.(string); len(path) == 1 && key == "ifname" && isText && len(out.Interfaces) < maxItems {
			out.Interfaces = append(out.Interfaces, InterfaceOutput{Name: name})
			return
		}
		if len(out.Interfaces) == 0 {
			return
		}
		i := &out.Interfaces[len(out.Interfaces)-1]
		switch c, ok := jsonCount(key, value, pos); {
		case !ok || len(i.Counters) >= maxItems:
		case len(path) == 1 && (key == "mtu" || key == "txqlen"):
			i.Settings = append(i.Settings, Setting{Name: key, Value: Num(c.Value), Queue: -1, Pos: pos})
		case len(path) == 3 && path[0] == "stats64" && (path[1] == "rx" || path[1] == "tx"):
			c.Name = linkName(path[1], key)
			i.Counters = append(i.Counters, c)
		}
	}
	out.Pos = wholeJSON(l, ledger, "ip link", visit)
}

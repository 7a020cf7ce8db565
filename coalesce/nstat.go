package coalesce

import (
	"bytes"
	"encoding/json"

	"nettrace/source"
)

// nstat: the counters of the host's network protocols, one a line, or as JSON.
//
//	#kernel
//	IpInReceives                    5418915            0.0
//	{"kernel":{"IpInReceives":5418915,"IpInHdrErrors":0}}
//
// Written by nstat of iproute2 (misc/nstat.c): names are protocol and counter of /proc/net/snmp, netstat and snmp6, the
// value, and a rate that only its daemon fills in, which is ignored. Values are totals only with -a and without history
// (-s, or NSTAT_HISTORY); without -a they count from the last call, which the text does not tell. The JSON prints 64-bit
// counts cut to 32 bits with a sign in iproute2 6.1; negative values are left out.

// SniffNstat recognises nstat's text and JSON.
func SniffNstat(head []byte) source.Match {
	line, rest := firstLine(head)
	if bytes.HasPrefix(line, []byte(`{"kernel":{"`)) {
		return source.Strong
	}
	if string(bytes.TrimSpace(line)) == "#kernel" {
		line, _ = firstLine(rest)
		if _, _, ok := parseNstat(line); ok || len(line) == 0 {
			return source.Strong
		}
	}
	if len(line) > 0 && line[0] == '{' && len(bytes.TrimSpace(line)) == 1 { // nstat -jp
		next, _ := firstLine(rest)
		if bytes.HasPrefix(bytes.TrimSpace(next), []byte(`"kernel": {`)) {
			return source.Strong
		}
	}
	return source.No
}

// ReadNstat reads nstat's text or JSON.
func ReadNstat(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	out := &Output{Tool: "nstat", Pos: l.Pos()}
	if SniffNstat(l.Head(4096)) != source.Strong {
		return nil, &source.SyntaxError{Pos: out.Pos, Msg: "no nstat begins here; \"#kernel\" or {\"kernel\":{ was expected"}
	}
	i := InterfaceOutput{Host: true}
	if l.Head(1)[0] == '{' {
		out.Pos = wholeJSON(l, ledger, "nstat", func(path []string, value json.Token, pos source.Pos) {
			if c, ok := jsonCount(path[len(path)-1], value, pos); ok && len(path) == 2 && len(i.Counters) < maxItems {
				i.Counters = append(i.Counters, c)
			}
		})
	} else {
		l.Next()
		readNstatText(l, ledger, &i)
	}
	out.Interfaces = []InterfaceOutput{i}
	return out, nil
}

func readNstatText(l *source.Lines, ledger *source.Ledger, i *InterfaceOutput) {
	for l.Next() {
		name, value, ok := parseNstat(l.Bytes())
		switch {
		case ok && l.Complete():
			if len(i.Counters) < maxItems {
				i.Counters = append(i.Counters, Count{Name: string(name), Value: value, Line: l.Pos().Line, Offset: l.Pos().Offset})
			}
			continue
		case ok || unfinished(l):
			cut(ledger, l.Pos(), "the input ends inside a line of nstat; the counter is left out")
			return
		case len(bytes.TrimSpace(l.Bytes())) == 0 || !damaged(l, isNstatLine):
			return
		}
		skip(l, ledger, "a counter of nstat")
	}
}

func isNstatLine(line []byte) bool { _, _, ok := parseNstat(line); return ok }

// parseNstat reads "Name value rate", without allocation.
func parseNstat(line []byte) (name []byte, value uint64, ok bool) {
	end := bytes.IndexByte(line, ' ')
	if end <= 0 || end > 64 || line[0] < 'A' || line[0] > 'Z' {
		return nil, 0, false
	}
	name, line = line[:end], bytes.TrimLeft(line[end:], " ")
	if end = bytes.IndexByte(line, ' '); end < 0 {
		return nil, 0, false
	}
	value, ok = parseUint(line[:end])
	rate := bytes.TrimSpace(line[end:])
	return name, value, ok && len(rate) > 0 && digit(rate[0]) && bytes.IndexByte(rate, ' ') < 0
}

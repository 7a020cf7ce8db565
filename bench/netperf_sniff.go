package bench

import (
	"bytes"

	"nettrace/source"
)

// SniffNetperf recognises output of netperf that begins in the first line of head: a banner, an interim result, or a
// command line that such output follows. A lone row of numbers is Weak.
func SniffNetperf(head []byte) source.Match {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case bytes.Contains(line, []byte(" TEST from ")), bytes.Contains(line, []byte(" TEST to ")):
		if bannerIn(line) {
			return source.Strong
		}
		return sniffOmni(line, rest)
	case bytes.Contains(line, []byte("Interim result: ")):
		if constructIn(line, interimAt) {
			return source.Strong
		}
	case bytes.Contains(line, []byte("netperf ")):
		if commandIn(line, rest) {
			return source.Strong
		}
	case bytes.Contains(line, []byte("echo ")), bytes.Contains(line, []byte("sysctl ")), bytes.Contains(line, []byte("ethtool -")):
		if settingBefore(line, rest) {
			return source.Strong
		}
	}
	switch {
	case len(line) == 0 || line[0] > 'z':
		return source.No
	case bytes.HasPrefix(line, []byte("MIGRATED TCP")), bytes.HasPrefix(line, []byte("MIGRATED UDP")):
		return source.Strong // nothing else begins so, and this may be all that is left
	case bytes.HasPrefix(line, []byte("MIGRATED")), bytes.HasPrefix(line, []byte("Interim")), bytes.HasPrefix(line, []byte("TCP")), bytes.HasPrefix(line, []byte("UDP")):
		return brokenStart(head)
	case line[0] == 'e' && isFailure(line):
		return source.Strong
	case blank(line[0]) || line[0] >= '0' && line[0] <= '9':
		return rowOnly(line)
	}
	return source.No
}

// bannerIn reports whether a banner stands in line, behind debris or not: "TEST from" or "TEST to" a host, behind which
// the sentence does not go on.
func bannerIn(line []byte) bool {
	return constructIn(line, func(words []word) bool {
		test, n, _ := bannerAt(words)
		if test == "" || n == len(words) || string(words[n].text) != "from" && string(words[n].text) != "to" {
			return false
		}
		if n+2 >= len(words) {
			return true
		}
		next := words[n+2].text
		return next[0] == '(' || next[0] == ':' || string(next) == "port" || headWord(next)
	})
}

func constructIn(line []byte, at func([]word) bool) bool {
	words, _, _ := split(nil, line, source.Pos{})
	for i := range words {
		if at(words[i:]) {
			return true
		}
	}
	return false
}

// maxCommandLines is how far below its command line an output may begin: mail wraps commands.
const maxCommandLines = 4

// commandIn reports whether a command line stands in line and its output behind it or in the lines that follow.
func commandIn(line, rest []byte) bool {
	words, _, _ := split(nil, line, source.Pos{})
	for len(words) > 0 && !isCommand(words) {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	for i := range words {
		if i > 0 && (startsAt(words[i:]) || fitsRow(words[i:])) {
			return true
		}
	}
	for range maxCommandLines {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		words, _, _ := split(nil, line, source.Pos{})
		if bannerIn(line) || len(words) > 0 && (interimAt(words) || fitsRow(words)) {
			return true
		}
	}
	return false
}

// fitsRow reports whether words begin with numbers that are a result row of some test.
func fitsRow(words []word) bool {
	var buf [24]byte
	s := shape(words, buf[:])
	return len(s) >= 5 && guessLayout(s) != layoutUnknown
}

// startBytes holds a banner's name or an interim result.
const startBytes = 256

// brokenStart recognises a banner or an interim result whose line is broken elsewhere than netperf does.
func brokenStart(head []byte) source.Match {
	words, _, _ := split(nil, head[:min(len(head), startBytes)], source.Pos{})
	if len(words) > 0 && startsAt(words) {
		return source.Strong
	}
	return source.No
}

// rowOnly recognises a line that is nothing but one row.
func rowOnly(line []byte) source.Match {
	for _, c := range line {
		if !blank(c) && c != '.' && c != '-' && (c < '0' || c > '9') {
			return source.No
		}
	}
	words, _, _ := split(nil, line, source.Pos{})
	var buf [24]byte
	if fitsRow(words) && len(shape(words, buf[:])) == len(words) {
		return source.Weak
	}
	return source.No
}

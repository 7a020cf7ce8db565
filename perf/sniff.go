package perf

import (
	"bytes"

	"nettrace/source"
)

// SniffScript reports whether the text of `perf script` begins at head, which begins at a line.
func SniffScript(head []byte) source.Match {
	line, rest := lineOf(head)
	if len(line) == 0 {
		return source.No
	}
	switch line[0] {
	case '#':
		return sniffHeader(head)
	case '\t':
		return sniffBare(head)
	}
	var s sampleLine
	next, _ := lineOf(rest)
	if s.parse(line) {
		if s.event != nil || bytes.HasPrefix(s.rest, []byte("PERF_RECORD_")) || isFrame(next) || endsInFrame(&s) {
			return source.Strong
		}
		return source.No
	}
	if chain := isFrame(next); !isFrame(line) && (chain || line[len(line)-1] == ')') {
		switch partialLayout(&s, line) {
		case timeOnly: // ftrace prints the like, with an address at the end
			if chain {
				return source.Strong
			}
		case tidAndEvent:
			if chain || endsInFrame(&s) {
				return source.Strong
			}
		}
	}
	return source.No
}

func endsInFrame(s *sampleLine) bool {
	address, text, ok := cutAddress(s.rest)
	return ok && address > 0xffff && len(trimLeft(text)) > 0
}

// sniffHeader recognises the lines that `perf script --header` begins with; `perf report` prints them too, before its
// own columns.
func sniffHeader(head []byte) source.Match {
	line, rest := lineOf(head)
	if bytes.HasPrefix(line, []byte("# ========")) {
		line, _ = lineOf(rest)
	}
	if !bytes.HasPrefix(line, []byte("# captured on")) || bytes.Contains(head, []byte("\n# Overhead")) || bytes.Contains(head, []byte("\n# Samples:")) {
		return source.No
	}
	return source.Strong
}

// sniffBare recognises stacks without any sample line (-F ip,sym): blocks of frames that blank lines set apart, the
// addresses padded to 16 digits.
func sniffBare(head []byte) source.Match {
	frames, rest := 0, head
	for len(rest) > 0 {
		line, behind := lineOf(rest)
		if len(line) == 0 {
			break
		}
		if !isBareFrame(line) {
			if len(behind) == 0 && len(rest) < len(head) {
				break // cut at the end of the head
			}
			return source.No
		}
		frames, rest = frames+1, behind
	}
	if frames == 0 {
		return source.No
	}
	rest = bytes.TrimLeft(rest, "\r\n")
	switch line, _ := lineOf(rest); {
	case len(rest) == 0 && len(head) < headSize, isBareFrame(line):
		return source.Strong
	case len(rest) == 0:
		return source.Weak
	}
	return source.No
}

func isBareFrame(line []byte) bool {
	const width = 1 + 16
	if len(line) < width+2 || line[0] != '\t' || line[width] != ' ' {
		return false
	}
	_, n := cutHex(trimLeft(line[:width]))
	return n > 0 && len(trimLeft(line[:width])) == n
}

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
	b := lookBehind(rest)
	switch partialLayout(&s, line, b) {
	case noLayout:
	case timeOnly: // ftrace prints the like, with an address at the end
		if b.frame {
			return source.Strong
		}
	default:
		if b.frame || endsInFrame(&s) {
			return source.Strong
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

// sniffBare recognises stacks without any sample line (-F ip,sym): blocks of frames that blank lines set apart.
func sniffBare(head []byte) source.Match {
	rest, ok := cutBareStack(head)
	line, _ := lineOf(rest)
	switch {
	case !ok:
		return source.No
	case len(rest) == 0 && len(head) < headSize, isBareFrame(line):
		return source.Strong
	case len(rest) == 0:
		return source.Weak
	}
	return source.No
}

// lookBehind finds out what the line at the beginning of text is.
func lookBehind(text []byte) behind {
	line, _ := lineOf(text)
	b := behind{frame: isFrame(line), blank: len(line) == 0 && len(text) > 0}
	if rest, ok := cutBareStack(text); ok {
		line, after := lineOf(rest)
		next, _ := lineOf(after)
		b.stacks = len(rest) == 0 || !isBareFrame(line) && (isBareFrame(next) || len(next) == 0 && len(after) > 0)
	}
	return b
}

// cutBareStack cuts the frames that text begins with, and the blank lines behind them, off. There are none if another line
// comes before a blank one.
func cutBareStack(text []byte) (rest []byte, ok bool) {
	frames := 0
	for rest = text; len(rest) > 0; frames++ {
		line, behind := lineOf(rest)
		if len(line) == 0 {
			break
		}
		if isCut := len(behind) == 0 && frames > 0; !isBareFrame(line) && !isCut {
			return text, false
		}
		rest = behind
	}
	return bytes.TrimLeft(rest, "\r\n"), frames > 0
}

// isBareFrame reports whether line is a frame as perf pads it: a tab, and the address in 16 places.
func isBareFrame(line []byte) bool {
	const width = 1 + 16
	if len(line) < width+2 || line[0] != '\t' || line[width] != ' ' {
		return false
	}
	_, n := cutHex(trimLeft(line[:width]))
	return n > 0 && len(trimLeft(line[:width])) == n
}

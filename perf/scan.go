package perf

import "bytes"

// The small steps of scanning a line. All take and return parts of the line, without allocation.

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isDigit(c byte) bool { return c-'0' < 10 }

func trimLeft(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	return b
}

func trimRight(b []byte) []byte {
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// cutToken splits b, which begins with no blank, behind its first word.
func cutToken(b []byte) (token, rest []byte) {
	for i, c := range b {
		if isBlank(c) {
			return b[:i], trimLeft(b[i:])
		}
	}
	return b, nil
}

// cutLastToken splits b, which ends in no blank, before its last word.
func cutLastToken(b []byte) (rest, token []byte) {
	i := len(b)
	for i > 0 && !isBlank(b[i-1]) {
		i--
	}
	return trimRight(b[:i]), b[i:]
}

// number reads a whole token of decimal digits; what does not fit an int64 is its largest value.
func number(b []byte) (n int64, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		if n > (1<<63-1-9)/10 {
			n = 1<<63 - 1
			continue
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// integer reads a small number that may be negative.
func integer(b []byte) (n int, ok bool) {
	digits, negative := bytes.CutPrefix(b, []byte("-"))
	v, ok := number(digits)
	if !ok || v > 1<<31-1 {
		return 0, false
	}
	if negative {
		v = -v
	}
	return int(v), true
}

// hexValue[c] is the value of the hexadecimal digit c, 0xff for other bytes.
var hexValue = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = uint8(c - '0')
		case c >= 'a' && c <= 'f':
			t[c] = uint8(c - 'a' + 10)
		case c >= 'A' && c <= 'F':
			t[c] = uint8(c - 'A' + 10)
		default:
			t[c] = 0xff
		}
	}
	return t
}()

// cutHex reads the up to 16 hexadecimal digits that b begins with; n is how many there were.
func cutHex(b []byte) (v uint64, n int) {
	for n < len(b) && hexValue[b[n]] != 0xff {
		if n == 16 {
			return 0, 0
		}
		v = v<<4 | uint64(hexValue[b[n]])
		n++
	}
	return v, n
}

// lineOf returns the first line of b without its end, and what follows it.
func lineOf(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		line, rest = b[:i], b[i+1:]
	} else {
		line = b
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}

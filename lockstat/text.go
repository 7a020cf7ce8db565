package lockstat

import (
	"bytes"
	"math"
)

// words splits a line on blanks into buf, whose memory is used again.
func words(line []byte, buf [][]byte) [][]byte {
	buf = buf[:0]
	for i := 0; i < len(line); {
		for i < len(line) && blank(line[i]) {
			i++
		}
		start := i
		for i < len(line) && !blank(line[i]) {
			i++
		}
		if i > start {
			buf = append(buf, line[start:i])
		}
	}
	return buf
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' }

// whole reads a number without sign that is all of text.
func whole(text []byte) (n int64, ok bool) {
	if len(text) == 0 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// percent reports whether text is a percentage such as "76%".
func percent(text []byte) bool {
	n := len(text) - 1
	if n < 1 || text[n] != '%' {
		return false
	}
	_, ok := whole(text[:n])
	return ok
}

// decimal reads "10.004" as its digits without the dot and the number of those behind it.
func decimal(text []byte) (digits int64, places int, ok bool) {
	dot := bytes.IndexByte(text, '.')
	if dot < 0 {
		digits, ok = whole(text)
		return digits, 0, ok
	}
	front, ok1 := whole(text[:dot])
	back, ok2 := whole(text[dot+1:])
	places = len(text) - dot - 1
	if !ok1 || !ok2 || places > 9 {
		return 0, 0, false
	}
	return sum(product(front, pow10(places)), back), places, true
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// seconds reads a number of seconds.
func seconds(text []byte) (float64, bool) {
	digits, places, ok := decimal(text)
	return float64(digits) / float64(pow10(places)), ok
}

// rule reports whether a line is a rule of at least n equal characters.
func rule(line []byte, c byte, n int) bool {
	line = bytes.TrimSpace(line)
	return len(line) >= n && len(bytes.Trim(line, string(c))) == 0
}

// firstLine returns the first line of head without blanks around it.
func firstLine(head []byte) []byte {
	if i := bytes.IndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	return bytes.TrimSpace(head)
}

// symbolic reports whether a word can be a kernel symbol or an address: it is no plain number and has no odd characters.
func symbolic(word []byte) bool {
	letters := false
	for _, c := range word {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			letters = true
		case c >= '0' && c <= '9', c == '+', c == '.', c == '[', c == ']', c == '(', c == ')', c == '`', c == '$', c == '@', c == ':', c == '&', c == '>', c == '-', c == '*', c == '#', c == '/', c == '<', c == ',', c == '~':
		default:
			return false
		}
	}
	return letters
}

package bench

import (
	"bytes"
	"strconv"
	"strings"

	"nettrace/source"
)

// word is one blank-separated piece of an output with its place. Outputs are read word by word, since line ends and
// columns do not survive in archived mail.
type word struct {
	text   []byte
	offset int64
	line   int
}

// chunkWords bounds how much of a line is looked at in one go; a line is as good as broken there.
const chunkWords = 512

// split appends the words of line, which begins at pos, to words. It stops at chunkWords and returns what is left.
func split(words []word, line []byte, pos source.Pos) ([]word, []byte, source.Pos) {
	for len(words) < chunkWords {
		start := 0
		for start < len(line) && blank(line[start]) {
			start++
		}
		end := start
		for end < len(line) && !blank(line[end]) {
			end++
		}
		if start == end {
			return words, nil, pos
		}
		for _, w := range unglue(line[start:end]) {
			if len(w) > 0 {
				words = append(words, word{text: w, offset: pos.Offset + int64(start), line: pos.Line})
				start += len(w)
			}
		}
		line = line[end:]
		pos.Offset += int64(end)
	}
	return words, line, pos
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// unglue parts a head's last word from the number that followed it on the next line, before the line end was lost:
// "sec16384", "10^6bits/sec87380", "us/KB131072".
func unglue(text []byte) [2][]byte {
	for _, last := range [...]string{"10^6bits/sec", "secs.", "sec", "us/KB", "us/Tr"} {
		if len(text) > len(last) && string(text[:len(last)]) == last && kindOf(text[len(last):]) != notNumber {
			return [2][]byte{text[:len(last)], text[len(last):]}
		}
	}
	return [2][]byte{text}
}

// headWord reports whether a word belongs to the column heads of a classic output.
func headWord(text []byte) bool {
	switch string(text) {
	case "Local", "/Remote", "Remote", "Socket", "Size", "Request", "Resp.", "Elapsed", "Trans.", "Send", "Recv", "Time", "Rate",
		"bytes", "Bytes", "secs.", "secs", "per", "sec", "Message", "Throughput", "Utilization", "Service", "Demand", "local", "remote",
		"%", "us/KB", "us/Tr", "CPU", "S.dem", "Messages", "Okay", "Errors", "#", "Util", "Tput", "Latency", "usecs", "tran", "Trans",
		"Offset", "RoundTrip", "usec/Tran", "Outbound", "Inbound", "Xfered", "Per", "(avg)", "Sends", "Recvs":
		return true
	}
	return rateUnit(text) != "" || methodLetters(text)
}

// methodLetters reports whether a word is netperf's letter, or two, for how CPU utilisation was measured
// (netlib.c, format_cpu_method).
func methodLetters(text []byte) bool {
	if len(text) == 0 || len(text) > 2 {
		return false
	}
	for _, c := range text {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// rateUnit returns the unit that a word of the head or of an interim result prints, in one spelling, or "".
func rateUnit(text []byte) string {
	name, ok := bytes.CutSuffix(text, []byte("/sec"))
	if !ok {
		if name, ok = bytes.CutSuffix(text, []byte("/s")); !ok {
			return ""
		}
	}
	switch string(name) { // netlib.c, format_units
	case "Trans":
		return transactions
	case "10^0bits":
		return "bits/s"
	case "10^3bits":
		return "10^3 bits/s"
	case "10^6bits":
		return "10^6 bits/s"
	case "10^9bits":
		return "10^9 bits/s"
	case "Bytes":
		return "bytes/s"
	case "KBytes": // of 1,024 bytes; MBytes and GBytes of its powers
		return "KBytes/s"
	case "MBytes":
		return "MBytes/s"
	case "GBytes":
		return "GBytes/s"
	}
	return ""
}

type numberKind uint8

const (
	notNumber numberKind = iota
	integer
	decimal // with a point or an exponent
)

// kindOf tells what kind of number a word is: -?digits[.digits][e+-digits].
func kindOf(text []byte) numberKind {
	rest := bytes.TrimPrefix(text, []byte("-"))
	n := digits(rest)
	if n == 0 || len(text) > 32 {
		return notNumber
	}
	kind := integer
	if rest = rest[n:]; len(rest) > 0 && rest[0] == '.' {
		n = digits(rest[1:])
		if n == 0 {
			return notNumber
		}
		kind, rest = decimal, rest[1+n:]
	}
	if len(rest) > 2 && rest[0] == 'e' && (rest[1] == '+' || rest[1] == '-') && digits(rest[2:]) == len(rest)-2 {
		return decimal
	}
	if len(rest) > 0 {
		return notNumber
	}
	return kind
}

func digits(text []byte) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// maxNumber is above every rate and size; what is larger is damage, and would make sums overflow.
const maxNumber = 1e18

// number returns the value of a word that kindOf calls a number, 0 where it is beyond maxNumber.
func number(text []byte) float64 {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || v > maxNumber || v < -maxNumber {
		return 0
	}
	return v
}

// count returns the value of a word that kindOf calls an integer, 0 where it does not fit.
func count(text []byte) int64 {
	v, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// printable returns text as a string that survives JSON.
func printable(text []byte) string { return strings.ToValidUTF8(string(text), "\ufffd") }

// decimals returns how many digits a number shows behind its point.
func decimals(text []byte) int {
	i := bytes.IndexByte(text, '.')
	if i < 0 {
		return 0
	}
	return digits(text[i+1:])
}

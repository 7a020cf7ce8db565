package bench

import (
	"bytes"
	"strings"
)

// The first line of a classic output (nettest_bsd.c, print_top_test_header; MIGRATED since netperf 2.5, where the omni
// test does the work):
//
//	MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to hostb (10.0.0.2) port 0 AF_INET : demo : first burst 0
//	TCP STREAM TEST to hostb : nodelay
//
// Archived copies run words together: "port 0AF_INETto hostb", "AF_INET: histogram".

// layout is how the numbers of a result follow each other.
type layout uint8

const (
	layoutUnknown   layout = iota
	layoutStream           // recv and send socket, message, seconds, rate [, CPU and demand]
	layoutRR               // send and recv socket, request, response, seconds, rate [, CPU and demand], the peer's sockets
	layoutUDPStream        // socket, message, seconds, okay, errors, rate [, CPU and demand]; socket, seconds, okay, rate [..]
)

// testNamed returns the name that netperf's -t gives the test of a banner, or "".
func testNamed(family, name string) string {
	switch name {
	case "STREAM", "MAERTS", "SENDFILE":
		return family + "_" + name
	case "UNIDIRECTIONAL SEND":
		return family + "_STREAM"
	case "REQUEST/RESPONSE":
		return family + "_RR"
	case "Connect/Request/Response":
		return family + "_CRR"
	}
	return ""
}

// layoutOf returns the layout of a test's results.
func layoutOf(test string) layout {
	family, name, _ := strings.Cut(test, "_")
	switch {
	case family == "omni" || family == "OMNI" || name == "":
		return layoutUnknown
	case name == "RR", name == "CRR":
		return layoutRR
	case test == "UDP_STREAM":
		return layoutUDPStream
	case name == "STREAM", name == "MAERTS", name == "SENDFILE":
		return layoutStream
	}
	return layoutUnknown
}

// defaultUnit is what a test reports in where no head says so and no option changes it.
func defaultUnit(test string) string {
	if layoutOf(test) == layoutRR || strings.HasSuffix(test, "Send|Recv") {
		return transactions
	}
	return "10^6 bits/s"
}

// bannerAt recognises the beginning of a banner up to "TEST": it returns the test and the number of words. Where words
// end before the banner does, cut is true: it may be one.
func bannerAt(words []word) (test string, n int, cut bool) {
	i := 0
	if i < len(words) && string(words[i].text) == "MIGRATED" {
		i++
	}
	if i == len(words) {
		return "", 0, i > 0
	}
	if !family(words[i].text) {
		return "", 0, false
	}
	for end := i + 1; end <= i+3; end++ {
		if end == len(words) {
			return "", 0, namePrefix(words[i+1 : end])
		}
		if string(words[end].text) == "TEST" {
			test = testNamed(string(words[i].text), joined(words[i+1:end]))
			return test, end + 1, false
		}
	}
	return "", 0, false
}

func family(text []byte) bool {
	switch string(text) {
	case "TCP", "UDP", "SDP", "SCTP":
		return true
	}
	return false
}

func namePrefix(words []word) bool {
	switch joined(words) {
	case "", "STREAM", "MAERTS", "SENDFILE", "UNIDIRECTIONAL", "UNIDIRECTIONAL SEND", "REQUEST/RESPONSE", "Connect/Request/Response":
		return true
	}
	return false
}

func joined(words []word) string {
	var b []byte
	for i, w := range words {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, w.text...)
	}
	return string(b)
}

// maxBannerWord bounds a word of a banner that is kept.
const maxBannerWord = 256

// address takes the words between TEST and the first colon.
func (r *netperf) address(text []byte) bool {
	previous := r.previous
	r.previous = ""
	name, last := bytes.CutSuffix(text, []byte(":"))
	switch {
	case len(text) > maxBannerWord:
		return false
	case string(text) == "to", bytes.HasSuffix(text, []byte("AF_INETto")):
		r.previous = "to"
	case previous == "to":
		r.about.host = printable(text)
	case string(text) == "port":
		r.previous = "port"
	case string(text) == "from":
		r.previous = "from"
	case previous == "from", previous == "port" && kindOf(text) == integer:
	case len(name) == 0 || addressWord(name):
		if last {
			r.inside = inOptions
			r.about.settings = append(r.about.settings, Setting{})
		}
	default:
		return false
	}
	return true
}

func addressWord(text []byte) bool {
	return bytes.HasPrefix(text, []byte("AF_")) || bytes.HasPrefix(text, []byte("0AF_")) || text[0] == '(' || bytes.HasSuffix(text, []byte(")")) ||
		bytes.IndexByte(text, '.') > 0 && kindOf(text) == notNumber || bytes.Contains(text, []byte("::"))
}

// maxOptions bounds the options of a banner; netperf has ten.
const maxOptions = 32

// option takes the words of the options behind the address: ": histogram : demo : first burst 16".
func (r *netperf) option(text []byte) bool {
	settings := r.about.settings
	last := &settings[len(settings)-1]
	next := last.Name + " " + string(text[:min(len(text), maxBannerWord)])
	switch {
	case len(settings)-r.about.given > maxOptions || len(text) > maxBannerWord:
		return false
	case string(text) == ":":
		r.about.settings = append(settings, Setting{})
	case last.Name == "":
		last.Name = printable(text)
	case next == "first burst", next == "copy avoidance", next == "no control", next == "spin interval", next == "dirty data", next == "cpu bind":
		last.Name = next
	case last.Name == "first burst" && last.Value == "" && kindOf(text) == integer:
		last.Value = string(text)
	default:
		return strings.HasPrefix(last.Name, "+/-") && confidenceWord(last, text)
	}
	return true
}

// confidenceWord takes the words of "+/-2.500% @ 95% conf. on result only".
func confidenceWord(s *Setting, text []byte) bool {
	switch string(text) {
	case "@", "conf.", "on", "result", "only":
		return true
	}
	if s.Value == "" && bytes.HasSuffix(text, []byte("%")) {
		s.Value = printable(text)
		return true
	}
	return false
}

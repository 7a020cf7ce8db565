package perf

import (
	"bytes"
	"strconv"
	"strings"
)

// read takes what a line beginning with # tells, as `perf script --header` prints it: "# os release : 6.18.44".
// Everything else on such lines (events with their attributes, topology, missing features) is left out.
func (h *Header) read(line []byte) {
	key, value, ok := strings.Cut(strings.TrimLeft(string(line), "# "), ":")
	if !ok {
		return
	}
	value = strings.TrimSpace(value)
	switch strings.TrimSpace(key) {
	case "captured on":
		h.Captured = value
	case "hostname":
		h.Host = value
	case "os release":
		h.Release = value
	case "perf version":
		h.Version = value
	case "nrcpus online":
		h.CPUs, _ = strconv.Atoi(value)
	case "cpudesc":
		h.CPU = value
	case "cmdline":
		h.Command = value
	}
}

// read takes what perf's own messages and its records say of losses:
//
//	Processed 69098 events and lost 2 chunks!
//	Processed 4235 samples and lost 12.01%!
//	iperf3 23769 984.9: PERF_RECORD_LOST lost 12
func (l *Lost) read(line []byte) {
	_, behind, ok := bytes.Cut(line, []byte(" lost"))
	if !ok {
		return
	}
	digits := bytes.TrimLeft(behind, ": ")
	end := bytes.IndexFunc(digits, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(digits)
	}
	switch value, unit := string(digits[:end]), digits[end:]; {
	case bytes.HasPrefix(unit, []byte("%")):
		share, _ := strconv.ParseFloat(value, 64)
		l.Share = max(l.Share, share/100)
	case bytes.HasPrefix(unit, []byte(" chunks")):
		n, _ := strconv.ParseInt(value, 10, 64)
		l.Chunks += n
	default:
		n, _ := strconv.ParseInt(value, 10, 64)
		l.Events += n
	}
}

// isNotice reports whether line is one that perf prints beside samples: about losses, and warnings around them.
func isNotice(line []byte) bool {
	for _, prefix := range []string{"Processed ", "Check IO/CPU overload!", "Warning:", "Check your disk"} {
		if bytes.HasPrefix(line, []byte(prefix)) {
			return true
		}
	}
	return false
}

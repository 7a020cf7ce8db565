package bench

import (
	"bytes"
	"strings"

	"nettrace/source"
)

// The omni test of netperf 2.5 and later names its own columns (nettest_omni.c), in three forms, and so do the migrated
// tests (MIGRATED TCP STREAM TEST from ...) where one of the forms is asked for:
//
//	OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to hostb () port 0 AF_INET : demo
//	THROUGHPUT=4976.01                     -k: KEY=VALUE
//	Throughput,99th Percentile Latency     -o: a head line and a line of values
//
// and -O, which stacks the words of each head over four lines (see stack). A value of -1 stands for "not measured".
type omni struct {
	columns []string // of the CSV form, as the keys of the other
	stack   *stack   // of the human form: the block that is being read
	blocks  int      // of the human form, read
	fields  []field
	unused  int64
	pos     source.Pos // of the first value
}

type field struct{ key, value string }

// Bounds on what is kept of one omni output; netperf knows about 180 selectors.
const (
	maxFields     = 256
	maxFieldBytes = 512
)

// omniBanner splits the banner of an omni output: its direction and what stands behind TEST.
func omniBanner(line []byte) (direction string, rest []byte, ok bool) {
	_, after, ok := bytes.Cut(line, []byte("OMNI "))
	if !ok {
		return "", nil, false
	}
	name, rest, ok := bytes.Cut(after, []byte(" TEST "))
	switch string(name) {
	case "Send", "Recv", "Send|Recv":
		return string(name), rest, ok
	}
	return "", nil, false
}

// sniffOmni recognises an omni output by the line that follows its banner.
func sniffOmni(line, rest []byte) source.Match {
	if _, _, ok := omniBanner(line); !ok {
		return source.No
	}
	next, _, _ := bytes.Cut(rest, []byte("\n"))
	if _, _, ok := keyValue(next); ok || len(rest) == 0 || len(omniColumns(next)) > 0 || isStack(rest) {
		return source.Strong
	}
	return source.No
}

// keyValue splits a line of the -k form.
func keyValue(line []byte) (key, value string, ok bool) {
	k, v, ok := bytes.Cut(bytes.TrimSpace(line), []byte("="))
	if !ok || len(k) == 0 || len(k) > 64 || len(v) > maxFieldBytes {
		return "", "", false
	}
	return string(k), printable(v), keyStart(k)
}

// keyStart reports whether text can be a key, or the beginning of one.
func keyStart(text []byte) bool {
	for _, c := range text {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '[' && c != ']' {
			return false
		}
	}
	return true
}

// omniColumns returns the keys of a CSV head, "" for those that are not used, or nil if the line is none.
func omniColumns(line []byte) []string {
	known := false
	var columns []string
	for _, name := range splitCSV(bytes.TrimSpace(line)) {
		key := omniKey(name)
		known = known || key != ""
		columns = append(columns, key)
	}
	if !known {
		return nil
	}
	return columns
}

// splitCSV splits a line at its commas outside quotes, at most maxFields fields.
func splitCSV(line []byte) []string { return splitFields(line, ',') }

// splitFields splits a line at a separator outside quotes, at most maxFields fields.
func splitFields(line []byte, separator byte) []string {
	var fields []string
	quoted, start := false, 0
	for i, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if c == separator && !quoted && len(fields) < maxFields {
			fields = append(fields, printable(line[start:i]))
			start = i + 1
		}
	}
	return append(fields, strings.TrimRight(printable(line[start:]), "\r"))
}

// omniKey returns the key of a column by its CSV name.
func omniKey(name string) string {
	switch name {
	case "Throughput":
		return "THROUGHPUT"
	case "Throughput Units":
		return "THROUGHPUT_UNITS"
	case "Elapsed Time (sec)":
		return "ELAPSED_TIME"
	case "Request Size Bytes":
		return "REQUEST_SIZE"
	case "Response Size Bytes":
		return "RESPONSE_SIZE"
	case "Local Send Size":
		return "LOCAL_SEND_SIZE"
	case "Remote Send Size":
		return "REMOTE_SEND_SIZE"
	case "Local CPU Util %":
		return "LOCAL_CPU_UTIL"
	case "Local Service Demand":
		return "LOCAL_SD"
	case "Remote CPU Util %":
		return "REMOTE_CPU_UTIL"
	case "Remote Service Demand":
		return "REMOTE_SD"
	case "Protocol":
		return "PROTOCOL"
	case "Initial Burst Requests":
		return "BURST_SIZE"
	case "Transport MSS bytes":
		return "TRANSPORT_MSS"
	case "Local Transport Retransmissions":
		return "LOCAL_TRANSPORT_RETRANS"
	case "Minimum Latency Microseconds":
		return "MIN_LATENCY"
	case "Maximum Latency Microseconds":
		return "MAX_LATENCY"
	case "50th Percentile Latency Microseconds":
		return "P50_LATENCY"
	case "90th Percentile Latency Microseconds":
		return "P90_LATENCY"
	case "99th Percentile Latency Microseconds":
		return "P99_LATENCY"
	case "Mean Latency Microseconds":
		return "MEAN_LATENCY"
	case "Stddev Latency Microseconds":
		return "STDDEV_LATENCY"
	case "Local Send Socket Size Final":
		return "LSS_SIZE_END"
	case "Local Recv Socket Size Final":
		return "LSR_SIZE_END"
	case "Remote Send Socket Size Final":
		return "RSS_SIZE_END"
	case "Remote Recv Socket Size Final":
		return "RSR_SIZE_END"
	}
	return ""
}

// beginOmni takes the banner of an omni output.
func (r *netperf) beginOmni(line []byte, pos source.Pos) bool {
	direction, rest, ok := omniBanner(line)
	if !ok {
		return false
	}
	at := word{offset: pos.Offset, line: pos.Line}
	r.banner("omni "+direction, at)
	words, _, _ := split(nil, rest, pos)
	for _, w := range words {
		r.single(w.text)
	}
	r.inside, r.headOpen = inText, false
	r.omni = &omni{}
	return true
}

// migrated reports whether the line begins one of the forms under the banner of a migrated test.
func (r *netperf) migrated(line []byte) bool {
	if !r.waiting || !r.headOpen || len(r.held) > 0 {
		return false
	}
	if _, _, ok := keyValue(line); ok {
		return true
	}
	columns := len(omniColumns(line))
	if s := stackAt(line, source.Pos{}); columns == 0 && (s == nil || len(s.starts) < 2) { // a lone word can be of wrapped classic heads
		return false
	}
	r.lines.Back()
	head := r.lines.Head(headBytes)
	found := isStack(head)
	if columns > 0 {
		found = isCSV(head, columns)
	}
	return r.lines.Next() && found
}

// isCSV reports whether a line of as many values follows on the first one; a single value that is no number can be a word
// of classic heads that somebody wrapped.
func isCSV(head []byte, columns int) bool {
	_, rest, _ := bytes.Cut(head, []byte("\n"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	values := splitCSV(bytes.TrimSpace(line))
	return len(values) == columns && (columns > 1 || kindOf([]byte(values[0])) != notNumber)
}

// omniLine takes a line of an omni output.
func (r *netperf) omniLine(line []byte, pos source.Pos) bool {
	o := r.omni
	if o.stack != nil {
		return o.stacked(line, pos, r.lines.Complete())
	}
	if key, value, ok := keyValue(line); ok && o.columns == nil {
		if r.lines.Complete() { // else the value may be cut
			o.add(key, value, pos)
		}
		return true
	}
	switch {
	case len(bytes.TrimSpace(line)) == 0, !r.lines.Complete() && keyStart(line):
		return true
	case o.columns == nil && o.blocks == 0 && len(o.fields) == 0:
		if o.columns = omniColumns(line); o.columns == nil {
			o.stack = stackAt(line, pos)
		}
		return o.columns != nil || o.stack != nil
	case o.blocks > 0:
		o.stack = stackAt(line, pos)
		return o.stack != nil
	case o.columns == nil || len(o.fields) > 0:
		return false
	}
	values := splitCSV(bytes.TrimSpace(line))
	if len(values) != len(o.columns) {
		return false
	}
	if !r.lines.Complete() {
		values = values[:len(values)-1] // it may be cut
	}
	for i, value := range values {
		o.add(o.columns[i], value, pos)
	}
	return true
}

func (o *omni) add(key, value string, pos source.Pos) {
	if o.pos == (source.Pos{}) {
		o.pos = pos
	}
	if key == "" || len(o.fields) == maxFields {
		o.unused++
		return
	}
	o.fields = append(o.fields, field{key, value})
}

// endOmni makes a run of what an omni output gave.
func (r *netperf) endOmni() {
	o := r.omni
	r.omni = nil
	if s := o.stack; s != nil && len(o.fields) > 0 {
		name := "incomplete-row"
		if r.ended {
			name = "cut-input"
		}
		r.ledger.Add(name, source.Warning, s.pos, 1, "heads of columns without their values; left out")
	}
	run := r.about.run()
	run.Pos, run.Group = o.pos, r.group
	for _, f := range o.fields {
		switch {
		case f.key == "THROUGHPUT_UNITS" && rateUnit([]byte(f.value)) != "":
			run.Unit = rateUnit([]byte(f.value))
		case f.key == "PROTOCOL", f.key == "BURST_SIZE":
			run.Settings = append(run.Settings, Setting{Name: strings.ToLower(f.key), Value: f.value})
		default:
			if v, measured := f.number(); !measured || !run.omniNumber(f.key, v) {
				o.unused++
			}
		}
	}
	rate := o.text("THROUGHPUT")
	if rate == nil {
		return // result-missing says so
	}
	run.Local = r.omniCost(&run, "local", rate, o.text("LOCAL_CPU_UTIL"), o.text("LOCAL_SD"))
	run.Remote = r.omniCost(&run, "remote", rate, o.text("REMOTE_CPU_UTIL"), o.text("REMOTE_SD"))
	if o.unused > 0 {
		r.ledger.Add("omni-field-unused", source.Note, o.pos, o.unused, "fields of an omni output that were not measured or are not used")
	}
	r.add(run)
}

// number returns the value of a field, and whether it was measured.
func (f field) number() (float64, bool) {
	if kindOf([]byte(f.value)) == notNumber || f.value[0] == '-' {
		return 0, false
	}
	return number([]byte(f.value)), true
}

// text returns the measured value of a field as printed, or nil.
func (o *omni) text(key string) []byte {
	for _, f := range o.fields {
		if _, measured := f.number(); f.key == key && measured {
			return []byte(f.value)
		}
	}
	return nil
}

// omniCost makes the cost of a side of utilisation and demand; one without the other is a detail.
func (r *netperf) omniCost(run *Run, side string, rate, util, demand []byte) *CPU {
	switch {
	case util != nil && demand != nil:
		return cost(r.ledger, run, r.about.method, rate, util, demand)
	case util != nil:
		run.Details = append(run.Details, Detail{side + "_cpu_percent", number(util)})
	case demand != nil && run.Unit == transactions:
		run.Details = append(run.Details, Detail{side + "_demand_us_per_transaction", number(demand)})
	case demand != nil:
		run.Details = append(run.Details, Detail{side + "_demand_us_per_kb", number(demand)})
	}
	return nil
}

// omniNumber enters a measured number into the run and reports whether it is used.
func (r *Run) omniNumber(key string, v float64) bool {
	switch key {
	case "THROUGHPUT":
		r.Rate = v
	case "ELAPSED_TIME":
		r.Seconds = v
	case "REQUEST_SIZE":
		r.Sizes.Request = int64(v)
	case "RESPONSE_SIZE":
		r.Sizes.Response = int64(v)
	case "LOCAL_SEND_SIZE", "REMOTE_SEND_SIZE":
		if r.Unit != transactions { // of request/response it is the request again
			r.Sizes.Message = max(r.Sizes.Message, int64(v))
		}
	case "LSS_SIZE_END":
		r.Sockets.LocalSend = int64(v)
	case "LSR_SIZE_END":
		r.Sockets.LocalRecv = int64(v)
	case "RSS_SIZE_END":
		r.Sockets.RemoteSend = int64(v)
	case "RSR_SIZE_END":
		r.Sockets.RemoteRecv = int64(v)
	case "LOCAL_CPU_UTIL", "LOCAL_SD", "REMOTE_CPU_UTIL", "REMOTE_SD": // omniCost reads them
	case "TRANSPORT_MSS":
		r.Details = append(r.Details, Detail{Name: "mss_bytes", Value: v})
	case "MIN_LATENCY", "MAX_LATENCY", "P50_LATENCY", "P90_LATENCY", "P99_LATENCY", "MEAN_LATENCY", "STDDEV_LATENCY":
		r.Details = append(r.Details, Detail{Name: strings.ToLower(key) + "_us", Value: v})
	case "LOCAL_TRANSPORT_RETRANS":
		r.Details = append(r.Details, Detail{Name: "local_retransmissions", Value: v})
	default:
		return false
	}
	return true
}

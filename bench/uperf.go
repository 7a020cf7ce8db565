package bench

import (
	"bytes"
	"math"
	"strings"

	"nettrace/source"
	"nettrace/unit"
)

// uperf 1.0.3 to 1.0.8 (github.com/uperf/uperf, src/main.c and stats.c), with or without -R:
//
//	Starting 2 threads running profile:tcp_rr ...   0.00 seconds
//	Txn2      10.86MB /   1.00(s) =    90.97Mb/s      126353op/s
//	Total     31.33MB /   5.31(s) =    49.53Mb/s       68788op/s
//	timestamp_ms:1796057056686.2402 name:Txn2 nr_bytes:4410 nr_ops:49
//
// Lines of progress end in a carriage return and tell totals so far: the last one of a name is its result, the others
// are its course. Bytes have prefixes of 1,024, bits of 1,000, and a field that is too narrow loses the end of its unit
// (1005.86MB is printed as 1005.86). Operations count each write and each read. A transaction without data (connect,
// disconnect) has no rate worth the name and is left out. The figure is that of the transactions, not of Total, whose
// time includes connecting and waiting. Netstat's table and the hosts' are details; those of groups, strands,
// transactions and flowops (-a) are passed over, since they tell the same by another key.
type uperf struct {
	begin    source.Pos
	ledger   *source.Ledger
	profile  string
	txns     []*uperfTxn
	total    *uperfPoint
	details  []Detail
	table    uperfTable
	previous float64 // seconds (Unix) of the raw line before, 0 if there is none
	raw      bool    // -R
	unended  bool
}

// uperfTxn is what was printed of one transaction.
type uperfTxn struct {
	name   string
	points []uperfPoint // totals so far, ascending
	begin  float64      // seconds at which it began, known of raw lines only
	pos    source.Pos   // of the last
}

// uperfPoint is a total so far.
type uperfPoint struct {
	seconds, bytes, bits float64 // bits per second as printed, 0 of raw lines
	perSecond            float64 // operations as printed
	operations           float64 // of raw lines
	pos                  source.Pos
}

// uperfTable is which table the lines belong to.
type uperfTable uint8

const (
	noTable uperfTable = iota
	netstatTable
	hostsTable
	otherTable
)

// SniffUperf recognises uperf's first line, a line of progress or total, and a raw line.
func SniffUperf(head []byte) source.Match {
	line, _, _ := bytes.Cut(head[:min(len(head), 400)], []byte("\n"))
	line = bytes.TrimLeft(line, "\r ")
	if len(line) == 0 {
		return source.No
	}
	switch {
	case line[0] == 'S' && bytes.HasPrefix(line, []byte("Starting ")) && bytes.Contains(line, []byte("running profile:")):
		return source.Strong
	case line[0] == 'T' && (bytes.HasPrefix(line, []byte("Txn")) || bytes.HasPrefix(line, []byte("Total"))):
		if _, _, ok := parseUperfLine(string(lastUpdate(line))); ok {
			return source.Strong
		}
	case line[0] == 't' && bytes.HasPrefix(line, []byte("timestamp_ms:")) && bytes.Contains(line, []byte(" nr_ops:")):
		return source.Strong
	}
	return source.No
}

// lastUpdate returns what stands behind the last carriage return that something follows.
func lastUpdate(line []byte) []byte {
	line = bytes.TrimRight(line, "\r ")
	return bytes.TrimSpace(line[bytes.LastIndexByte(line, '\r')+1:])
}

// ReadUperf reads one output. It enters into the ledger: cut-input, result-missing, transaction-without-data,
// uperf-line, uperf-errors, uperf-hosts-differ, unit-lost, interim-merged, too-many-results.
func ReadUperf(l *source.Lines, ledger *source.Ledger) ([]Run, error) {
	r := &uperf{begin: l.Pos(), ledger: ledger}
	for first := true; l.Next(); first = false {
		line := l.Bytes()
		if !first && bytes.HasPrefix(line, []byte("Starting ")) && bytes.Contains(line, []byte("running profile:")) || !r.line(line, l.Pos()) {
			l.Back()
			break
		}
	}
	r.unended = !l.Complete()
	return r.runs(), nil
}

// maxTxns bounds the transactions of a profile.
const maxTxns = 1000

// line takes a line and reports whether it is uperf's.
func (r *uperf) line(line []byte, pos source.Pos) bool {
	text := strings.TrimSpace(string(lastUpdate(line[:min(len(line), 1<<16)])))
	switch {
	case text == "", strings.HasPrefix(text, "----"):
		return true
	case strings.HasPrefix(text, "Starting "):
		_, profile, ok := strings.Cut(text, "profile:")
		r.profile, _, _ = strings.Cut(profile, " ")
		return ok
	case strings.HasPrefix(text, "timestamp_ms:"):
		return r.rawLine(text, pos)
	case strings.HasPrefix(text, "Netstat statistics for this run"):
		r.table = netstatTable
		return true
	case strings.HasPrefix(text, "Run Statistics"):
		r.table = hostsTable
		return true
	case strings.HasPrefix(text, "Group Details"), strings.HasPrefix(text, "Strand Details"), strings.HasPrefix(text, "Txn   "), strings.HasPrefix(text, "Flowop   "):
		r.table = otherTable
		return true
	case strings.HasPrefix(text, "Difference(%)"):
		r.difference(text, pos)
		return true
	}
	if r.table == noTable && (strings.HasPrefix(text, "Txn") || strings.HasPrefix(text, "Total")) {
		return r.updates(line, pos)
	}
	return r.tableLine(text, pos)
}

// updates takes the updates of a line of progress.
func (r *uperf) updates(line []byte, pos source.Pos) bool {
	mine := false
	for part := range bytes.SplitSeq(line, []byte("\r")) {
		text := string(bytes.TrimSpace(part))
		if text == "" {
			continue
		}
		name, point, ok := parseUperfLine(text)
		if !ok {
			r.ledger.Add("uperf-line", source.Warning, pos, 1, "a line of progress that cannot be read; it is left out")
			continue
		}
		mine = true
		point.pos = pos
		if name == "Total" {
			r.total = &point
			continue
		}
		r.add(name, point)
	}
	return mine
}

func (r *uperf) add(name string, point uperfPoint) *uperfTxn {
	name = printable([]byte(name))
	n := len(r.txns)
	if n == 0 || r.txns[n-1].name != name {
		if n == maxTxns {
			r.ledger.Add("too-many-results", source.Warning, point.pos, 1, "more than 1,000 transactions in one profile; the rest is left out")
			return r.txns[n-1]
		}
		r.txns = append(r.txns, &uperfTxn{name: name})
		n++
	}
	t := r.txns[n-1]
	t.pos = point.pos
	if k := len(t.points); k == 0 || point.seconds > t.points[k-1].seconds && k < 1<<16 {
		t.points = append(t.points, point)
	} else {
		t.points[k-1] = point
	}
	return t
}

// rawLine takes "timestamp_ms:1796057056686.2402 name:Txn2 nr_bytes:4410 nr_ops:49".
func (r *uperf) rawLine(text string, pos source.Pos) bool {
	fields := map[string]string{}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, ":")
		fields[key] = value
	}
	for _, key := range [...]string{"timestamp_ms", "nr_bytes", "nr_ops"} {
		if kindOf([]byte(fields[key])) == notNumber {
			return false
		}
	}
	r.raw = true
	at := number([]byte(fields["timestamp_ms"])) / 1000
	point := uperfPoint{seconds: at, bytes: number([]byte(fields["nr_bytes"])), operations: number([]byte(fields["nr_ops"])), pos: pos}
	name := printable([]byte(fields["name"]))
	switch {
	case name == "Total":
		r.total = &point
	default:
		if n := len(r.txns); n == 0 || r.txns[n-1].name != name {
			r.add(name, point).begin = r.previous
		} else {
			r.add(name, point)
		}
	}
	r.previous = at
	return true
}

// parseUperfLine reads "Txn2      10.86MB /   1.00(s) =    90.97Mb/s      126353op/s".
func parseUperfLine(text string) (name string, p uperfPoint, ok bool) {
	words := strings.Fields(strings.Replace(text, "/", "/ ", 1)) // 1.0.3 puts no blank behind the stroke
	if len(words) == 6 {
		words = append(words, "0op/s") // and leaves out what cannot be computed
	}
	if len(words) != 7 || words[2] != "/" || words[4] != "=" {
		return "", p, false
	}
	seconds, timed := strings.CutSuffix(words[3], "(s)")
	perSecond, counted := strings.CutSuffix(words[6], "op/s")
	if !timed || !counted || kindOf([]byte(seconds)) == notNumber || kindOf([]byte(perSecond)) == notNumber {
		return "", p, false
	}
	bits, ok := uperfBits(words[5])
	if !ok {
		return "", p, false
	}
	p.seconds, p.perSecond, p.bits = number([]byte(seconds)), number([]byte(perSecond)), bits
	p.bytes, ok = uperfBytes(words[1], bits*p.seconds/8)
	return words[0], p, ok
}

// uperfBits reads "90.97Mb/s" as bits per second; the end of the unit may be lost.
func uperfBits(text string) (float64, bool) {
	digits := strings.TrimRight(text, "KMGTbps/")
	power := 0
	if len(digits) < len(text) {
		power = unit.Prefix(text[len(digits)])
	}
	return number([]byte(digits)) * math.Pow10(3*power), kindOf([]byte(digits)) != notNumber
}

// uperfBytes reads "31.33MB", "419.92M" or "1005.86". Without a letter the unit is the power of 1,024 that comes nearest
// to what the rate says; negative where none does.
func uperfBytes(text string, expected float64) (float64, bool) {
	digits := strings.TrimRight(text, "KMGTB")
	if kindOf([]byte(digits)) == notNumber {
		return 0, false
	}
	v := number([]byte(digits))
	if len(digits) < len(text) {
		return math.Ldexp(v, 10*unit.Prefix(text[len(digits)])), true
	}
	if v == 0 || kindOf([]byte(digits)) == integer {
		return v, true
	}
	for range 5 {
		if expected > 0 && v/expected > 0.9 && v/expected < 1.1 {
			return v, true
		}
		v *= 1 << 10
	}
	return -1, true
}

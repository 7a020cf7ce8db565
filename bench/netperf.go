package bench

import (
	"bytes"
	"slices"
	"strings"

	"nettrace/source"
)

// netperf reads one output of netperf 2.4 to 2.7 (github.com/HewlettPackard/netperf). A classic test writes
//
//	MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to hostb (10.0.0.2) port 0 AF_INET : first burst 0
//	Interim result: 5332.90 Trans/s over 0.28 seconds ending at 1311209347.312
//	16384  87380  4344     1       10.00    9907.27
//
// with two to six lines of column heads before the numbers. Words count, not lines and columns, since archived mail loses
// line ends. The heads are used for the unit and the CPU method only. Prose is passed over where an interim result or a
// result of the same loop follows within a few lines. Also read: -v 2 with its histogram, confidence warnings, rows behind
// a command line with -P 0, omni output in its three forms.
type netperf struct {
	lines  *source.Lines
	ledger *source.Ledger
	source string
	group  int64
	runs   []Run
	last   bool // the words are those of a last line without an end
	final  bool // no more words follow
	ended  bool // because the input ended

	about    about
	shell    []Setting // what the shell's log set before
	command  command
	inside   construct
	headOpen bool   // column heads may follow
	previous string // the word before this one, in heads and banners, where it matters
	aligned  bool   // the numbers to come are those of the table of alignments

	begun   source.Pos // of the banner or command whose result is missing
	waiting bool       // whether there is one
	interim series
	warning warning
	table   table // the histogram being read
	omni    *omni // the omni output being read

	words []word // of the current line, behind those held
	held  []word // from the lines before, undecided yet
}

// construct is what takes its words one by one.
type construct uint8

const (
	inText construct = iota // none: between them
	inCommand
	inAddress
	inOptions
	inWarning
	inHistogram
)

// about is what is known of the results to come.
type about struct {
	test, host, unit, method string
	settings                 []Setting
	given                    int // settings of the command line: they hold for all banners that follow it
}

// headBytes is how far the text that follows is looked at.
const headBytes = 4096

// maxRuns bounds the results kept of one output.
const maxRuns = 10_000

// ReadNetperf reads the output that begins with the next line, as SniffNetperf found it, with all results that follow in
// the same output. It enters into the ledger: cut-input, no-line-end, result-missing, incomplete-row, text-in-output,
// too-many-results, interim-merged, service-demand-identity, request-size-unused, test-not-named, histogram-total,
// omni-field-unused, netperf-error.
func ReadNetperf(l *source.Lines, ledger *source.Ledger) ([]Run, error) {
	pos := l.Pos()
	r := &netperf{lines: l, ledger: ledger, source: pos.Source, group: pos.Offset}
	for begin := true; l.Next(); begin = false {
		if r.line(l.Bytes(), l.Pos(), begin) {
			continue
		}
		l.Back()
		if !r.resume() {
			r.finish(false)
			return r.runs, nil
		}
	}
	r.finish(true)
	return r.runs, nil
}

// resume goes on at a line that is not the output's own: into a further output, or over a few lines of prose. It reports
// whether there was one.
func (r *netperf) resume() bool {
	head := r.lines.Head(headBytes)
	if SniffNetperf(head) == source.Strong {
		return r.lines.Next() && r.line(r.lines.Bytes(), r.lines.Pos(), true)
	}
	skip := r.proseBefore(head)
	for range skip {
		r.lines.Next()
	}
	return skip > 0
}

// maxProse is how many lines may stand between the results of one loop: "now the 4345 byte request:".
const maxProse = 4

// proseBefore returns how many lines stand before the next result of the same loop, 0 if none follows soon. A result
// that is introduced anew, by a banner or a command, is not of the loop.
func (r *netperf) proseBefore(head []byte) int {
	for skip := range maxProse {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		words, _, _ := split(nil, line, source.Pos{})
		switch {
		case skip > 0 && len(words) > 0 && (interimAt(words) || r.rowLine(words)):
			return skip
		case SniffNetperf(head) == source.Strong, r.lines.Foreign(head), len(rest) == 0:
			return 0
		}
		head = rest
	}
	return 0
}

// rowLine reports whether a line begins with a row of the test that was read last.
func (r *netperf) rowLine(words []word) bool {
	var buf [24]byte
	_, v := layoutOf(r.about.test).fit(shape(words, buf[:]), false)
	return v == taken
}

// line reads a line and reports whether it is the output's own. Where it is known to be (mine), foreign words before and
// between constructs are passed over.
func (r *netperf) line(text []byte, pos source.Pos, mine bool) bool {
	if r.omni == nil && r.migrated(text) {
		r.omni = &omni{}
		text = r.lines.Bytes()
	}
	if r.omni != nil {
		if r.omniLine(text, pos) {
			return true
		}
		r.endOmni()
	}
	if r.sizesLine(text) || mine && (r.beginOmni(text, pos) || r.shellLine(text)) || r.failure(text, pos) {
		return true
	}
	for len(text) > 0 {
		words := append(r.words[:0], r.held...)
		held := len(words)
		words, text, pos = split(words, text, pos)
		r.words, r.held, r.last = words, r.held[:0], len(text) == 0 && !r.lines.Complete()
		if !r.read(words, held, mine) {
			return false
		}
		mine = true // a long line goes on as it began
	}
	return true
}

// failure takes netperf's word that it did not reach the other host (netlib.c, establish_control).
func (r *netperf) failure(line []byte, pos source.Pos) bool {
	if !isFailure(line) {
		return false
	}
	r.waiting = false
	if bytes.HasPrefix(line, []byte(failure)) {
		r.ledger.Add("netperf-error", source.Note, pos, 1, printable(line[:min(len(line), 200)]))
	}
	return true
}

const failure = "establish control: are you sure there is a netserver listening"

func isFailure(line []byte) bool {
	return bytes.HasPrefix(line, []byte(failure)) || bytes.HasPrefix(line, []byte("establish_control could not"))
}

// read takes words, of which the first held ones come from the lines before.
func (r *netperf) read(words []word, held int, mine bool) bool {
	for i := 0; i < len(words); {
		n, v := r.match(words[i:])
		switch {
		case v == taken:
			i += n
		case v == more:
			r.hold(words[i:])
			return true
		case r.ended || r.last && r.cutAt(words[i:]):
			r.note("cut-input", source.Warning, words[i], "the input ends in the midst of a result; its beginning is left out")
			r.waiting = false
			return true
		case i < held || kindOf(words[i].text) != notNumber && (mine || i > held):
			r.note("incomplete-row", source.Warning, words[i], "the beginning of a result whose rest does not follow, or numbers that are none; left out")
			i++
		case i == held && !mine:
			return false
		default:
			i += r.skip(words[i:])
		}
	}
	return true
}

// cutAt reports whether words that cannot be read are the output's own, cut by the end of the input: nothing that could
// be read follows.
func (r *netperf) cutAt(words []word) bool {
	first := words[0].text
	own := r.headOpen || kindOf(first) != notNumber || family(first)
	for _, start := range [...]string{"MIGRATED", "Interim", "Alignment", "Maximum", "Histogram"} {
		own = own || strings.HasPrefix(start, string(first))
	}
	for i := range words {
		own = own && !startsAt(words[i:])
	}
	return own
}

// hold keeps words whose meaning the next line decides.
func (r *netperf) hold(words []word) {
	r.held = r.held[:0]
	for _, w := range words {
		w.text = slices.Clone(w.text)
		r.held = append(r.held, w)
	}
}

// skip returns how many foreign words stand before the next construct.
func (r *netperf) skip(words []word) int {
	n := 1
	for n < len(words) && !startsAt(words[n:]) {
		n++
	}
	if n == len(words) && (len(r.runs) > 0 || r.waiting) { // a prompt before a command is no loss
		r.note("text-in-output", source.Note, words[0], "words that netperf does not write, in a line of its output; they are passed over")
	}
	return n
}

// startsAt reports whether an output surely begins at words.
func startsAt(words []word) bool {
	if interimAt(words) || isCommand(words) {
		return true
	}
	test, _, _ := bannerAt(words)
	return test != ""
}

// finish ends the reading; ended says that the input did, too.
func (r *netperf) finish(ended bool) {
	r.final, r.ended = true, ended
	if r.omni != nil {
		r.endOmni()
	}
	r.read(r.held, len(r.held), true)
	if r.inside == inCommand {
		r.finishCommand()
	}
	if ended && !r.lines.Complete() {
		r.ledger.Add("no-line-end", source.Note, r.lines.Pos(), 1, "the last line of the output has no end; was the file cut there?")
	}
	missing := r.waiting || len(r.interim.points) > 0
	unended := r.inside == inWarning || r.inside == inHistogram
	switch {
	case missing && ended, unended && ended:
		r.unfinished("cut-input")
	case missing:
		r.unfinished("result-missing")
	}
}

// unfinished enters an output without its end, and keeps the interim results that it has.
func (r *netperf) unfinished(name string) {
	pos, text := r.begun, "the output has no result row; was netperf stopped, or the file cut?"
	if points := r.interim.points; len(points) > 0 {
		pos = points[len(points)-1].Pos
		text = "interim results without a result row; their mean stands for it"
		r.partial()
	} else if !r.waiting {
		pos, text = r.lines.Pos(), "the input ends in the midst of an output"
	}
	r.ledger.Add(name, source.Warning, pos, 1, text)
	r.waiting = false
}

// partial makes a run of interim results whose result row is missing.
func (r *netperf) partial() {
	run := r.about.run()
	run.Pos, run.Group, run.Partial = r.interim.points[0].Pos, r.group, true
	run.Rate, run.Seconds = r.interim.mean()
	r.add(run)
}

func (r *netperf) pos(w word) source.Pos {
	return source.Pos{Source: r.source, Offset: w.offset, Line: w.line}
}

func (r *netperf) note(name string, severity source.Loss, at word, text string) {
	r.ledger.Add(name, severity, r.pos(at), 1, text)
}

func (a *about) run() Run {
	run := Run{Tool: "netperf", Test: a.test, Host: a.host, Unit: a.unit, Settings: a.settings}
	if run.Unit == "" {
		run.Unit = defaultUnit(a.test)
	}
	return run
}

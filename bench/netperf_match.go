package bench

import (
	"slices"

	"nettrace/source"
)

// match finds what words begin with, takes it, and returns the number of its words.
func (r *netperf) match(words []word) (int, verdict) {
	first := words[0]
	test, n, cut := bannerAt(words)
	switch {
	case test != "":
		r.banner(test, first)
		return n, taken
	case cut && !r.final:
		return 0, more
	case string(first.text) == "Interim":
		return r.interimResult(words)
	case r.inside != inCommand && isCommand(words):
		r.expect(first)
		r.inside, r.command = inCommand, command{}
		return 1, taken
	}
	if r.single(first.text) {
		return 1, taken
	}
	return r.plain(words)
}

// single offers a word to the construct that takes its words one by one, and ends the construct where it does not belong.
func (r *netperf) single(text []byte) bool {
	mine := false
	switch r.inside {
	case inCommand:
		if mine = r.command.take(text); !mine {
			r.finishCommand()
		}
	case inAddress:
		mine = r.address(text)
	case inOptions:
		mine = r.option(text)
	case inWarning:
		mine = r.warn(text)
	case inHistogram:
		if mine = r.histogram(text); !mine {
			r.ledger.Add("histogram-total", source.Warning, r.table.pos, 1, "the histogram breaks off before its total; it is left out")
		}
	}
	if !mine {
		r.inside = inText
	}
	return mine
}

// plain finds what words between constructs begin with.
func (r *netperf) plain(words []word) (int, verdict) {
	text := words[0].text
	switch {
	case kindOf(text) != notNumber && r.aligned:
		return r.alignments(words)
	case kindOf(text) != notNumber:
		return r.row(words)
	case string(text) == "!!!":
		r.inside, r.warning = inWarning, warning{}
	case string(text) == "Alignment" && len(r.runs) > 0:
		r.headOpen, r.aligned = true, true
	case string(text) == "Maximum" && len(r.runs) > 0:
		return r.mss(words)
	case string(text) == "Histogram" && len(r.runs) > 0:
		r.inside, r.table = inHistogram, table{pos: r.pos(words[0])}
	case r.headOpen && headWord(text):
		r.head(text)
	default:
		return 0, foreign
	}
	return 1, taken
}

// head takes a word of the column heads.
func (r *netperf) head(text []byte) {
	if u := rateUnit(text); u != "" && !r.aligned {
		r.about.unit = u
	}
	switch {
	case r.previous == "per" && string(text) == "tran":
		r.about.unit = "us/transaction"
	case r.previous == "%" && methodLetters(text):
		r.about.method = string(text[:1])
	}
	r.previous = ""
	if string(text) == "per" || string(text) == "%" {
		r.previous = string(text)
	}
}

// banner begins the output of a test.
func (r *netperf) banner(test string, first word) {
	if r.inside == inCommand {
		r.finishCommand()
	} else {
		r.expect(first)
	}
	settings := slices.Clone(r.about.settings[:r.about.given])
	r.about = about{test: test, settings: settings, given: r.about.given}
	r.inside, r.headOpen, r.aligned = inAddress, true, false
}

// expect notes that a result is to follow.
func (r *netperf) expect(first word) {
	if r.waiting && r.headOpen || len(r.interim.points) > 0 { // a banner's result; commands need not have one
		r.unfinished("result-missing")
	}
	r.begun, r.waiting = r.pos(first), true
}

// add enters a run with what was collected for it.
func (r *netperf) add(run Run) {
	run.Interim, run.Missed = r.interim.points, r.warning.missed()
	r.interim, r.warning = series{}, warning{}
	r.waiting, r.headOpen, r.aligned = false, false, false
	if len(r.runs) == maxRuns {
		r.ledger.Add("too-many-results", source.Warning, run.Pos, 1, "more than 10,000 results in one output; the rest is left out")
		return
	}
	if _, set := run.Setting("-- -r"); set && layoutOf(run.Test) == layoutStream {
		r.ledger.Add("request-size-unused", source.Note, run.Pos, 1, "-r sets no size of a stream test; the message size is that of the result row (set it with -m)")
	}
	if run.Test == "" {
		r.ledger.Add("test-not-named", source.Note, run.Pos, 1, "no banner and no command line names the test; its kind is told by the number of columns")
	}
	r.runs = append(r.runs, run)
}

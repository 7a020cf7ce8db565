package analyze

import (
	"nettrace/coalesce"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/perf"
	"nettrace/source"
)

// A recording of perf feeds several models: all of its samples make a profile; its tracepoint events tell more to those
// who know them, such as how long locks were waited for or how many packets an interrupt brought. They are consumers.

// consumer is one that takes the tracepoint events of one output.
type consumer struct {
	event perf.Watcher
	end   func(r *reader, out *Source, p *flame.Profile) // puts what was made of them into the models; p is the whole recording's
}

// consumers returns the constructors of all consumers, by the package whose model they feed. One is made for each output;
// start is where that begins, and what cannot be used of its events goes to ledger.
func consumers() []func(start source.Pos, ledger *source.Ledger) consumer {
	return []func(source.Pos, *source.Ledger) consumer{lockEvents, networkWork}
}

// lockEvents makes lock tables of the events of locks.
func lockEvents(start source.Pos, ledger *source.Ledger) consumer {
	pairs := lockstat.NewPairing(start, ledger)
	return consumer{event: pairs.Event, end: func(r *reader, _ *Source, p *flame.Profile) {
		r.fresh.Models.Locks = append(r.fresh.Models.Locks, pairs.Tables(lockstat.Recording{CPUs: p.CPUs, Span: p.End - p.Start, Lost: max(p.Lost.Events, p.Lost.Chunks)})...)
	}}
}

// networkWork adds up the events of interrupts, softirqs, polls and packets.
func networkWork(start source.Pos, ledger *source.Ledger) consumer {
	w := coalesce.NewWorkWatcher(start, ledger)
	return consumer{event: w.Event, end: func(r *reader, _ *Source, p *flame.Profile) {
		if o := w.Work(p.End-p.Start, max(p.Lost.Events, p.Lost.Chunks)); o != nil {
			o.Name, o.ModTime = r.src.Name, r.src.ModTime
			r.outputs = append(r.outputs, *o)
		}
	}}
}

// readEvents reads one recording of perf into a profile and into the models of the consumers.
func readEvents(r *reader, out *Source, start source.Pos, read func(flame.PerfOptions) (*flame.Profile, error)) error {
	var all []consumer
	o := flame.PerfOptions{Window: r.options.Window, Times: r.options.Times, Pace: &out.Pace}
	for _, begin := range consumers() {
		c := begin(start, &r.ledger)
		all, o.Watchers = append(all, c), append(o.Watchers, c.event)
	}
	p, err := read(o)
	for _, c := range all {
		if p != nil {
			c.end(r, out, p)
		}
	}
	return r.profile(out, p, err)
}

func readPerfScript(r *reader, out *Source, l *source.Lines) error {
	return readEvents(r, out, l.Pos(), func(o flame.PerfOptions) (*flame.Profile, error) {
		return flame.ReadPerf(l, &r.ledger, o)
	})
}

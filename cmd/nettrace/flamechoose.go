package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nettrace/flame"
	"nettrace/perf"
	"nettrace/unit"
)

// chooseFlags are the flags that choose which samples and frames of a profile are shown, and by what they are grouped.
type chooseFlags struct {
	column              flame.Column
	by, code            []string
	focus, ignore, hide string
	comm, cpu, pid      string
	from, to            string
	merge               bool
	demangle            bool
}

func (c *chooseFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.column.Event, "event", "", "the event to show, if there are several")
	f.StringVar((*string)(&c.column.Value), "value", "period", "what to add up: period or samples")
	f.StringSliceVar(&c.by, "by", []string{"comm"}, "group stacks by comm, pid, tid, cpu, event or a field of tracepoints (dev, action, reason), outermost first; none merges all")
	f.StringVar(&c.focus, "focus", "", "only stacks with a function or object that matches this regular expression")
	f.StringVar(&c.ignore, "ignore", "", "no stacks with a function or object that matches")
	f.StringVar(&c.hide, "hide", "", "leave out frames that match, not what they called")
	f.StringSliceVar(&c.code, "code", nil, "only frames of these kinds of code: kernel, module, user, jit")
	f.StringVar(&c.comm, "comm", "", "only threads whose name matches")
	f.StringVar(&c.pid, "pid", "", "only this process")
	f.StringVar(&c.cpu, "cpu", "", "only this CPU")
	f.StringVar(&c.from, "from", "", "only samples from this time on, in seconds on the recording's clock")
	f.StringVar(&c.to, "to", "", "only samples before this time")
	f.BoolVar(&c.merge, "merge-recursion", false, "show a function that calls itself once")
	f.BoolVar(&c.demangle, "demangle", true, "names of C++ and Rust as in the source")
}

// choice is what the flags ask for.
type choice struct {
	window    perf.Window
	selection flame.Selection
	by        []string
}

// of returns the chosen part of a profile.
func (c *choice) of(p *flame.Profile) *flame.Profile {
	p = p.Select(c.selection)
	var labels []flame.Label
	for _, name := range c.by {
		if name == "event" {
			p = p.ByEvent()
		}
		if name != "none" {
			labels = append(labels, flame.Label(name))
		}
	}
	return p.By(labels...)
}

func (c *chooseFlags) choice() (*choice, error) {
	chosen := &choice{by: c.by, selection: flame.Selection{MergeRecursion: c.merge, Demangle: c.demangle, Where: map[flame.Label]*regexp.Regexp{}}}
	for _, name := range c.by {
		if !slices.Contains([]string{"comm", "pid", "tid", "cpu", "event", "none"}, name) && !slices.Contains(flame.FieldLabels(), flame.Label(name)) {
			return nil, usage("--by %s: expected comm, pid, tid, cpu, event, none or a field of tracepoints (%v)", name, flame.FieldLabels())
		}
	}
	s := &chosen.selection
	for _, p := range []struct {
		flag, text string
		to         **regexp.Regexp
	}{{"focus", c.focus, &s.Focus}, {"ignore", c.ignore, &s.Ignore}, {"hide", c.hide, &s.Hide}} {
		re, err := expression("--"+p.flag, p.text)
		if err != nil {
			return nil, err
		}
		*p.to = re
	}
	for label, text := range map[flame.Label]string{flame.Comm: c.comm, flame.PID: exactly(c.pid), flame.CPU: exactly(c.cpu)} {
		re, err := expression("--"+string(label), text)
		if err != nil {
			return nil, err
		}
		if re != nil {
			s.Where[label] = re
		}
	}
	for _, name := range c.code {
		var kind flame.Kind
		if err := kind.UnmarshalText([]byte(name)); err != nil || kind > flame.JIT {
			return nil, usage("--code %s: expected kernel, module, user or jit", name)
		}
		s.Kinds = append(s.Kinds, kind)
	}
	return chosen, c.times(&chosen.window)
}

func (c *chooseFlags) times(w *perf.Window) error {
	for _, t := range []struct {
		flag, text string
		to         *unit.Nanos
	}{{"from", c.from, &w.From}, {"to", c.to, &w.To}} {
		if t.text == "" {
			continue
		}
		nanos, ok := seconds(t.text)
		if !ok {
			return usage("--%s %s: expected seconds on the recording's clock, such as 621.25", t.flag, t.text)
		}
		*t.to = nanos
	}
	if w.To != 0 && w.To <= w.From {
		return usage("--to %s is not after --from %s", c.to, c.from)
	}
	return nil
}

// seconds reads decimal seconds exactly to the nanosecond.
func seconds(text string) (unit.Nanos, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) > 9 {
		return 0, false
	}
	s, err := strconv.ParseUint(whole, 10, 32)
	n, err2 := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
	return unit.Nanos(s*1e9 + n), err == nil && err2 == nil
}

// exactly is the expression that only text matches; "" for none.
func exactly(text string) string {
	if text == "" {
		return ""
	}
	return "^" + regexp.QuoteMeta(text) + "$"
}

func expression(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, usage("%s: %v", flag, err)
	}
	return re, nil
}

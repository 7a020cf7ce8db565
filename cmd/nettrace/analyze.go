package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nettrace/analyze"
	"nettrace/diagnose"
	"nettrace/finding"
	"nettrace/report"
	"nettrace/source"
	"nettrace/unit"
)

func analyzeCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "analyze PATH...",
		Short: "Recognise, decode and judge recordings; print ranked findings with evidence",
		Example: `  nettrace analyze fixtures/bundles/rr-4345
  nettrace analyze fixtures/pcap/rr-4345-wire.pcap -o json
  cat fixtures/pcap/rr-4345-wire.pcap | nettrace analyze -
  nettrace analyze --partial fixtures/pcap/rr-4345-wire.pcap
  nettrace analyze fixtures/bundles/rr-4345 --param nic/adaptive-unbalanced.variant=2`,
	}
	cmd.Flags().Bool(partialFlag, false, "write what was read and judge nothing: nettrace merge joins such files of several machines, or of the pieces of one capture")
	cmd.RunE = analyzeFlags(e, cmd)
	return cmd
}

const partialFlag = "partial"

// partial reads, and writes what it read.
func (e *env) partial(ctx context.Context, args []string, o analyze.Options) error {
	paths, err := e.paths(args)
	if err != nil {
		return err
	}
	o.Stdin = e.stdin
	p := e.newProgress()
	if p != nil {
		o.Progress = p.report
	}
	errs := analyze.WritePartial(ctx, e.stdout, paths, o)
	p.done()
	for _, err := range errs {
		fmt.Fprintln(e.stderr, "nettrace: "+report.Clean(err.Error()))
	}
	if len(errs) > 0 {
		return exit{exitFailed, ""}
	}
	return nil
}

// inputFlags are the flags of all commands that read recordings.
type inputFlags struct {
	format   string
	strict   bool
	symbols  []string
	inlined  bool
	interval time.Duration // of the commands that judge counters
}

func (f *inputFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", "", "read all inputs as this format instead of recognising them")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "exit with 4 if an input is damaged or lost data")
	cmd.Flags().StringArrayVar(&f.symbols, "symbols", nil, "file or folder that names functions of binary recordings: kallsyms, System.map, an object, an archive of perf archive, a build-id cache, a root; may be repeated")
	cmd.Flags().BoolVar(&f.inlined, "inlined", false, "show functions that the compiler inlined, of binary recordings with debug information")
}

// addInterval adds the flag of the commands to which the time between snapshots of counters matters.
func (f *inputFlags) addInterval(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.interval, "interval", 0, "time between snapshots of counters whose names and texts have no time")
}

// options returns what the flags say of reading.
func (f *inputFlags) options() (analyze.Options, error) {
	if f.interval < 0 {
		return analyze.Options{}, usage("--interval %v: expected a time above 0", f.interval)
	}
	return analyze.Options{Format: f.format, Symbols: f.symbols, Inlined: f.inlined, Interval: unit.Nanos(f.interval)}, nil
}

// paths returns what to read: the arguments, or standard input if there are none and it holds data.
func (e *env) paths(args []string) ([]string, error) {
	if len(args) == 0 {
		if !e.piped {
			return nil, usage("no path given")
		}
		return []string{"-"}, nil
	}
	return args, nil
}

// analyzeFlags declares the flags of analyze on cmd and returns what runs it.
func analyzeFlags(e *env, cmd *cobra.Command) func(*cobra.Command, []string) error {
	var in inputFlags
	var anonymous anonymizeFlags
	var output, color, failOn string
	var params []string
	var verbose, all, noPredict bool
	in.add(cmd)
	in.addInterval(cmd)
	anonymous.add(cmd)
	cmd.Flags().BoolVar(&noPredict, "no-predict", false, "do not try what is advised in the reference datapath")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, json, ndjson or markdown")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print all findings with all numbers and places")
	cmd.Flags().BoolVar(&all, "all", false, "print in text all that the explorer shows: also sources, connections, locks, stacks, counters and settings")
	cmd.Flags().StringArrayVar(&params, "param", nil, "a threshold, as RULE.NAME=VALUE (see nettrace explain RULE)")
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit with 3 if there is a finding of this severity or above: info, notice, warning, critical")
	cmd.Flags().StringVar(&color, "color", "auto", "auto, always or never")
	return func(cmd *cobra.Command, args []string) error {
		style := e.style(color, verbose || all)
		write, ok := report.Writer(output, style)
		switch {
		case !ok:
			return usage("-o %s: expected text, json, ndjson or markdown", output)
		case all && output != "text":
			return usage("--all is for text; -o json has all of a result")
		}
		set, err := parameters(params)
		if err != nil {
			return err
		}
		o, err := in.options()
		if err != nil {
			return err
		}
		o.Params = set
		anonymous.begin(e)
		if f := cmd.Flag(partialFlag); f != nil && f.Value.String() == "true" {
			if anonymous.on {
				return usage("--partial holds packets as they are: expected no --anonymize with it; nettrace merge --anonymize replaces what it joins")
			}
			return e.partial(cmd.Context(), args, o)
		}
		r, err := e.analyze(cmd.Context(), args, o, !noPredict)
		if r == nil {
			return err
		}
		if aerr := anonymous.apply(r, args); aerr != nil {
			return aerr
		}
		if werr := write(e.stdout, r); werr != nil {
			return werr
		}
		if all {
			err = errors.Join(err, e.everything(r, style))
		}
		return errors.Join(err, status(r, failOn, in.strict))
	}
}

// analyze reads, judges and diagnoses. The result is nil only if there is nothing to show.
func (e *env) analyze(ctx context.Context, args []string, o analyze.Options, predict bool) (*analyze.Result, error) {
	paths, err := e.paths(args)
	if err != nil {
		return nil, err
	}
	o.Stdin = e.stdin
	p := e.newProgress()
	if p != nil {
		o.Progress = p.report
	}
	r, errs := analyze.Run(ctx, paths, o)
	p.done()
	diagnose.Apply(r, o.Params)
	if predict {
		diagnose.Predict(ctx, r)
	}
	return e.judged(r, errs)
}

// judged prints the errors of single sources and fails if nothing was read at all.
func (e *env) judged(r *analyze.Result, errs []error) (*analyze.Result, error) {
	for _, err := range errs {
		fmt.Fprintln(e.stderr, "nettrace: "+report.Clean(err.Error()))
	}
	switch {
	case len(r.Sources) == 0:
		return nil, exit{exitFailed, ""}
	case len(errs) > 0 || report.NothingRead(r):
		return r, exit{exitFailed, ""}
	default:
		return r, nil
	}
}

// status turns what was found into the exit code.
func status(r *analyze.Result, failOn string, strict bool) error {
	if r.Partial {
		return exit{exitInterrupted, ""}
	}
	if failOn != "" {
		var at finding.Severity
		if err := at.UnmarshalText([]byte(failOn)); err != nil {
			return usage("--fail-on: %v", err)
		}
		if len(r.Findings) > 0 && r.Findings[0].Severity >= at {
			return exit{exitFound, ""}
		}
	}
	for _, l := range r.Ledger {
		if strict && l.Severity == source.Warning {
			return exit{exitDamaged, ""}
		}
	}
	return nil
}

// parameters reads RULE.NAME=VALUE settings.
func parameters(args []string) (map[string]float64, error) {
	set := map[string]float64{}
	for _, arg := range args {
		name, text, _ := strings.Cut(arg, "=")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, usage("--param %s: expected RULE.NAME=VALUE with a number", arg)
		}
		set[name] = value
	}
	if err := analyze.UnknownParams(set, allRules()); err != nil {
		return nil, usage("--param: %v", err)
	}
	return set, nil
}

// allRules returns the rules over single sources and those that tie several together.
func allRules() []finding.Rule { return append(analyze.Rules(), diagnose.Rules()...) }

package analyze

import (
	"context"
	"errors"
	"fmt"
	"io"

	"nettrace/coalesce"
	"nettrace/flame"
	"nettrace/pcap"
	"nettrace/perf"
	"nettrace/source"
	"nettrace/unit"
)

// Records decodes the source behind path and hands each record that the filter selects to emit: packets of captures,
// samples of perf script, and of everything else what its decoder finds: settings, counters, rows, runs, stacks. Each has
// the place that it was read from.
func Records(ctx context.Context, path, filter string, o Options, emit func(any) error) (*source.Ledger, error) {
	var ledger source.Ledger
	for src, err := range source.Walk([]string{path}, o.Stdin, &ledger) {
		if err != nil {
			return &ledger, err
		}
		f := recognise(Formats(), src.Input.Peek(headBytes), true)
		if f != nil && f.Kind == Capture {
			packetFilter, err := pcap.ParseFilter(filter)
			if err != nil {
				return &ledger, &FilterError{err.Error()}
			}
			if err := packets(ctx, src, packetFilter, o, &ledger, func(p *PacketRecord) error { return emit(p) }); err != nil {
				return &ledger, err
			}
			continue
		}
		fields, err := parseFieldFilter(filter)
		if err != nil {
			return &ledger, err
		}
		selected := func(record any) error {
			if ok, err := fields.match(record); err != nil || !ok {
				return err
			}
			return emit(record)
		}
		if err := records(ctx, src, o, &ledger, selected); err != nil {
			return &ledger, err
		}
	}
	return &ledger, nil
}

// records reads one source that is no capture. Samples are handed on while they are read; what is small is decoded whole.
func records(ctx context.Context, src *source.Source, o Options, ledger *source.Ledger, emit func(any) error) error {
	a := &analysis{}
	formats := Formats()
	for i := range formats {
		if formats[i].Name == "perf-script" {
			formats[i].lines = func(_ *reader, _ *Source, l *source.Lines) error {
				return samples(perf.NewScriptReader(l, ledger), emit)
			}
		}
		if formats[i].Name == "hwpmc" {
			formats[i].bytes = func(r *reader, _ *Source) error {
				log, err := openPMCLog(r.src, ledger, o)
				if err != nil {
					return err
				}
				return samples(log, emit)
			}
		}
		if formats[i].Name == "perf-data" {
			formats[i].bytes = func(r *reader, _ *Source) error {
				recording, closeAll, err := openPerfData(r.src, ledger, o)
				if err != nil {
					return err
				}
				defer closeAll()
				return samples(recording, emit)
			}
		}
	}
	r := reader{analysis: a, ctx: ctx, formats: formats, src: src, options: o}
	if err := r.read(); err != nil {
		return err
	}
	ledger.Merge(&a.ledger)
	if s := a.fresh.Sources; len(s) == 1 && s[0].Format == "" {
		return fmt.Errorf("%s: %s; nettrace formats lists what is read", s[0].Path, s[0].Note)
	}
	return a.emit(emit)
}

// emit hands on what was decoded whole.
func (a *analysis) emit(emit func(any) error) error {
	for i := range a.outputs {
		if err := emitOutput(&a.outputs[i], emit); err != nil {
			return err
		}
	}
	for _, t := range a.fresh.Models.Locks {
		for i := range t.Rows {
			if err := emit(&t.Rows[i]); err != nil {
				return err
			}
		}
	}
	for _, p := range a.fresh.Models.Profiles {
		if err := emitStacks(p, emit); err != nil {
			return err
		}
	}
	for i := range a.fresh.Models.Runs {
		if err := emit(&a.fresh.Models.Runs[i]); err != nil {
			return err
		}
	}
	for _, r := range a.loaded {
		for i := range r.Findings {
			if err := emit(&r.Findings[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// SettingRecord is one setting of an interface.
type SettingRecord struct {
	Tool      string `json:"tool"`
	Interface string `json:"interface"`
	coalesce.Setting
}

// CounterRecord is one counter of an interface, or of a CPU.
type CounterRecord struct {
	Tool       string     `json:"tool"`
	Interface  string     `json:"interface,omitempty"`
	Name       string     `json:"name"`
	Device     string     `json:"device,omitempty"` // of an interrupt
	CPU        *int       `json:"cpu,omitempty"`
	CPUAssumed bool       `json:"cpu_assumed,omitempty"` // the file does not number its CPUs: they are taken as 0, 1, 2...
	Value      uint64     `json:"value"`
	Pos        source.Pos `json:"pos"`
}

// StackRecord is one distinct stack of folded text, leaf first.
type StackRecord struct {
	Stack  []string `json:"stack"`
	Values []int64  `json:"values"`
}

func emitStacks(p *flame.Profile, emit func(any) error) error {
	for _, s := range p.Pprof().Sample {
		record := StackRecord{Stack: []string{}, Values: s.Value}
		for _, location := range s.Location {
			for _, line := range location.Line {
				record.Stack = append(record.Stack, line.Function.Name)
			}
		}
		if err := emit(&record); err != nil {
			return err
		}
	}
	return nil
}

func emitOutput(o *coalesce.Output, emit func(any) error) error {
	for _, i := range o.Interfaces {
		if i.Driver != nil {
			if err := emit(i.Driver); err != nil {
				return err
			}
		}
		for _, s := range i.Settings {
			if err := emit(&SettingRecord{o.Tool, i.Name, s}); err != nil {
				return err
			}
		}
		for _, c := range i.Counters {
			pos := source.Pos{Source: o.Pos.Source, Line: c.Line, Offset: c.Offset}
			if err := emit(&CounterRecord{Tool: o.Tool, Interface: i.Name, Name: c.Name, Value: c.Value, Pos: pos}); err != nil {
				return err
			}
		}
	}
	if o.Table != nil {
		for _, row := range o.Table.Rows {
			err := o.Table.Each(&row, func(c coalesce.Cell, pos source.Pos) error {
				return emit(&CounterRecord{Tool: o.Tool, Name: row.Key, Device: row.Name, CPU: optional(c.CPU, c.CPU != coalesce.AllCPUs), CPUAssumed: o.Table.CPUsAssumed, Value: c.Value, Pos: pos})
			})
			if err != nil {
				return err
			}
		}
	}
	if err := errors.Join(emitAll(o.Reported, emit), emitAll(o.Sockets, emit)); err != nil {
		return err
	}
	if m := o.Machine; m != nil {
		return errors.Join(emitAll(m.Nodes, emit), emitAll(m.Affinities, emit), emitAll(m.Steering, emit), emitAll(m.Places, emit), emitAll(m.Devices, emit), emitAll(m.IdleStates, emit), emitAll(m.Kernel, emit))
	}
	return nil
}

// emitAll emits the elements of a list.
func emitAll[T any](list []T, emit func(any) error) error {
	for k := range list {
		if err := emit(&list[k]); err != nil {
			return err
		}
	}
	return nil
}

// SampleRecord is one stack sample, leaf first.
type SampleRecord struct {
	Comm    string      `json:"comm"`
	PID     *int        `json:"pid,omitempty"`
	TID     *int        `json:"tid,omitempty"`
	CPU     *int        `json:"cpu,omitempty"`
	Time    *unit.Nanos `json:"time_ns,omitempty"` // on the recording's clock
	Event   string      `json:"event"`
	Period  int64       `json:"period"`
	Payload string      `json:"payload,omitempty"`
	Stack   []string    `json:"stack"`
	Pos     source.Pos  `json:"pos"`
}

func samples(events perf.Events, emit func(any) error) error {
	for {
		e, err := events.Next()
		if err != nil || e == nil {
			return eof(err)
		}
		record := SampleRecord{Comm: e.Comm, Time: optional(e.Time, e.HasTime), Event: e.Name, Period: e.Weight(), Payload: string(e.Payload), Stack: []string{}, Pos: e.Pos,
			PID: optional(e.PID, e.HasPID), TID: optional(e.TID, e.HasTID), CPU: optional(e.CPU, e.HasCPU)}
		for _, f := range e.Stack {
			record.Stack = append(record.Stack, f.Symbol)
		}
		if err := emit(&record); err != nil {
			return err
		}
	}
}

func optional[T any](v T, has bool) *T {
	if !has {
		return nil
	}
	return &v
}

func eof(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

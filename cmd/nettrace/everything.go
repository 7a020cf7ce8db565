package main

import (
	"errors"
	"fmt"

	"nettrace/analyze"
	"nettrace/coalesce"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/report"
)

// everything prints behind the findings what the other screens of the explorer show, each as its own command does.
func (e *env) everything(r *analyze.Result, style report.Style) error {
	m := &r.Models
	var errs []error
	section := func(title string, there bool, write func() error) {
		if there {
			fmt.Fprintf(e.stdout, "\n== %s ==\n\n", title)
			errs = append(errs, write())
		}
	}
	section("sources", true, func() error { return report.Inspect(e.stdout, r, style) })
	section("connections", len(m.Captures) > 0, func() error { return report.Flows(e.stdout, m.Captures, report.FlowOptions{}, style) })
	section("locks", len(m.Locks) > 0, func() error { return report.Locks(e.stdout, m.Locks, lockstat.ByWait, style) })
	for _, p := range m.Profiles {
		section("stacks of "+report.Clean(p.Source), true, func() error { return report.Top(e.stdout, p, flame.Column{Event: p.Main()}, 0, style) })
	}
	section("counters", len(m.Hosts) > 0, func() error { return report.Counters(e.stdout, m.Hosts, true, style) })
	section("settings", len(m.Hosts) > 0, func() error { e.settings(m.Hosts); return nil })
	return errors.Join(errs...)
}

// settings prints what tools say of the settings of interfaces, a line each.
func (e *env) settings(hosts []*coalesce.Host) {
	for _, h := range hosts {
		for _, i := range h.Interfaces {
			if d := i.Driver; d != nil {
				fmt.Fprintln(e.stdout, report.Clean(fmt.Sprintf("%s: driver %s %s, firmware %s, bus %s", i.Name, d.Name, d.Version, d.Firmware, d.Bus)))
			}
			for _, d := range i.Dumps {
				for _, s := range d.Settings {
					fmt.Fprintln(e.stdout, report.Clean(fmt.Sprintf("%s %s: %s %s (%s:%d)", i.Name, d.Tool, s.Name, s.Value, s.Pos.Source, s.Pos.Line)))
				}
			}
		}
	}
}

package main

import (
	"context"

	"nettrace/datapath"
	"nettrace/report"
)

// published predicts the published tables.
func (e *env) published(ctx context.Context, tables []string, output string, style report.Style) error {
	predicted, err := datapath.Published(ctx, tables...)
	if err != nil {
		return couldNot(err)
	}
	if output == "json" {
		return report.PublishedJSON(e.stdout, predicted)
	}
	return report.Published(e.stdout, predicted, style)
}

// fit calibrates the constants of machines.
func (e *env) fit(ctx context.Context, machines []string, output string, style report.Style) error {
	if len(machines) == 0 {
		machines = datapath.FittedMachines()
	}
	var fits []*datapath.Fit
	for _, name := range machines {
		f, err := datapath.FitMachine(ctx, name)
		if err != nil {
			return couldNot(err)
		}
		fits = append(fits, f)
	}
	if output == "json" {
		return report.FitsJSON(e.stdout, fits)
	}
	return report.Fits(e.stdout, fits, style)
}

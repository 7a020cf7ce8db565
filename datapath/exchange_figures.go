package datapath

import (
	"context"
	"strconv"
	"strings"
)

// exchangePredictor predicts rates of request/response tests over interrupt moderation, by simulation.
type exchangePredictor struct {
	constants *Constants
	effort    effort             // 0 is DefaultSeeds of DefaultDuration
	replays   map[string]*Replay // by workload and settings: several figures may be of one set of runs
}

func newExchangePredictor(c *Constants, e effort) predictor {
	if e.seeds == 0 {
		e = effort{DefaultSeeds, DefaultDuration}
	}
	return &exchangePredictor{c, e, map[string]*Replay{}}
}

func (p *exchangePredictor) predict(ctx context.Context, f figure) (Estimate, error) {
	r, err := p.replay(ctx, f.text("workload"), f.text("set"))
	if err != nil {
		return Estimate{}, err
	}
	measure, limit, _ := strings.Cut(f.text("measure"), "/")
	switch measure {
	case "rate":
		return r.Rate, nil
	case "interims-above":
		rate, err := strconv.ParseFloat(limit, 64)
		return r.InterimsAbove(rate), err
	}
	return Estimate{}, errFigure
}

func (p *exchangePredictor) replay(ctx context.Context, workload, settings string) (*Replay, error) {
	key := workload + " " + settings
	if r := p.replays[key]; r != nil {
		return r, nil
	}
	c := Thread()
	c.Constants = p.constants
	if err := c.Apply(settings); err != nil {
		return nil, err
	}
	w, err := ParseWorkload(workload)
	if err != nil {
		return nil, err
	}
	w.Duration = p.effort.span
	r, err := Seeds(ctx, c, w, p.effort.seeds)
	p.replays[key] = r
	return r, err
}

package datapath

import (
	"context"
	"fmt"

	"nettrace/unit"
)

// statusPredictor predicts packets per interrupt and CPU of a card with a status block, by simulation.
type statusPredictor struct {
	constants *Constants
	effort    effort                 // 0 is 4 seeds of 4 s
	runs      map[string][]statusRun // by driver and load
}

func statusQuantities() []quantity {
	return append(micros("first-look", "poll-packet", "enable", "coal-timer", "irq-timer", "cpu-packet", "cpu-interrupt"),
		quantity{"frame-time", "us", 0.001, 1e6}, quantity{"batch", "frames", 1, 64},
		quantity{"coal-frames", "frames", 1, 1024}, quantity{"coal-frames-4x", "frames", 1, 1024},
		quantity{"irq-frames", "frames", 1, 1024}, quantity{"irq-frames-4x", "frames", 1, 1024})
}

func newStatusPredictor(c *Constants, e effort) predictor {
	if e.seeds == 0 {
		e = effort{4, 4 * unit.Second}
	}
	return &statusPredictor{c, e, map[string][]statusRun{}}
}

func (p *statusPredictor) predict(ctx context.Context, f figure) (Estimate, error) {
	driver, load := f.text("driver"), f.number("load")/100
	if rate := f.number("rate"); rate > 0 {
		load = rate * p.constants.value("frame-time") / 1e6
	}
	settings, known := p.settings(driver)
	if !known || load <= 0 || load >= 1 {
		return Estimate{}, errFigure
	}
	key := fmt.Sprint(driver, load)
	if p.runs[key] == nil {
		runs, err := parallel(ctx, p.effort.seeds, func(i int) (statusRun, error) { return p.run(settings, load, uint64(i+1)), nil })
		if err != nil {
			return Estimate{}, err
		}
		p.runs[key] = runs
	}
	values := make([]float64, 0, p.effort.seeds)
	for _, r := range p.runs[key] {
		switch f.text("measure") {
		case "packets":
			values = append(values, r.perInterrupt)
		case "interrupts":
			values = append(values, r.rate/r.perInterrupt)
		case "races":
			values = append(values, r.raceShare)
		case "cpu":
			if given := f.number("packets"); given > 0 {
				r.perInterrupt = given
			}
			values = append(values, p.cpu(r))
		default:
			return Estimate{}, errFigure
		}
	}
	return estimate(values), nil
}

// settings are those of the drivers of the thread: base and mchan are one to the model.
func (p *statusPredictor) settings(driver string) (statusSettings, bool) {
	c := p.constants
	s := statusSettings{tag: Untagged, frames: 1, irqFrames: 1, firstLook: c.nanos("first-look"), poll: c.nanos("poll-packet"), arm: c.nanos("enable")}
	switch driver {
	case "base", "mchan":
	case "tagged":
		s.tag = TagEarly
	case "tagged-late":
		s.tag = TagLate
	case "coal", "coal-4x":
		suffix := driver[len("coal"):]
		s.frames, s.irqFrames = int(c.value("coal-frames"+suffix)), int(c.value("irq-frames"+suffix))
		s.timer, s.irqTimer = c.nanos("coal-timer"), c.nanos("irq-timer")
	default:
		return s, false
	}
	return s, true
}

// statusRun is what one run gave.
type statusRun struct {
	perInterrupt float64 // packets
	raceShare    float64 // polls at whose end the tag had changed
	rate         float64 // packets/s
}

func (p *statusPredictor) run(settings statusSettings, load float64, seed uint64) statusRun {
	g := &engine{}
	frameTime, batch := p.constants.nanos("frame-time"), int(p.constants.value("batch"))
	card := &statusCard{engine: g, settings: settings, enabled: true}
	card.id = g.add(card)
	between := unit.Nanos(float64(frameTime) * float64(batch) / load)
	source := &batchSource{engine: g, to: card.id, random: newStream(seed, "frames"), batch: batch, between: between, frameTime: frameTime}
	source.id = g.add(source)
	g.after(source.random.exponential(between), source.id, batchArrives, 0)
	g.run(p.effort.span)
	return statusRun{ratio(card.packets, card.interrupts), ratio(card.races, card.interrupts), float64(card.packets) / p.effort.span.Seconds()}
}

// cpu is the share of a CPU in percent.
func (p *statusPredictor) cpu(r statusRun) float64 {
	perPacket := p.constants.value("cpu-packet") + p.constants.value("cpu-interrupt")/r.perInterrupt
	return 100 * r.rate * perPacket / 1e6
}

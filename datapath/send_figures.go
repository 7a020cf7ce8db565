package datapath

import (
	"context"
	"fmt"
	"strings"
)

// SendMode is how a sender gets its bytes to the card.
type SendMode string

const (
	CopySend SendMode = "copy"      // copied into buffers that stay registered
	ZeroCopy SendMode = "zero-copy" // the sender's pages are pinned, sent from, and released
)

// sendPredictor predicts streams over a transport that copies or pins: a send of S bytes takes fixed + per byte x S.
type sendPredictor struct{ constants *Constants }

// cacheBytes is the message from which on a copy comes from memory: netperf goes round in a ring of buffers, so that one of
// 64 KiB still comes from the cache.
const cacheBytes = 64 << 10

func sendQuantities() []quantity {
	return append(micros("copy-call", "pin-call"),
		quantity{"copy-byte-cached", "ns/B", 0, 1000}, quantity{"copy-byte", "ns/B", 0, 1000}, quantity{"wire-byte", "ns/B", 0, 1000},
		quantity{"busy-cpus", "CPUs", 0, 1024}, quantity{"sleeper-cpus", "CPUs", 0, 1024}, quantity{"sleep-from", "B", 0, 1 << 30})
}

func newSendPredictor(c *Constants, _ effort) predictor { return sendPredictor{c} }

func (p sendPredictor) predict(_ context.Context, f figure) (Estimate, error) {
	mode, size := SendMode(f.text("mode")), f.number("size")
	if size < 1 || mode != CopySend && mode != ZeroCopy {
		return Estimate{}, errFigure
	}
	measure, side, _ := strings.Cut(f.text("measure"), "-")
	switch measure {
	case "rate":
		return exactly(p.rate(mode, size)), nil
	case "demand":
		return exactly(ServiceDemand(p.cpus(mode, size, side), p.rate(mode, size))), nil
	}
	return Estimate{}, fmt.Errorf("measure %q: %w", measure, errFigure)
}

// time is us of one send.
func (p sendPredictor) time(mode SendMode, size float64) float64 {
	c := p.constants
	switch {
	case mode == ZeroCopy:
		return c.value("pin-call") + size*c.value("wire-byte")/1000
	case size <= cacheBytes:
		return c.value("copy-call") + size*c.value("copy-byte-cached")/1000
	}
	return c.value("copy-call") + size*c.value("copy-byte")/1000
}

// rate is in Mb/s.
func (p sendPredictor) rate(mode SendMode, size float64) float64 {
	return 8 * size / p.time(mode, size)
}

// crossover is the size in bytes from which on zero-copy is faster, for messages that a copy takes from the cache.
func (p sendPredictor) crossover() float64 {
	c := p.constants
	return 1000 * (c.value("pin-call") - c.value("copy-call")) / (c.value("copy-byte-cached") - c.value("wire-byte"))
}

// cpus is how many CPUs one side keeps busy: one, saturated, and interrupts; but a sender of large messages sleeps while its
// pages are sent from.
func (p sendPredictor) cpus(mode SendMode, size float64, side string) float64 {
	if mode == ZeroCopy && side == "local" && size >= p.constants.value("sleep-from") {
		return p.constants.value("sleeper-cpus")
	}
	return p.constants.value("busy-cpus")
}

// ServiceDemand is us of CPU time for each KB of 1024 bytes, from the CPUs that are busy and a rate in Mb/s: an identity,
// which netperf's figures keep (src/netcpu_*.c, calc_service_demand).
func ServiceDemand(cpus, megabits float64) float64 { return cpus * 1e6 / (megabits * 1e6 / 8 / 1024) }

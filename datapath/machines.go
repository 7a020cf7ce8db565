package datapath

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nettrace/unit"
)

// Names of the machines whose published figures the model is compared with.
const (
	adaptiveRX = "adaptive-rx"
	tg3        = "tg3"
	mapPages   = "map-pages"
	sdp        = "sdp"
	mpRing     = "mp-ring"
	receiving  = "receive" // of none: what is recorded takes the place of its constants
)

// machine is a set of measured machines: the constants that their model uses, and the model.
type machine struct {
	name       string
	quantities []quantity
	check      func(*Constants) error             // of the constants together; nil for none
	model      func(*Constants, effort) predictor // what predicts figures with the constants
	spread     float64                            // relative: how far a figure and a right model may be apart
}

// effort is how much a simulation spends on a figure: a fit needs many figures, and steadier ones less than noisy ones.
type effort struct {
	seeds int
	span  unit.Nanos
}

// predictor predicts figures of a machine. It keeps what several figures are read from.
type predictor interface {
	predict(context.Context, figure) (Estimate, error)
}

// machines is the table of all machines.
func machines() []machine {
	return []machine{
		{adaptiveRX, exchangeQuantities(), checkExchange, newExchangePredictor, 0.03},
		{tg3, statusQuantities(), nil, newStatusPredictor, 0.10}, // read off graphs; and the model is coarse
		{mapPages, mappingQuantities(), nil, newMappingPredictor, 0.03},
		{sdp, sendQuantities(), nil, newSendPredictor, 0.04},
		{mpRing, disciplineQuantities(), nil, newDisciplinePredictor, 0.03},
		{receiving, receiveQuantities(), nil, newReceivePredictor, 0.03},
	}
}

func machineByName(name string) (machine, error) {
	all := machines()
	var names []string
	for _, m := range all {
		names = append(names, m.name)
	}
	at := slices.Index(names, name)
	if at < 0 {
		return machine{}, fmt.Errorf("no machine is called %q; the nearest is %q", name, unit.Nearest(name, names))
	}
	return all[at], nil
}

var errFigure = errors.New("the machine's model has no such figure")

package lockstat

import (
	"bytes"

	"nettrace/unit"
)

// layout is the order of the numbers in a row.
type layout struct {
	version string
	shape   string // i for a whole number, t for a time
	bounces bool   // before contentions and acquisitions
	hold    int    // index of acquisitions
}

var procLayouts = [...]layout{
	{"0.4", "iitttt" + "iitttt", true, 7},
	{"0.3", "iittt" + "iittt", true, 6},
	{"0.1", "ittt" + "ittt", false, 4},
}

// figure is a number of a row; a time has two decimals and is in nanoseconds.
type figure struct {
	value int64
	time  bool
}

// procRow splits "NAME: numbers".
func procRow(line []byte, buf []figure) (name []byte, figures []figure, ok bool) {
	colon := bytes.LastIndexByte(line, ':')
	if colon < 1 {
		return nil, nil, false
	}
	figures, ok = procFigures(line[colon+1:], buf)
	return bytes.TrimSpace(line[:colon]), figures, ok
}

// procFigures reads numbers. They may touch: a time ends behind its second decimal.
func procFigures(text []byte, figures []figure) ([]figure, bool) {
	for i := 0; i < len(text); {
		if blank(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		n, ok := whole(text[start:i])
		if !ok || len(figures) >= 16 {
			return nil, false
		}
		f := figure{value: n}
		if i+2 < len(text) && text[i] == '.' {
			hundredths, ok := whole(text[i+1 : i+3])
			if !ok {
				return nil, false
			}
			f = figure{value: sum(product(n, 1000), hundredths*10), time: true}
			i += 3
		}
		figures = append(figures, f)
	}
	return figures, true
}

// layoutOf returns the layout that numbers have, or, unless all are wanted, begin to have.
func layoutOf(figures []figure, all bool) *layout {
	for i := range procLayouts {
		if l := &procLayouts[i]; l.fits(figures) && (!all || len(figures) == len(l.shape)) {
			return l
		}
	}
	return nil
}

func (l *layout) fits(figures []figure) bool {
	if len(figures) > len(l.shape) {
		return false
	}
	for i, f := range figures {
		if f.time != (l.shape[i] == 't') {
			return false
		}
	}
	return true
}

// timed reads a count, minimum, maximum and total.
func timed(f []figure) Measured {
	m := Measured{Count: f[0].value, Min: unit.Nanos(f[1].value), Max: unit.Nanos(f[2].value), Total: unit.Nanos(f[3].value), Exact: true}
	if m.Count > 0 {
		m.Mean, m.Slack = m.Total/unit.Nanos(m.Count), 5 // two decimals of a microsecond
	}
	return m
}

func sides(name string) (base, side string, ok bool) {
	n := len(name) - 2
	if n < 1 {
		return name, "", false
	}
	switch name[n:] {
	case "-W":
		return name[:n], "write", true
	case "-R":
		return name[:n], "read", true
	}
	return name, "", false
}

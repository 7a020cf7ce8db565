package flame

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/bits"
	"strings"

	"nettrace/perf"
	"nettrace/source"
)

// scopeNumber is a decimal number of a speedscope file: the whole part, and billionths.
type scopeNumber struct{ whole, nano int64 }

const billion = 1_000_000_000

// parseScope reads a number, exactly to nine places where it has no exponent.
func parseScope(n json.Number) scopeNumber {
	whole, fraction, _ := strings.Cut(string(n), ".")
	if isNumber([]byte(whole)) && whole[0] != '-' && (fraction == "" || isNumber([]byte(fraction))) {
		return scopeNumber{digits([]byte(whole)), digits([]byte((fraction + "000000000")[:9]))}
	}
	v, err := n.Float64()
	if err != nil || v < 0 || v >= math.MaxInt64 {
		return scopeNumber{}
	}
	whole64, rest := math.Modf(v)
	return scopeNumber{int64(whole64), int64(math.Round(rest * billion))}.carried()
}

func (n scopeNumber) carried() scopeNumber {
	return scopeNumber{sum(n.whole, n.nano/billion), n.nano % billion}
}

func (n scopeNumber) plus(m scopeNumber) scopeNumber {
	return scopeNumber{sum(n.whole, m.whole), n.nano + m.nano}.carried()
}

func (n scopeNumber) minus(m scopeNumber) scopeNumber {
	d := scopeNumber{n.whole - m.whole, n.nano - m.nano}
	if d.nano < 0 {
		d.whole, d.nano = d.whole-1, d.nano+billion
	}
	return d
}

func (n scopeNumber) positive() bool { return n.whole > 0 || n.whole == 0 && n.nano > 0 }

// times returns the number in units that are factor times smaller, rounded.
func (n scopeNumber) times(factor int64) int64 {
	high, low := bits.Mul64(uint64(n.nano), uint64(factor))
	low, carry := bits.Add64(low, billion/2, 0)
	part, _ := bits.Div64((high+carry)%billion, low, billion)
	return sum(product(n.whole, factor), int64(min(part, math.MaxInt64)))
}

// nanosOf returns how many nanoseconds a unit of time has, 0 for other units.
func nanosOf(unit string) int64 {
	switch unit {
	case "seconds":
		return 1e9
	case "milliseconds":
		return 1e6
	case "microseconds":
		return 1e3
	case "nanoseconds":
		return 1
	}
	return 0
}

// fold hands all profiles to the builder.
func (f *scopeReader) fold() {
	for _, p := range f.profiles {
		for _, s := range p.list {
			if nanosOf(p.unit) == 0 && s.weight.nano != 0 && f.scale == 1 {
				f.rescale(pow10(maxDecimals))
			}
		}
	}
	locations := make([]uint32, len(f.frames))
	for i, frame := range f.frames {
		object := frame.file
		if !isObject(object) { // a source file tells nothing of the kind of code
			object = ""
		} else {
			frame.file = ""
		}
		locations[i] = f.location([]line{frame}, object)
	}
	for _, p := range f.profiles {
		f.foldProfile(p, locations)
	}
}

// isObject reports whether a frame's file is an object rather than source code, as in files that this package wrote.
func isObject(file string) bool {
	return strings.HasPrefix(file, "[") || kindOf(file) != User || strings.Contains(file, ".so")
}

func (f *scopeReader) foldProfile(p *scopeProfile, locations []uint32) {
	name, unit, l, factor := perf.NoEvent, "count", labels{}, f.scale
	if f.exporter == speedscopeExporter {
		name = p.name
	} else if len(f.profiles) > 1 {
		l.comm = p.name
	}
	if nanos := nanosOf(p.unit); nanos > 0 {
		unit, factor = "nanoseconds", product(factor, nanos)
	} else if p.unit == "bytes" {
		unit = "bytes"
	}
	if f.exporter != speedscopeExporter && unit != "count" {
		name = unit
	}
	event := f.eventIn(name, unit, p.at)
	for _, s := range p.list {
		stack, missing := f.leafFirst(f.texts[s.stack], locations)
		if missing {
			f.ledger.Add("unknown-frame", source.Warning, p.at, 1, "a stack has a frame whose number is beyond the list of frames; the frame is left out")
		}
		f.add(event, l, stack, product(s.samples, f.scale), s.weight.times(factor), place{offset: p.at.Offset})
	}
}

// leafFirst turns the numbers of frames, root first, into locations.
func (f *scopeReader) leafFirst(text string, locations []uint32) (stack []byte, missing bool) {
	for i := len(text) - 4; i >= 0; i -= 4 {
		if n := binary.LittleEndian.Uint32([]byte(text[i:])); int64(n) < int64(len(locations)) {
			stack = appendLocation(stack, locations[n])
		} else {
			missing = true
		}
	}
	return stack, missing
}

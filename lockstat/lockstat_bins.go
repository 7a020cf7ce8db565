package lockstat

import (
	"bytes"
	"math"

	"nettrace/unit"
)

// label is a line of a histogram as printed: "       128 |@@@@@@@@@@                     11        tcp_input+0xf54".
type label struct{ value, count int64 }

// parseBin reads a line of a histogram and the frame of the stack beside it.
func parseBin(line []byte) (l label, frame []byte, ok bool) {
	bar := bytes.IndexByte(line, '|')
	if bar < 2 || line[bar-1] != ' ' {
		return l, nil, false
	}
	if l.value, ok = whole(bytes.TrimSpace(line[:bar])); !ok || l.value&(l.value-1) != 0 {
		return l, nil, false
	}
	rest := bytes.TrimLeft(line[bar+1:], "@ ")
	end := 0
	for end < len(rest) && !blank(rest[end]) {
		end++
	}
	if l.count, ok = whole(rest[:end]); !ok {
		return l, nil, false
	}
	return l, bytes.TrimSpace(rest[end:]), true
}

// Where a bin lies that is labelled with a power of two. The program that is built on DTrace prints the exclusive upper
// bound, and 1 for exactly zero; the driver of Solaris before 10 printed the lower bound. The two readings of a
// histogram differ by a factor of two, so the mean decides.
type bounds uint8

const (
	undecided bounds = iota
	upper            // the label 128 counts 64 to 127
	lower            // the label 128 counts 128 to 255
)

// decide returns the reading that the mean allows. fits is false where the mean contradicts both.
func decide(labels []label, mean int64) (b bounds, fits bool) {
	var n, ends, lows int64 // the sums if each value were its label, and if each were the lowest below it
	for _, l := range labels {
		n, ends, lows = sum(n, l.count), sum(ends, product(l.count, l.value)), sum(lows, product(l.count, l.value/2))
	}
	if n == 0 || ends > math.MaxInt64/2 {
		return undecided, true
	}
	// The printed mean was rounded down: the true sum is from mean*n to mean*n + n-1.
	least, most := product(mean, n), sum(product(mean, n), n-1)
	up, low := most >= lows && least <= ends-n, most >= ends && least <= 2*ends-n
	switch {
	case up && !low:
		return upper, true
	case low && !up:
		return lower, true
	}
	return undecided, up
}

// bins places labels.
func (b bounds) bins(labels []label) []Bin {
	list := make([]Bin, 0, len(labels))
	for _, l := range labels {
		bin := Bin{Low: l.value / 2, High: l.value, Count: l.count}
		if b == lower {
			bin.Low, bin.High = l.value, l.value*2
		} else if l.value == 1 {
			bin.Low, bin.High = 0, 0
		}
		if l.count > 0 {
			list = append(list, bin)
		}
	}
	return list
}

// longest returns the lowest value of the highest bin: at least one value was that large.
func longest(bins []Bin) (most unit.Nanos) {
	for _, b := range bins {
		most = max(most, unit.Nanos(b.Low))
	}
	return most
}

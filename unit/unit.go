// Package unit scales and prints the quantities that nettrace speaks of: times in nanoseconds, sizes in bytes, counts,
// rates and ratios. Values keep their unit in their type (Nanos) or beside them (a unit string); only this package turns
// them into text, so that a number looks the same in every view.
package unit

import (
	"math"
	"strconv"
	"strings"
)

// Nanos is a duration, or a time since an epoch that its owner names, in nanoseconds.
type Nanos int64

// The lengths that durations are scaled to.
const (
	Microsecond Nanos = 1e3
	Millisecond Nanos = 1e6
	Second      Nanos = 1e9
)

// Seconds returns n in seconds.
func (n Nanos) Seconds() float64 { return float64(n) / 1e9 }

// FromSeconds returns s seconds, rounded to the nanosecond and held within the range of the type.
func FromSeconds(s float64) Nanos {
	switch ns := s * 1e9; {
	case math.IsNaN(ns):
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	default:
		return Nanos(math.Round(ns))
	}
}

// String prints n with three digits and the unit that suits it: 870 ns, 16.0 us, 40.2 ms, 1.50 s, 252 s.
func (n Nanos) String() string {
	v, abs := float64(n), math.Abs(float64(n))
	switch {
	case abs < 1e3:
		return strconv.FormatInt(int64(n), 10) + " ns"
	case abs < 999.5e3:
		return digits(v/1e3) + " us"
	case abs < 999.5e6:
		return digits(v/1e6) + " ms"
	default:
		return digits(v/1e9) + " s"
	}
}

// digits prints v with three significant digits, and whole numbers above that: 1.50, 16.0, 252, 14274.
func digits(v float64) string {
	abs := math.Abs(v)
	switch {
	case abs < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case abs < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
}

// Count prints a whole number with thousands set apart: 1,234,567.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Number prints a value for reading: whole numbers as Count does, others with three significant digits.
func Number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 0):
		return strings.ToLower(strconv.FormatFloat(v, 'f', -1, 64))
	case v == math.Trunc(v) && math.Abs(v) < 1e15, math.Abs(v) >= 999.5:
		if math.Abs(v) >= 1e15 {
			return strconv.FormatFloat(v, 'g', 4, 64)
		}
		return Count(int64(math.Round(v)))
	case math.Abs(v) < 0.01:
		return strconv.FormatFloat(v, 'g', 2, 64)
	default:
		return digits(v)
	}
}

// Percent prints a ratio as a percentage: 0.661 is 66 %, 0.0132 is 1.3 %. What is nearly all is not printed as all: 0.9983
// is 99.8 %.
func Percent(ratio float64) string {
	v := ratio * 100
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		return "n/a"
	case abs >= 99.5 && abs < 99.995:
		for decimals := 1; ; decimals++ {
			if text := strconv.FormatFloat(v, 'f', decimals, 64); !strings.Contains(text, "100") {
				return text + " %"
			}
		}
	case abs >= 9.95 || v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 0, 64) + " %"
	case abs >= 0.095:
		return strconv.FormatFloat(v, 'f', 1, 64) + " %"
	default:
		return strconv.FormatFloat(v, 'g', 2, 64) + " %"
	}
}

// Bytes prints a size in units of 1000: 652 kB, 1.03 GB. Below 100,000 every byte is told (4,345 B), since one more than
// a multiple of the MSS, or than a buffer, is another case.
func Bytes(n int64) string {
	v := math.Abs(float64(n))
	if v < 100_000 {
		return Count(n) + " B"
	}
	suffix := 0
	for v >= 999.5 && suffix < 5 {
		v /= 1000
		suffix++
	}
	if n < 0 {
		v = -v
	}
	return digits(v) + " " + [...]string{"", "k", "M", "G", "T", "P"}[suffix] + "B"
}

// Format prints a value with its unit. "ns" is scaled as a duration, "B" and "bytes" as a size, "ratio" as a percentage;
// any other unit follows the number, and an empty one is left out.
func Format(v float64, unit string) string {
	switch unit {
	case "ns":
		if math.Abs(v) < math.MaxInt64 {
			return Nanos(math.Round(v)).String()
		}
		return Number(v) + " ns"
	case "B", "bytes":
		if math.Abs(v) < math.MaxInt64 {
			return Bytes(int64(math.Round(v)))
		}
		return Number(v) + " B"
	case "ratio":
		return Percent(v)
	case "":
		return Number(v)
	default:
		return Number(v) + " " + unit
	}
}

// Prefix returns the power of a thousand (or of 1,024) that a letter before a unit stands for: 1 for k and K, 2 for m and
// M, 3 for g and G, 4 for t and T, 0 for any other.
func Prefix(letter byte) int {
	switch letter {
	case 'k', 'K':
		return 1
	case 'm', 'M':
		return 2
	case 'g', 'G':
		return 3
	case 't', 'T':
		return 4
	}
	return 0
}

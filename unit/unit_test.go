package unit

import (
	"math"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{0, "ns", "0 ns"},
		{999, "ns", "999 ns"},
		{1000, "ns", "1.00 us"},
		{16e3, "ns", "16.0 us"},
		{999.4e3, "ns", "999 us"},
		{999.6e3, "ns", "1.00 ms"},
		{40.21e6, "ns", "40.2 ms"},
		{1.5e9, "ns", "1.50 s"},
		{-252e9, "ns", "-252 s"},
		{1e30, "ns", "1e+30 ns"},
		{650, "bytes", "650 B"},
		{65160, "B", "65,160 B"},
		{-1.03e9, "B", "-1.03 GB"},
		{0.661, "ratio", "66 %"},
		{0.0132, "ratio", "1.3 %"},
		{0.00012, "ratio", "0.012 %"},
		{1, "ratio", "100 %"},
		{0.991, "ratio", "99 %"},
		{0.9957, "ratio", "99.6 %"},
		{0.9983, "ratio", "99.8 %"},
		{0.9995, "ratio", "99.95 %"},
		{-0.99994, "ratio", "-99.99 %"},
		{0.99999, "ratio", "100 %"},
		{1.003, "ratio", "100 %"},
		{3406.62, "transactions/s", "3,407 transactions/s"},
		{15, "packets", "15 packets"},
		{2.26, "", "2.26"},
		{0.0004, "", "0.0004"},
		{1234567, "", "1,234,567"},
		{math.NaN(), "", "n/a"},
		{math.Inf(1), "", "+inf"},
	} {
		if got := Format(c.value, c.unit); got != c.want {
			t.Errorf("Format(%g, %q) = %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestFromSeconds(t *testing.T) {
	for s, want := range map[float64]Nanos{0.25: 250 * Millisecond, 1e300: math.MaxInt64, -1e300: math.MinInt64, math.Inf(1): math.MaxInt64} {
		if got := FromSeconds(s); got != want {
			t.Errorf("FromSeconds(%g) = %d, want %d", s, got, want)
		}
	}
	if got := FromSeconds(math.NaN()); got != 0 {
		t.Errorf("FromSeconds(NaN) = %d, want 0", got)
	}
}

func TestPrefix(t *testing.T) {
	for letter, want := range map[byte]int{'k': 1, 'K': 1, 'm': 2, 'M': 2, 'g': 3, 'G': 3, 't': 4, 'T': 4, 0: 0, 'b': 0, '7': 0, '+': 0} {
		if got := Prefix(letter); got != want {
			t.Errorf("Prefix(%q) = %d, want %d", letter, got, want)
		}
	}
}

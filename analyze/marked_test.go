package analyze

import (
	"slices"
	"testing"
)

func TestParseRecords(t *testing.T) {
	got, err := ParseRecords("6,12-40")
	if want := []Span{{6, 6}, {12, 40}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, text := range []string{"0", "x", "12-", "-3", "5-4", "1,,2", "1 2"} {
		if got, err := ParseRecords(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

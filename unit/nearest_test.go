package unit

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"rx-usecs", "rx-usecs-high", "rx-frames", "policy"}
	for typed, want := range map[string]string{
		"rx-usecs": "rx-usecs", "rx-usec": "rx-usecs", "rx_usecs_high": "rx-usecs-high", "rx-frame": "rx-frames", "police": "policy", "": "policy",
	} {
		if got := Nearest(typed, words); got != want {
			t.Errorf("nearest to %q is %q, want %q", typed, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("of no words %q is nearest", got)
	}
}

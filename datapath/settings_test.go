package datapath

import (
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	for _, c := range []struct{ key, value, problem string }{
		{"adaptive-rx", "on", ""},
		{"client.adaptive-rx", "off", ""},
		{"rx-usecs", "65535", ""},
		{"rx-frames", "0", ""},
		{"policy", "mlx4-v2", ""},
		{"server.counters", "merged", ""},
		{"hz", "1000", ""},
		{"rx-usec", "16", `no setting is called "rx-usec"; the nearest is "rx-usecs"`},
		{"server.rx_usecs_high", "16", `the nearest is "server.rx-usecs-high"`},
		{"", "1", `no setting is called ""`},
		{"adaptive-rx", "yes", `adaptive-rx: "yes" is not understood, expected on, off`},
		{"rx-usecs", "65536", `expected 0 to 65535 us`},
		{"rx-usecs", "-1", `"-1" is not understood`},
		{"rx-usecs", "16us", `"16us" is not understood`},
		{"policy", "mlx4", `expected fixed, `},
		{"hz", "0", `expected 1 to 10000`},
		{"peer.hz", "100", `no setting is called "peer.hz"`},
	} {
		config := Thread()
		err := config.Set(c.key, c.value)
		switch {
		case c.problem == "" && err != nil:
			t.Errorf("%s=%s: %v", c.key, c.value, err)
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s=%s: %v, expected %q", c.key, c.value, err, c.problem)
		case c.problem != "" && config != Thread():
			t.Errorf("%s=%s changes the settings although it is wrong", c.key, c.value)
		}
	}
}

func TestApply(t *testing.T) {
	c := Thread()
	if err := c.Apply("adaptive-rx=off, server.rx-usecs=64,hz=250"); err != nil {
		t.Fatal(err)
	}
	if c.Client.AdaptiveRX || c.Server.AdaptiveRX || c.Client.RXUsecs != 16 || c.Server.RXUsecs != 64 || c.Client.HZ != 250 {
		t.Errorf("settings are %s", c)
	}
	for _, list := range []string{"", "rx-usecs", "rx-usecs=1,", "rx-usecs=1,rx-frames=x"} {
		changed := c
		if err := changed.Apply(list); err == nil || changed != c {
			t.Errorf("%q is taken, or half of it: %v", list, err)
		}
	}
}

// What String prints sets the same again.
func FuzzApply(f *testing.F) {
	for _, list := range []string{"adaptive-rx=on", "rx-usecs=16,rx-frames=44", "client.policy=fixed,server.counters=merged", "pkt-rate-low=400000,hz=100", "a=b", "="} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		var c Config
		if c.Apply(list) != nil {
			return
		}
		if err := c.Check(); err != nil {
			t.Fatalf("%q sets what cannot be simulated: %v", list, err)
		}
		var again Config
		if err := again.Apply(c.String()); err != nil || again.String() != c.String() {
			t.Fatalf("%q sets %s, which sets %s (%v)", list, c, again, err)
		}
	})
}

func TestParseWorkload(t *testing.T) {
	for text, want := range map[string]Workload{
		"rr:4345,1":    {4345, 1, 1, DefaultDuration},
		"rr:1, 65160":  {1, 65160, 1, DefaultDuration},
		"rr:4345,1,16": {4345, 1, 16, DefaultDuration},
	} {
		if got, err := ParseWorkload(text); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for text, problem := range map[string]string{
		"":              "expected rr:REQUEST,RESPONSE",
		"stream:1":      "is not known",
		"rr:1":          "has 1 numbers",
		"rr:1,2,3,4":    "has 4 numbers",
		"rr:x,1":        `"x" is no number`,
		"rr:0,1":        "a request of 0 bytes",
		"rr:1,65161":    "a response of 65161 bytes",
		"rr:1,1,65":     "65 requests outstanding",
		"rr:1,-1":       "a response of -1 bytes",
		"rr:1,99999999": "expected 1 to 65160",
	} {
		if _, err := ParseWorkload(text); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v, expected %q", text, err, problem)
		}
	}
	w := Workload{65160, 1, 64, DefaultDuration}
	if _, err := Run(Thread(), w, 1); err == nil || !strings.Contains(err.Error(), "could overrun a ring") {
		t.Errorf("2880 frames in flight: %v", err)
	}
	if _, err := Run(Thread(), Workload{Request: 1, Response: 1, Depth: 1}, 1); err == nil {
		t.Error("a run without duration is simulated")
	}
}

func FuzzParseWorkload(f *testing.F) {
	for _, text := range []string{"rr:4345,1", "rr:1,1,8", "rr:,", "stream:65536"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWorkload(text)
		if err != nil {
			return
		}
		if again, err := ParseWorkload(w.String()); err != nil || again != w {
			t.Fatalf("%q is %+v, printed %s, which is %+v (%v)", text, w, w, again, err)
		}
	})
}

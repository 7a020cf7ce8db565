package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nettrace/datapath"
)

// quick is a scenario whose figure is the value of its one setting, and which takes as long as it is let.
func quick(release <-chan struct{}) *scenario {
	s := &scenario{name: "quick", knobs: knobs{newKnob(datapath.Setting{Key: "x", Values: "0 to 64 us", Doc: "d"}, "3")}}
	s.run = func(ctx context.Context, k knobs, _ int) (outcome, error) {
		if release != nil {
			select {
			case <-release:
			case <-ctx.Done():
				return outcome{}, ctx.Err()
			}
		}
		var v float64
		fmt.Sscan(k.of("x"), &v)
		if v > 100 {
			return outcome{}, fmt.Errorf("x: %g is too large", v)
		}
		return outcome{figures: []figure{{name: "answer", value: v}, {name: "dark", why: "nobody knows"}}, recorded: []figure{{name: "answer", value: 2}}}, nil
	}
	s.command = func(k knobs) string { return commandLine("replay", "--set", k.changes()) }
	return s
}

func TestMoveASetting(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle)
	d.m.do(act{screen: replayScreen + 1, push: newTryPage(d.m.look, t.Context(), quick(nil))})
	d.press("up").shows("answer", "+0 %")
	d.press("right").shows("< 4 >", "answer 4, was 3 (+33.3 %)")
	d.press("left", "left").shows("< 2 >", "-33.3 %").press("x").shows("< 3 >", "+0 %")
	d.press("enter", "backspace", "48", "enter").shows("< 48 >", "answer 48, was 3")
	d.press("y").shows("nettrace replay --set x=48").press("esc")
	d.press("enter", "0", "enter").shows("not possible", "x: 480 is too large")
	d.press("X").shows("< 3 >", "answer 3, was 3")
	d.press("tab", "end").shows("nobody knows")
	d.press("tab", "left", "left", "left", "left", "left").shows("goes no further")
}

// TestNewestSettingWins moves a setting while it is computed: what is older is given up, and its figures are never shown.
func TestNewestSettingWins(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle)
	release := make(chan struct{})
	page := newTryPage(d.m.look, t.Context(), quick(release))
	d.m.do(act{screen: replayScreen + 1, push: page})
	d.press2("down")
	d.shows("computing")
	d.press2("right")
	d.press2("right")
	d.shows("< 8 >", "computing")
	go func() {
		for range 8 {
			select {
			case release <- struct{}{}:
			case <-time.After(time.Second):
			}
		}
	}()
	d.settle()
	d.shows("answer 8, was 3")
	if page.stop != nil || page.computing() {
		t.Error("something is still computed")
	}
}

// TestReplayIsThatOfTheCommand compares the figures with those of the datapath, and takes every setting that is listed.
func TestReplayIsThatOfTheCommand(t *testing.T) {
	root(t)
	d := start(t, 100, 30, bundle)
	list := d.m.screens[replayScreen].pages[0].(*replayPage).scenarios
	kinds := map[string]bool{}
	for i := range list {
		s := &list[i]
		if kinds[s.kind+s.name[:4]] {
			continue
		}
		kinds[s.kind+s.name[:4]] = true
		for at := range s.knobs {
			for _, v := range []int{0, len(s.knobs[at].values) - 1} {
				k := append(knobs{}, s.knobs...)
				if s.kind == "recorded" && k.of("nic") == asRecorded {
					n := slices.IndexFunc(k, func(k knob) bool { return k.key == "nic" })
					k[n].at = 1
				}
				k[at].at = v
				if s.kind == "exchange" && slices.Contains([]string{"request", "response", "depth", "hz"}, k[at].key) && v > 0 {
					k[at].at = 1 // the largest take long
				}
				if _, err := s.run(t.Context(), k, 1); err != nil && !strings.Contains(err.Error(), "does not come to an end") {
					t.Errorf("%s with %s=%s: %v", s.name, k[at].key, k[at].value(), err)
				}
			}
		}
	}
	want, err := datapath.PredictScenario(t.Context(), "senders:16", []string{"discipline=lock"})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(s scenario) bool { return s.name == "senders" })
	got, err := list[i].run(t.Context(), list[i].knobs, 0)
	if err != nil || got.figures[0].value != want.Measures[0].Estimate.Mean {
		t.Errorf("%+v, %v; want %+v", got, err, want.Measures)
	}
}

func TestSteps(t *testing.T) {
	for values, want := range map[string]string{"on, off": "on off", "0 to 9 us": "0 1 2 4 8", "1 to 4 segments": "1 2 4", "wire, merged": "wire merged"} {
		if got := strings.Join(steps(values), " "); got != want {
			t.Errorf("%q: %s, want %s", values, got, want)
		}
	}
	k := newKnob(datapath.Setting{Key: "x", Values: "0 to 8"}, "5")
	if strings.Join(k.values, " ") != "0 1 2 4 5 8" || k.value() != "5" || k.moved() {
		t.Errorf("%+v", k)
	}
	k.insert("3")
	if strings.Join(k.values, " ") != "0 1 2 3 4 5 8" || k.value() != "3" || !k.moved() || k.values[k.initial] != "5" {
		t.Errorf("after 3 was typed: %+v", k)
	}
	k.insert("7")
	k.insert("5")
	if k.moved() {
		t.Errorf("after 5 was typed again: %+v", k)
	}
}

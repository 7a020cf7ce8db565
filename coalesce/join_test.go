package coalesce

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counter returns a counter of the host's only interface that has it.
func counter(t *testing.T, h *Host, name string) Counter {
	t.Helper()
	for _, i := range h.Interfaces {
		for _, s := range i.Counters {
			for _, c := range s.Counters {
				if c.Name == name {
					return c
				}
			}
		}
	}
	t.Fatalf("%s: no counter %s", h.Name, name)
	return Counter{}
}

// host joins a folder of the shared data and returns one of its hosts.
func host(t *testing.T, group string, peer bool, dir ...string) *Host {
	t.Helper()
	outputs, ledger := readDir(t, shared(t, dir...))
	for _, e := range ledger {
		t.Errorf("%v: unexpected ledger entry %+v", dir, e)
	}
	for _, h := range Join(outputs, Options{}) {
		if h.Group == group && h.Peer == peer {
			return h
		}
	}
	t.Fatalf("%v: no host with group %q, peer %v", dir, group, peer)
	return nil
}

// The truths of the captured scenarios, as their MANIFEST gives them.
func TestScenarioDeltas(t *testing.T) {
	for _, c := range []struct {
		dir     string
		peer    bool
		counter string
		want    uint64
	}{
		{"e-napi-1flow", false, "rx_queue_1_xdp_packets", 3156532},
		{"e-napi-1flow", false, "rx_queue_3_xdp_packets", 14},
		{"e-napi-1flow", false, "rx_queue_0_xdp_packets", 0},
		{"f-napi-16flow", false, "rx_queue_0_xdp_packets", 810131},
		{"f-napi-16flow", false, "rx_queue_1_xdp_packets", 392188},
		{"f-napi-16flow", false, "rx_queue_2_xdp_packets", 780422},
		{"f-napi-16flow", false, "rx_queue_3_xdp_packets", 1191516},
		{"g-napi-udp2flow", false, "rx_queue_0_xdp_packets", 1138351},
		{"g-napi-udp2flow", false, "rx_queue_2_xdp_packets", 1138351},
		{"g-napi-udp2flow", false, "rx_queue_3_xdp_packets", 13},
	} {
		h := host(t, "", c.peer, "data", "counters", c.dir)
		if got := counter(t, h, c.counter).Delta; got != c.want {
			t.Errorf("%s: %s changed by %d, want %d", c.dir, c.counter, got, c.want)
		}
	}
}

func TestHostRoundTrip(t *testing.T) {
	h := host(t, "", false, "data", "counters", "h-series")
	h.Exchange = &Exchange{Rate: 3406.62, RequestBytes: 4345, ResponseBytes: 1, Outstanding: 1, From: "netperf TCP_RR"}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var back Host
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(*h, back); d != "" {
		t.Errorf("a host changes on its way through JSON (-before +after):\n%s", d)
	}
}

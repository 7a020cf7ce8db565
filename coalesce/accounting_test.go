package coalesce

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nettrace/fixtures/shared"
)

func accounts(t *testing.T, dir string) []*Accounting {
	t.Helper()
	outputs, _ := readDir(t, dir)
	a := Accounts(Join(outputs, Options{}))
	if len(a) != 2 {
		t.Fatalf("%s: %d accountings, want one for each direction", dir, len(a))
	}
	return a
}

// The recorded scenarios with their truths: what was lost, where, and that the balances close.
func TestAccounting(t *testing.T) {
	for _, c := range []struct {
		dir                           string
		sent, arrived, lost, needless uint64
		retransmitted, merged         uint64
		at                            string
		delivery                      int64 // datagrams that stayed in sockets
		text                          string
	}{
		{dir: "b-tcp1", sent: 9714049 + 3742 + 1, arrived: 9717792, retransmitted: 3742, needless: 3742, merged: 9717792 - 235882, text: "3,742 of 3,742 retransmissions were needless"},
		{dir: "c-tcp1-nosegoff", sent: 5183034, arrived: 5183034, retransmitted: 2019, needless: 2019, text: "nothing was lost; 2,019 of 2,019 retransmissions were needless: reordering"},
		{dir: "d-udp-flood", sent: 3052624, arrived: 3052624, lost: 2002334, at: "socket", delivery: 19, text: `2,002,334 packets were lost, 2,002,334 of them at the layer "socket" (UdpRcvbufErrors)`},
		{dir: "e-napi-1flow", sent: 3156546, arrived: 3156546, retransmitted: 5, needless: 5, merged: 3156546 - 77121, text: "ip in: offload made 77,121 packets of 3,156,546 segments, which is no loss"},
		{dir: "f-napi-16flow", sent: 3174198 + 5395, arrived: 3174257, lost: 5336, retransmitted: 5395, needless: 59, merged: 3174257 - 85861, at: "ring", text: `5,336 packets were lost, 5,336 of them at the layer "ring" (tx_drop`},
		{dir: "g-napi-udp2flow", sent: 2276715, arrived: 2276715, lost: 1083074, at: "socket"},
		{dir: "i-rps-backlog", sent: 959678, arrived: 959678, lost: 562241, at: "socket", delivery: 512},
	} {
		a := accounts(t, shared.Path(t, "data", "counters", c.dir))[0]
		if a.Sent != c.sent || a.Arrived != c.arrived || a.Lost != c.lost || a.LostAt != c.at || a.Retransmitted != c.retransmitted || a.Needless != c.needless {
			t.Errorf("%s: sent %d, arrived %d, lost %d at %q, retransmitted %d, needless %d; want %+v", c.dir, a.Sent, a.Arrived, a.Lost, a.LostAt, a.Retransmitted, a.Needless, c)
		}
		if !strings.Contains(a.Text, c.text) {
			t.Errorf("%s: %q does not hold %q", c.dir, a.Text, c.text)
		}
		for _, l := range a.Layers {
			if l.Name == "ip in" && l.Merged != c.merged {
				t.Errorf("%s: %d merged by receive offload, want %d", c.dir, l.Merged, c.merged)
			}
		}
		closed := map[string]int64{"delivery": c.delivery}
		for _, b := range a.Balances {
			if b.Difference != closed[b.Name] || (b.Note != "") != (b.Difference != 0) {
				t.Errorf("%s: %s differ by %d, want %d: %+v", c.dir, b.Name, b.Difference, closed[b.Name], b)
			}
		}
		if want := 3; len(a.Balances) < want {
			t.Errorf("%s: %d balances, want at least %d", c.dir, len(a.Balances), want)
		}
	}
}

// The tree's own pair, which is a part of the recordings: the ring's overrun, through JSON and back.
func TestAccountingRing(t *testing.T) {
	a := accounts(t, "../fixtures/counters/f-napi-16flow")
	if a[0].LostAt != "ring" || a[0].Lost != 5336 || a[0].missing() != 0 || !strings.HasSuffix(a[0].Sender, "peer lcv0") {
		t.Errorf("%+v", a[0])
	}
	if a[1].Lost != 0 || a[1].Sent >= a[0].Sent {
		t.Errorf("the other direction: %+v", a[1])
	}
	text, err := json.Marshal(a[0])
	var back Accounting
	if err != nil || json.Unmarshal(text, &back) != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(&back)
	if diff := cmp.Diff(string(text), string(again)); diff != "" {
		t.Errorf("JSON changes an accounting:\n%s", diff)
	}
}

// Without a sender the receiver's layers are accounted; segments that no counter explains are said to be missing.
func TestAccountingMissing(t *testing.T) {
	outputs, _ := readDir(t, "../fixtures/counters/f-napi-16flow")
	hosts := Join(outputs, Options{})
	if a := Account(nil, hosts[0]); a.Sender != "" || a.Layers[0].Name != "interface in" || a.Lost != 0 {
		t.Errorf("%+v", a)
	}
	for _, i := range hosts[1].Interfaces {
		for _, s := range i.Counters {
			for k := range s.Counters {
				if strings.HasPrefix(s.Counters[k].Name, "tx_drop") {
					s.Counters[k].Delta = 0
				}
			}
		}
	}
	a := Accounts(hosts)[0]
	if a.missing() != 5336 || !strings.HasPrefix(a.Text, "5,336 of 3,179,593 segments did not arrive, and no counter tells") {
		t.Errorf("%d missing: %s", a.missing(), a.Text)
	}
}

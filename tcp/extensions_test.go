package tcp

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nettrace/fixtures/shared"
	"nettrace/pcap"
)

// TestSubflows holds that subflows are joined to their connection, by the tokens that tshark computes (mptcp.expected_token).
func TestSubflows(t *testing.T) {
	c := read(t, filepath.Join(fixtures, "multipath.pcap"))
	var got []Multipath
	for i := range c.Connections {
		m := *c.Connections[i].Handshake.Multipath
		m.Tokens[ClientToServer] = 0 // tshark does not tell it
		got = append(got, m)
	}
	want := []Multipath{
		{Tokens: [2]uint32{0, 4223172028}, Others: []int64{2}}, {Joins: true, Token: 4223172028, Of: 1},
		{Tokens: [2]uint32{0, 3509737198}, Others: []int64{4}}, {Joins: true, Token: 3509737198, Of: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCookies(t *testing.T) {
	c := read(t, filepath.Join(shared.Path(t, "cases/27-tfo-syn-data"), "tfo.pcap"))
	for i := range c.Connections {
		if got := c.Connections[i].Handshake.FastOpenCookie; got != "1122334455667788" {
			t.Errorf("connection %d has the cookie %q", i+1, got)
		}
	}
}

// TestAnyOptions holds that no options make the tracker fail.
func TestAnyOptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		options := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "options")
		data := append(make([]byte, 20), options...)
		h := pcap.Header{Transport: pcap.TCP, PayloadAt: rapid.IntRange(0, 60).Draw(t, "payload at"), Flags: pcap.SYN}
		h.Options.Length, h.Options.MPTCP, h.Options.FastOpen = rapid.Uint8Range(0, 40).Draw(t, "length"), true, true
		var f flow
		f.extended(&pcap.Packet{Data: data}, &h, ClientToServer)
		f.extensions.summary()
	})
}

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

// TestECN holds that congestion notification is in use only if the SYN asks for it and the SYN-ACK agrees to it; one that
// sends the flags of the SYN back does not.
func TestECN(t *testing.T) {
	const ask, agree = pcap.ECE | pcap.CWR, pcap.ECE
	for _, c := range []struct {
		name        string
		syn, synACK uint8
		want        bool
	}{
		{"agreed", ask, agree, true},
		{"not asked", 0, agree, false},
		{"not agreed", ask, 0, false},
		{"flags sent back", ask, ask, false},
	} {
		s := newScript(0, base)
		s.handshake()
		s.packets[0].header.Flags |= c.syn
		s.packets[1].header.Flags |= c.synACK
		captured, _ := track(s.packets)
		if h := captured.Connections[0].Handshake; h.ECN != c.want || h.Ends[0].ECN != (c.syn == ask) {
			t.Errorf("%s: %+v", c.name, h)
		}
	}
	if !read(t, fixture(t, "keepalive-ecn.pcap")).Connections[0].Handshake.ECN {
		t.Error("keepalive-ecn.pcap agrees to congestion notification")
	}
}

package perf

import (
	"encoding/binary"
	"testing"
)

// payloadOf lays out two numbers, a name behind them, and four characters.
func payloadOf() []byte {
	b := make([]byte, 24)
	binary.LittleEndian.PutUint32(b[0:], 5)
	binary.LittleEndian.PutUint64(b[4:], ^uint64(2)) // -3
	binary.LittleEndian.PutUint32(b[12:], 20|3<<16)
	copy(b[16:], "ab\x00d")
	copy(b[20:], "lo\x00")
	return b
}

const payloadFormat = `name: probe
ID: 77
format:
	field:unsigned int flags;	offset:0;	size:4;	signed:0;
	field:long state;	offset:4;	size:8;	signed:1;
	field:__data_loc char[] dev;	offset:12;	size:4;	signed:0;
	field:char comm[4];	offset:16;	size:4;	signed:0;
	field:u8 mac[4];	offset:16;	size:4;	signed:0;

print fmt: `

func TestPrintFormats(t *testing.T) {
	for _, test := range []struct{ print, want string }{
		{`"dev=%s skbaddr=%px len=%u", __get_str(dev), REC->state, REC->flags`, "dev=lo skbaddr=0xfffffffffffffffd len=5"},
		{`"%s %ld %03d 100%%", REC->comm, REC->state, REC->flags`, "ab -3 005 100%"},
		{`"state=%s%s", REC->flags & 0x3 ? __print_flags(REC->flags & 0xff, "|", { 0x1, "S" }, { 4, "T" }) : "R", REC->flags & 2 ? "+" : ""`, "state=S|T"},
		{`"%s %s", __print_symbolic(REC->flags, { 4, "four" }, { (2 + 3), "five" }), __print_symbolic(REC->flags, { 1, "one" })`, "five 0x5"},
		{`"%d %d %x", (REC->flags << 2) + 1 == 21 && !(REC->flags > 7), (int)REC->flags * 2 - 1, ~(u8)REC->flags & 0xf`, "1 9 a"},
		// what is not understood is printed field by field
		{`"%pI4 %u", REC->mac, REC->flags`, "flags=5 state=-3 dev=lo comm=ab mac=61:62:00:64"},
		{`"%s", __get_dynamic_array(dev)`, "flags=5 state=-3 dev=lo comm=ab mac=61:62:00:64"},
		{`"%d", REC->missing`, "flags=5 state=-3 dev=lo comm=ab mac=61:62:00:64"},
		{`"unfinished`, "flags=5 state=-3 dev=lo comm=ab mac=61:62:00:64"},
	} {
		id, f := parseFormat("test", []byte(payloadFormat+test.print+"\n"))
		if id != 77 || f == nil || f.name != "test:probe" {
			t.Fatalf("format %d %+v", id, f)
		}
		if got := string(f.appendTo(nil, order{}, payloadOf())); got != test.want {
			t.Errorf("%s\nprints %q\nexpected %q", test.print, got, test.want)
		}
	}
}

// TestShortPayload: a payload that lacks fields prints those that it has.
func TestShortPayload(t *testing.T) {
	_, f := parseFormat("test", []byte(payloadFormat+`"%u %ld", REC->flags, REC->state`))
	if got := string(f.appendTo(nil, order{}, payloadOf()[:6])); got != "flags=5 state= dev= comm= mac=" {
		t.Errorf("got %q", got)
	}
}

package anonymize

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mapping(t testing.TB, secret string) *Mapping {
	t.Helper()
	m, err := New([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func addr(t *rapid.T, bytes int, label string) netip.Addr {
	a, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), bytes, bytes).Draw(t, label))
	return a
}

// common returns how many first bits two addresses share.
func common(a, b netip.Addr) int {
	for n := a.BitLen(); ; n-- {
		if p, err := a.Prefix(n); err == nil && p.Contains(b) {
			return n
		}
	}
}

// Addresses share as many first bits as before (from 8 on in IPv4, whose first byte stays clear of those that name no
// host), so that no two become one; all depends on the key.
func TestPrefixesStay(t *testing.T) {
	m, other := mapping(t, "one"), mapping(t, "two")
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SampledFrom([]int{4, 16}).Draw(t, "bytes")
		a := addr(t, bytes, "a")
		near := a.AsSlice()
		flipped := rapid.IntRange(0, 8*bytes-1).Draw(t, "bit")
		near[flipped/8] ^= 0x80 >> (flipped % 8)
		b, _ := netip.AddrFromSlice(near)
		if a.Is4In6() != b.Is4In6() || nat64.Contains(a) != nat64.Contains(b) {
			return // an embedded address has its own mapping
		}
		ra, rb := m.Addr(a), m.Addr(b)
		if ra.BitLen() != a.BitLen() || named(ra) != named(a) {
			t.Fatalf("%v became %v", a, ra)
		}
		if named(a) || named(b) {
			return
		}
		if n := common(ra, rb); n != common(a, b) && (bytes == 16 || common(a, b) >= 8) || ra == rb {
			t.Fatalf("%v and %v share %d bits, %v and %v %d", a, b, common(a, b), ra, rb, n)
		}
		if m.Addr(a) != ra {
			t.Fatalf("%v became %v, then %v", a, ra, m.Addr(a))
		}
		if o := other.Addr(a); o == ra && bytes == 16 && a.As16()[0]>>5 == 1 {
			t.Fatalf("%v becomes %v with two keys", a, o)
		}
	})
}

// Every first byte of IPv4 has one of its own.
func TestFirstBytesAreAPermutation(t *testing.T) {
	m := mapping(t, "permutation")
	seen := map[byte]int{}
	for i := range 256 {
		out := m.Addr(netip.AddrFrom4([4]byte{byte(i), 1, 2, 3})).As4()
		if before, twice := seen[out[0]]; twice {
			t.Errorf("%d and %d both became %d", before, i, out[0])
		}
		seen[out[0]] = i
	}
}

func TestAddressesOfNoHostStay(t *testing.T) {
	m := mapping(t, "stay")
	for _, a := range []string{"0.0.0.0", "127.0.0.1", "255.255.255.255", "255.255.255.0", "224.0.0.251", "::", "::1", "ff02::1", "ff02::fb"} {
		if got := m.Text("from " + a + " on"); got != "from "+a+" on" {
			t.Errorf("%s became %q", a, got)
		}
	}
	for prefix, a := range map[string]string{"169.254.0.0/16": "169.254.7.9", "fe80::/64": "fe80::211:22ff:fe33:4455", "fc00::/7": "fd12:3456::1", "2000::/3": "2001:db8::7", "ff02::1:ff00:0/104": "ff02::1:ff33:4455"} {
		got, err := netip.ParseAddr(m.Text(a))
		if err != nil || !netip.MustParsePrefix(prefix).Contains(got) || got.String() == a {
			t.Errorf("%s became %v (%v); expected another one of %s", a, got, err, prefix)
		}
	}
}

// TestText has each form of the same address become the same form of the same other address.
func TestText(t *testing.T) {
	m := mapping(t, "text")
	v4, v6 := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")
	m.Know(v4)
	m.Know(v6)
	m.Host("db7.acme.example")
	m.Host("server")
	m.Keep("firmware 1.5.1.6")
	a, b := m.Addr(v4), m.Addr(v6)
	o := a.As4()
	host := m.hostName("db7")
	for text, want := range map[string]string{
		"192.0.2.7":                       a.String(),
		"192.0.2.7.":                      a.String() + ".",
		"(192.0.2.7:443)":                 "(" + a.String() + ":443)",
		"192.0.2.7.443 > x":               a.String() + ".443 > x",
		"192.000.002.007.00443":           a.String() + ".00443",
		"ip-192-0-2-7.log":                fmt.Sprintf("ip-%d-%d-%d-%d.log", o[0], o[1], o[2], o[3]),
		"from_192.0.2.7-to-192.0.2.7.txt": "from_" + a.String() + "-to-" + a.String() + ".txt",
		"[2001:db8::7]:443":               "[" + b.String() + "]:443",
		"2001:DB8:0:0::7.443":             b.String() + ".443",
		"ip6 2001:db8::7%eth0":            "ip6 " + b.String() + "%eth0",
		"::ffff:192.0.2.7":                "::ffff:" + a.String(),
		"c0000207:01BB":                   fmt.Sprintf("%02x%02x%02x%02x:01BB", o[0], o[1], o[2], o[3]),
		"070200C0:01BB":                   fmt.Sprintf("%02X%02X%02X%02X:01BB", o[3], o[2], o[1], o[0]),
		"deadbeef":                        "deadbeef",
		"to DB7.acme.example, db7":        "to " + host + ", " + host,
		"db70 and xdb7":                   "db70 and xdb7",
		"the server 17:09:13.912 1.5.1.6": "the server 17:09:13.912 1.5.1.6",
		"std::vector<a::b> abc::def":      "std::vector<a::b> abc::def",
		"/home/alice/x and /Users/bob/y":  "/home/user/x and /Users/user/y",
		"before.20110720T231500.010Z":     "before.20110720T231500.010Z",
		"\xff192.0.2.7é":                  "\xff" + a.String() + "é",
	} {
		if got := m.Text(text); got != want {
			t.Errorf("%q became %q; expected %q", text, got, want)
		}
	}
	for _, mac := range []string{"02:42:c0:00:02:07", "02-42-c0-00-02-07", "0242.c000.0207"} {
		got := m.Text(mac)
		digits := strings.NewReplacer(":", "", "-", "", ".", "").Replace(got)
		if len(got) != len(mac) || !strings.HasPrefix(digits, "0242c0") || strings.HasSuffix(digits, "000207") {
			t.Errorf("%s became %s", mac, got)
		}
	}
	if n, err := netip.ParsePrefix(m.Text("192.0.2.0/24")); err != nil || n != n.Masked() || !n.Contains(a) {
		t.Errorf("192.0.2.0/24 became %v, %v; expected the network of %v", n, err, a)
	}
}

// No text makes it fail, and none grows without bound.
func FuzzText(f *testing.F) {
	m := mapping(f, "fuzz")
	m.Host("db7.acme.example")
	for _, s := range []string{"192.0.2.7:443", "2001:db8::7%x", "ip-1-2-3-4", "02:42:ac:11:00:02", "db7 ::", "1.2.3.4.5.6.7.8/12", "::ffff:1.2.3.4/96", "fe80::1%.5", "1.2.3.4/99999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := m.Text(s); len(got) > 64+16*len(s) {
			t.Fatalf("%d bytes became %d", len(s), len(got))
		}
	})
}

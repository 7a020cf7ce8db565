// Package anonymize replaces what names hosts, so that recordings and results can be shown to others: IP addresses,
// hardware addresses, names of hosts. The same key always gives the same replacements.
//
// Addresses keep their common prefixes: those of one network stay in one network (J. Xu and others, Prefix-Preserving IP
// Address Anonymization, ICNP 2002, known as Crypto-PAn). That is what makes them useful, and its known weakness: who knows
// some of the addresses learns the networks of others.
package anonymize

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
)

// Mapping replaces addresses and names. It is made by New; use by one goroutine at a time.
type Mapping struct {
	block    cipher.Block
	pad      [16]byte
	secret   []byte // of names and hardware addresses
	replaced map[netip.Addr]netip.Addr
	hosts    []host
	kept     map[string]bool
	known    map[netip.Addr]bool // addresses whose hexadecimal form is replaced, too
}

// rounds makes guessing keys expensive: some 50 ms for each.
const rounds = 200_000

// maxReplaced bounds the addresses whose replacement is remembered.
const maxReplaced = 1 << 16

// New returns the mapping of a secret: any bytes, the more that nobody else knows of them, the better.
func New(secret []byte) (*Mapping, error) {
	key, err := pbkdf2.Key(sha256.New, string(secret), []byte("nettrace anonymize 1"), rounds, 64)
	if err != nil {
		return nil, fmt.Errorf("derive the key: %w", err)
	}
	m := &Mapping{secret: key[32:], replaced: map[netip.Addr]netip.Addr{}, kept: map[string]bool{}, known: map[netip.Addr]bool{}}
	if m.block, err = aes.NewCipher(key[:16]); err != nil {
		return nil, err
	}
	m.block.Encrypt(m.pad[:], key[16:32])
	return m, nil
}

// Addr returns what stands for an address. Addresses that name no host stay: unspecified, loopback, broadcast, masks and
// groups. So does what says of which kind an address is: the first 3 bits of global IPv6 ones, link-local prefixes, the
// prefixes that embed IPv4. IPv4 addresses that share fewer than 8 bits may share others afterwards.
func (m *Mapping) Addr(a netip.Addr) netip.Addr {
	if a.Zone() != "" {
		return m.Addr(a.WithZone("")).WithZone(a.Zone())
	}
	if !a.IsValid() || named(a) {
		return a
	}
	b, known := m.replaced[a]
	if !known {
		if a.Is4() {
			b = m.v4(a)
		} else {
			b = m.v6(a)
		}
		if len(m.replaced) == maxReplaced {
			clear(m.replaced)
		}
		m.replaced[a] = b
	}
	return b
}

// named reports whether an address is that of no host.
func named(a netip.Addr) bool {
	if a.Is4() {
		return reserved(a.As4()[0])
	}
	return a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() && !solicited.Contains(a)
}

// reserved reports whether addresses of a first byte name no host (RFC 6890: this network, loopback, groups, reserved).
func reserved(first byte) bool { return first == 0 || first == 127 || first >= 224 }

var (
	linkLocal4 = netip.MustParsePrefix("169.254.0.0/16")
	linkLocal6 = netip.MustParsePrefix("fe80::/64")
	mapped     = netip.MustParsePrefix("::ffff:0:0/96")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	unique     = netip.MustParsePrefix("fc00::/7")
	solicited  = netip.MustParsePrefix("ff02::1:ff00:0/104") // its last bits are those of the address asked for
)

func (m *Mapping) v4(a netip.Addr) netip.Addr {
	in := a.As4()
	if linkLocal4.Contains(a) {
		return netip.AddrFrom4([4]byte(m.bits(in[:], 16, 32)))
	}
	out := m.bits(in[:], 0, 32)
	for reserved(out[0]) { // on along the permutation of first bytes, so that no two share one
		out[0] = m.bits([]byte{out[0], 0, 0, 0}, 0, 8)[0]
	}
	return netip.AddrFrom4([4]byte(out))
}

func (m *Mapping) v6(a netip.Addr) netip.Addr {
	in := a.As16()
	for _, p := range []netip.Prefix{mapped, nat64} {
		if p.Contains(a) || p == mapped && a.Is4In6() {
			low := m.Addr(netip.AddrFrom4([4]byte(in[12:]))).As4()
			copy(in[12:], low[:])
			return netip.AddrFrom16(in)
		}
	}
	kept := 3 // as of what is global
	if in[0] < 0x20 || in[0] >= 0xe0 {
		kept = 16 // blocks of special use (RFC 6890) and what is not allocated
	}
	for _, p := range []netip.Prefix{linkLocal6, unique, solicited} {
		if p.Contains(a) {
			kept = p.Bits()
		}
	}
	return netip.AddrFrom16([16]byte(m.bits(in[:], kept, 128)))
}

// bits replaces the bits from one on to another: each is turned or not as the cipher says of the bits before it.
func (m *Mapping) bits(in []byte, from, to int) []byte {
	out := append([]byte{}, in...)
	for i := from; i < to; i++ {
		input := m.pad // the bits before, and the pad's for the rest
		copy(input[:], in[:i/8])
		if rest := byte(0xff) >> (i % 8); i%8 > 0 {
			input[i/8] = in[i/8]&^rest | m.pad[i/8]&rest
		}
		input[15] ^= byte(len(in)) // the two families have nothing in common
		m.block.Encrypt(input[:], input[:])
		out[i/8] ^= input[0] >> 7 << (7 - i%8)
	}
	return out
}

// HardwareAddr replaces in place what tells one device from others: all but the first three bytes, which name the maker
// and say whether it is a group. Groups stay, but for those that hold parts of IP addresses.
func (m *Mapping) HardwareAddr(a []byte) {
	if len(a) < 6 || a[0]&1 == 1 && !(a[0] == 0x33 && a[1] == 0x33) || strings.Trim(string(a), "\x00") == "" {
		return
	}
	from := 3
	if a[0] == 0x33 && a[1] == 0x33 {
		from = 2
	}
	copy(a[from:], m.sum("hardware", string(a)))
}

// sum is a keyed hash of a text.
func (m *Mapping) sum(kind, text string) []byte {
	h := hmac.New(sha256.New, m.secret)
	h.Write([]byte(kind + "\x00" + text))
	return h.Sum(nil)
}

// host is a name with what stands for it.
type host struct{ name, replaced string }

// words are names of hosts that tell nothing, and would be met in sentences.
var words = map[string]bool{"localhost": true, "localdomain": true, "server": true, "client": true, "sender": true, "receiver": true, "peer": true, "host": true, "linux": true, "freebsd": true, "none": true, "(none)": true}

// Host makes a name known as that of a host, so that Text replaces it and its first label, wherever they stand as a word.
func (m *Mapping) Host(name string) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if _, err := netip.ParseAddr(name); err == nil {
		return
	}
	first, _, _ := strings.Cut(name, ".")
	m.host(name, first)
	m.host(first, first)
}

func (m *Mapping) host(name, label string) {
	const shortest = 2
	if len(name) < shortest || words[name] {
		return
	}
	for i, h := range m.hosts {
		if h.name == name {
			return
		}
		if len(h.name) < len(name) { // longer names come first
			m.hosts = append(m.hosts[:i:i], append([]host{{name, m.hostName(label)}}, m.hosts[i:]...)...)
			return
		}
	}
	m.hosts = append(m.hosts, host{name, m.hostName(label)})
}

func (m *Mapping) hostName(label string) string {
	return "host-" + hex.EncodeToString(m.sum("host", label)[:3])
}

// Keep makes a text known that looks like an address and is none, such as the version of a driver.
func (m *Mapping) Keep(text string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !inToken(r) }) {
		m.kept[word] = true
	}
}

// Know makes an address known, so that Text replaces its hexadecimal form, too.
func (m *Mapping) Know(a netip.Addr) {
	if a.IsValid() {
		m.known[a.WithZone("")] = true
	}
}

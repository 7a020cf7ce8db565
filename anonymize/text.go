package anonymize

import (
	"encoding/hex"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// home matches the folder of a user, whose name tells who it is.
var home = regexp.MustCompile(`(/home/|/Users/|\\Users\\)[^/\\\s:;,'"]+`)

// Text replaces the addresses in a text in all forms that tools print: 192.0.2.1, with a port behind a colon or a dot, with
// zeros in front, ip-192-0-2-1; IPv6 with a zone or a port; hardware addresses with colons, dashes or dots; known addresses
// in hexadecimal; names of known hosts; and users in names of folders.
func (m *Mapping) Text(s string) string {
	if strings.Contains(s, "sers") || strings.Contains(s, "/home/") {
		s = home.ReplaceAllString(s, "${1}user")
	}
	for _, h := range m.hosts {
		s = replaceWord(s, h)
	}
	if !strings.ContainsAny(s, "0123456789:") {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		end := strings.IndexFunc(s, func(r rune) bool { return !inToken(r) })
		switch {
		case end < 0:
			end = len(s)
			b.WriteString(m.token(s))
		case end == 0:
			for end < len(s) && !inToken(rune(s[end])) { // a byte of a longer character is none of a token
				end++
			}
			b.WriteString(s[:end])
		default:
			word, bits := m.token(s[:end]), -1
			if s[end] == '/' {
				bits = leadingNumber(s[end+1:])
			}
			b.WriteString(network(s[:end], word, bits))
		}
		s = s[end:]
	}
	return b.String()
}

// network keeps a network without host bits one.
func network(was, is string, bits int) string {
	old, err := netip.ParseAddr(was)
	if err != nil || bits < 0 || bits >= old.BitLen() {
		return is
	}
	if p, err := old.Prefix(bits); err != nil || p.Addr() != old {
		return is
	}
	replaced, err := netip.ParseAddr(is)
	if err != nil {
		return is
	}
	p, err := replaced.Prefix(bits)
	if err != nil {
		return is
	}
	return p.Addr().String()
}

func leadingNumber(s string) int {
	end := 0
	for end < len(s) && end < 4 && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return -1
	}
	return n
}

func inToken(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' || r == ':' || r == '-' || r == '_'
}

// replaceWord replaces a host's name where no letter, digit or underscore is next to it.
func replaceWord(s string, h host) string {
	lower := strings.ToLower(s)
	if len(lower) != len(s) || !strings.Contains(lower, h.name) {
		return s
	}
	inWord := func(i int) bool {
		return i >= 0 && i < len(s) && (s[i] == '_' || s[i] >= 0x80 || inToken(rune(s[i])) && !strings.ContainsRune(".:-", rune(s[i])))
	}
	var b strings.Builder
	done := 0
	for {
		i := strings.Index(lower[done:], h.name)
		if i < 0 {
			break
		}
		i += done
		end := i + len(h.name)
		if inWord(i-1) || inWord(end) {
			b.WriteString(s[done : i+1])
			done = i + 1
			continue
		}
		b.WriteString(s[done:i] + h.replaced)
		done = end
	}
	return b.String() + s[done:]
}

// token replaces what a run of letters, digits and .:-_ holds.
func (m *Mapping) token(s string) string {
	word := strings.TrimRight(s, ".:-_")
	rest := s[len(word):]
	if strings.HasPrefix(rest, "::") { // 2001:db8:: ends so
		word, rest = word+"::", rest[2:]
	}
	if m.kept[word] {
		return s
	}
	for _, form := range []func(string) (string, bool){m.hardware, m.ipv6, m.hexadecimal} {
		if replaced, ok := form(word); ok {
			return replaced + rest
		}
	}
	for _, separator := range []string{":", "_"} {
		if parts := strings.Split(word, separator); len(parts) > 1 {
			for i := range parts {
				parts[i] = m.token(parts[i])
			}
			return strings.Join(parts, separator) + rest
		}
	}
	return m.numbered(word) + rest
}

// hardware replaces 02:42:ac:11:00:02, 02-42-ac-11-00-02 and 0242.ac11.0002.
func (m *Mapping) hardware(s string) (string, bool) {
	for _, form := range []struct {
		separator string
		groups    int
	}{{":", 6}, {"-", 6}, {".", 3}} {
		parts := strings.Split(s, form.separator)
		if len(parts) != form.groups || slices.ContainsFunc(parts, func(p string) bool { return len(p) != 12/form.groups }) {
			continue
		}
		a, err := hex.DecodeString(strings.Join(parts, ""))
		if err != nil {
			continue
		}
		m.HardwareAddr(a)
		text, size := hex.EncodeToString(a), 12/form.groups
		for i := range parts {
			parts[i] = text[i*size : (i+1)*size]
		}
		return strings.Join(parts, form.separator), true
	}
	return s, false
}

// ipv6 replaces an IPv6 address, also with a port behind a dot. Names of C++ such as ab::cd are none.
func (m *Mapping) ipv6(s string) (string, bool) {
	if strings.Count(s, ":") < 2 || s == "::" {
		return s, false
	}
	first, _, _ := strings.Cut(s, ":")
	if !strings.ContainsAny(s, "0123456789") || first != "" && first[0] > '9' && len(first) != 4 {
		return s, false
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return m.Addr(a).String(), true
	}
	at := strings.LastIndexByte(s, '.')
	if at < 0 {
		return s, false
	}
	a, err := netip.ParseAddr(s[:at])
	if err != nil || a.Is4() {
		return s, false
	}
	return m.Addr(a).String() + s[at:], true
}

// hexadecimal replaces a known address in 8 or 32 digits, in the order of its bytes or in that of /proc/net.
func (m *Mapping) hexadecimal(s string) (string, bool) {
	if len(s) != 8 && len(s) != 32 {
		return s, false
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return s, false
	}
	for _, turned := range []bool{false, true} {
		if turned {
			turn(b)
		}
		if a, _ := netip.AddrFromSlice(b); m.known[a] {
			b = m.Addr(a).AsSlice()
			if turned {
				turn(b)
			}
			text := hex.EncodeToString(b)
			if s == strings.ToUpper(s) {
				text = strings.ToUpper(text)
			}
			return text, true
		}
	}
	return s, false
}

// turn reverses the bytes of each 32-bit word.
func turn(b []byte) {
	for i := 0; i+4 <= len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
}

// numbered replaces four numbers in a row, between dots, or between dashes behind ip.
func (m *Mapping) numbered(s string) string {
	if pieces := strings.Split(s, "-"); len(pieces) > 1 {
		for i := range pieces {
			if pieces[i] == "ip" && i+4 < len(pieces) {
				last, rest, _ := strings.Cut(pieces[i+4], ".")
				if a, ok := quad([]string{pieces[i+1], pieces[i+2], pieces[i+3], last}); ok {
					copy(pieces[i+1:], strings.Split(m.Addr(a).String(), "."))
					if rest != "" {
						pieces[i+4] += "." + rest
					}
				}
			}
			if strings.Contains(pieces[i], ".") {
				pieces[i] = m.numbered(pieces[i])
			}
		}
		return strings.Join(pieces, "-")
	}
	labels := strings.Split(s, ".")
	for i := 0; i+4 <= len(labels); i++ {
		if a, ok := quad(labels[i : i+4]); ok {
			copy(labels[i:], strings.Split(m.Addr(a).String(), "."))
			i += 3
		}
	}
	return strings.Join(labels, ".")
}

// quad reads an IPv4 address from its four numbers.
func quad(parts []string) (netip.Addr, bool) {
	var b [4]byte
	for i, p := range parts[:4] {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || len(p) > 3 {
			return netip.Addr{}, false
		}
		b[i] = byte(n)
	}
	return netip.AddrFrom4(b), true
}

package flame

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Demangle returns the name that a function of C++ or Rust has in its source, and other names as they
// are. The hash that Rust puts behind a path is left out, so that copies of a function are one; so it is of names that
// another tool has demangled before.
func Demangle(symbol string) string {
	if strings.HasPrefix(symbol, "_Z") || strings.HasPrefix(symbol, "_R") || strings.HasPrefix(symbol, "__Z") || strings.HasPrefix(symbol, "___Z") {
		const most = 4096 // longer names may take exponential time
		if len(symbol) <= most {
			symbol = demangle.Filter(symbol)
		}
	}
	if path, ok := cutRustHash(symbol); ok {
		return unescapeRust(path)
	}
	return symbol
}

// cutRustHash takes "::h" and 16 hexadecimal digits off the end of a path.
func cutRustHash(name string) (path string, ok bool) {
	const digits = 16
	at := len(name) - len("::h") - digits
	if at <= 0 || name[at:at+3] != "::h" {
		return name, false
	}
	for _, c := range []byte(name[at+3:]) {
		if hexadecimal := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'; !hexadecimal {
			return name, false
		}
	}
	return name[:at], true
}

// unescapeRust reads what a demangler of C++ leaves of a path of Rust's older mangling
// (rustc's symbol_names/legacy.rs): "_$u7b$$u7b$closure$u7d$$u7d$".
func unescapeRust(path string) string {
	if !strings.Contains(path, "$") {
		return path
	}
	path = strings.ReplaceAll(path, "::_$", "::$")
	return strings.NewReplacer("$LT$", "<", "$GT$", ">", "$LP$", "(", "$RP$", ")", "$RF$", "&", "$BP$", "*", "$SP$", "@", "$C$", ",",
		"$u20$", " ", "$u22$", `"`, "$u27$", "'", "$u2b$", "+", "$u3b$", ";", "$u5b$", "[", "$u5d$", "]", "$u7b$", "{", "$u7d$", "}", "$u7e$", "~", "..", "::").Replace(path)
}

package perf

import (
	"strconv"
	"strings"
)

// The functions of print formats that yield a text: names of values and of flags.

func (p *printParser) call(name string) expression {
	if !p.take("(") {
		return p.fail()
	}
	var x expression
	switch name {
	case "__get_str", "__get_rel_str":
		x = p.field(p.word())
	case "__print_symbolic":
		x = p.names("")
	case "__print_flags":
		x = p.names("|")
	default:
		return p.fail()
	}
	if p.failed || !p.take(")") {
		return p.fail()
	}
	return x
}

// named is one value with its name.
type named struct {
	n    uint64
	text string
}

// names takes the value and the names of __print_symbolic(value, {n, "text"}...), or of __print_flags, which has a
// delimiter behind the value and prints all flags that are set.
func (p *printParser) names(delimiter string) expression {
	x := p.ternary()
	flags := delimiter != ""
	if flags {
		if !p.take(",") {
			return p.fail()
		}
		delimiter, _ = p.str()
	}
	var list []named
	for p.take(",") {
		if !p.take("{") {
			return p.fail()
		}
		n := p.ternary()
		if p.failed || !p.take(",") {
			return p.fail()
		}
		text, ok := p.str()
		if !ok || !p.take("}") {
			return p.fail()
		}
		list = append(list, named{n(&printEnv{}).n, text})
	}
	if flags {
		return func(e *printEnv) value { return value{text: flagNames(x(e).n, delimiter, list), isText: true} }
	}
	return func(e *printEnv) value {
		n := x(e).n
		for _, name := range list {
			if name.n == n {
				return value{text: name.text, isText: true}
			}
		}
		return value{text: "0x" + strconv.FormatUint(n, 16), isText: true}
	}
}

func flagNames(n uint64, delimiter string, list []named) string {
	var set []string
	for _, name := range list {
		if name.n == 0 && n == 0 && len(set) == 0 {
			return name.text
		}
		if name.n != 0 && n&name.n == name.n {
			set = append(set, name.text)
			n &^= name.n
		}
	}
	if n != 0 {
		set = append(set, "0x"+strconv.FormatUint(n, 16))
	}
	return strings.Join(set, delimiter)
}

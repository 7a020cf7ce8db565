package perf

import (
	"strconv"
	"strings"
)

// The expressions of print formats: a part of C without assignments, over the fields of a payload.

// value is what an expression yields.
type value struct {
	n      uint64
	text   string
	isText bool
}

type printEnv struct {
	o       order
	payload []byte
	ok      bool
}

type expression func(*printEnv) value

// printParser reads the expressions of C that print formats use.
type printParser struct {
	s      string
	f      *traceFormat
	failed bool
	depth  int
}

func (p *printParser) blank() { p.s = strings.TrimLeft(p.s, " \t") }

func (p *printParser) take(token string) bool {
	p.blank()
	if strings.HasPrefix(p.s, token) {
		p.s = p.s[len(token):]
		return true
	}
	return false
}

func (p *printParser) fail() expression {
	p.failed = true
	return func(*printEnv) value { return value{} }
}

// str takes one or more adjacent string literals.
func (p *printParser) str() (string, bool) {
	var all strings.Builder
	found := false
	for {
		p.blank()
		if !strings.HasPrefix(p.s, `"`) {
			return all.String(), found
		}
		end := 1
		for end < len(p.s) && p.s[end] != '"' {
			if p.s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(p.s) {
			return "", false
		}
		text, err := strconv.Unquote(p.s[:end+1])
		if err != nil {
			return "", false
		}
		all.WriteString(text)
		p.s, found = p.s[end+1:], true
	}
}

const expressionDepth = 200

// ternary reads an expression with ?: at its top.
func (p *printParser) ternary() expression {
	if p.depth++; p.depth > expressionDepth {
		return p.fail()
	}
	defer func() { p.depth-- }()
	condition := p.binary(0)
	if p.failed || !p.take("?") {
		return condition
	}
	yes := p.ternary()
	if !p.take(":") {
		return p.fail()
	}
	no := p.ternary()
	return func(e *printEnv) value {
		if condition(e).n != 0 {
			return yes(e)
		}
		return no(e)
	}
}

// operators by precedence, loosest first; longer ones before those that they begin with.
var operators = [...][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *printParser) binary(level int) expression {
	if level == len(operators) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for !p.failed {
		op := p.operator(level)
		if op == "" {
			return left
		}
		a, b := left, p.binary(level+1)
		left = func(e *printEnv) value { return value{n: calculate(op, a(e).n, b(e).n)} }
	}
	return left
}

// operator takes an operator of this level, unless it is the beginning of another one.
func (p *printParser) operator(level int) string {
	p.blank()
	for _, op := range operators[level] {
		if !strings.HasPrefix(p.s, op) {
			continue
		}
		behind := p.s[len(op):]
		if len(op) == 1 && len(behind) > 0 && (behind[0] == op[0] && strings.ContainsAny(op, "|&<>") || op == "<" && behind[0] == '=' || op == ">" && behind[0] == '=') {
			continue
		}
		p.s = behind
		return op
	}
	return ""
}

func calculate(op string, a, b uint64) uint64 {
	truth := func(t bool) uint64 {
		if t {
			return 1
		}
		return 0
	}
	switch op {
	case "||":
		return truth(a != 0 || b != 0)
	case "&&":
		return truth(a != 0 && b != 0)
	case "|":
		return a | b
	case "^":
		return a ^ b
	case "&":
		return a & b
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "<=":
		return truth(int64(a) <= int64(b))
	case ">=":
		return truth(int64(a) >= int64(b))
	case "<":
		return truth(int64(a) < int64(b))
	case ">":
		return truth(int64(a) > int64(b))
	case "<<":
		return a << (b & 63)
	case ">>":
		return a >> (b & 63)
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	}
	if b == 0 {
		return 0
	}
	if op == "/" {
		return a / b
	}
	return a % b
}

func (p *printParser) unary() expression {
	if p.depth++; p.depth > expressionDepth {
		return p.fail()
	}
	defer func() { p.depth-- }()
	p.blank()
	switch {
	case p.s == "":
		return p.fail()
	case p.take("!"):
		x := p.unary()
		return func(e *printEnv) value { return value{n: calculate("==", x(e).n, 0)} }
	case p.take("~"):
		x := p.unary()
		return func(e *printEnv) value { return value{n: ^x(e).n} }
	case p.take("-"):
		x := p.unary()
		return func(e *printEnv) value { return value{n: -x(e).n} }
	case p.s[0] == '(':
		return p.parenthesis()
	case p.s[0] == '"':
		text, ok := p.str()
		if !ok {
			return p.fail()
		}
		return func(*printEnv) value { return value{text: text, isText: true} }
	case isDigit(p.s[0]):
		return p.number()
	case p.take("REC->"):
		return p.field(p.word())
	}
	return p.call(p.word())
}

// parenthesis takes (expression), or a cast, which changes nothing that is printed but its width.
func (p *printParser) parenthesis() expression {
	p.take("(")
	if end := strings.IndexByte(p.s, ')'); end > 0 && isCast(p.s[:end]) {
		mask := castMask(p.s[:end])
		p.s = p.s[end+1:]
		x := p.unary()
		return func(e *printEnv) value {
			v := x(e)
			v.n &= mask
			return v
		}
	}
	x := p.ternary()
	if !p.take(")") {
		return p.fail()
	}
	return x
}

func isCast(s string) bool {
	s = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s), "* "))
	for word := range strings.FieldsSeq(s) {
		switch word {
		case "unsigned", "signed", "int", "long", "short", "char", "void", "const", "struct", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64",
			"__u8", "__u16", "__u32", "__u64", "__s32", "__s64", "size_t", "pid_t", "dma_addr_t", "phys_addr_t", "bool", "uint32_t", "uint64_t":
		default:
			return false
		}
	}
	return s != ""
}

func castMask(s string) uint64 {
	switch strings.Join(strings.Fields(s), " ") {
	case "u8", "__u8", "unsigned char":
		return 0xff
	case "u16", "__u16", "unsigned short":
		return 0xffff
	case "u32", "__u32", "unsigned int", "unsigned":
		return 0xffffffff
	}
	return ^uint64(0)
}

func (p *printParser) number() expression {
	end := 0
	for end < len(p.s) && (isDigit(p.s[end]) || isLetter(p.s[end])) {
		end++
	}
	n, err := strconv.ParseUint(strings.TrimRight(p.s[:end], "uUlL"), 0, 64)
	if err != nil {
		return p.fail()
	}
	p.s = p.s[end:]
	return func(*printEnv) value { return value{n: n} }
}

func (p *printParser) word() string {
	p.blank()
	end := 0
	for end < len(p.s) && (isLetter(p.s[end]) || isDigit(p.s[end]) || p.s[end] == '_') {
		end++
	}
	word := p.s[:end]
	p.s = p.s[end:]
	return word
}

func (p *printParser) field(name string) expression {
	for i := range p.f.fields {
		f := &p.f.fields[i]
		switch {
		case f.name != name:
		case f.text:
			return func(e *printEnv) value { return value{text: cString(f.bytes(e.o, e.payload)), isText: true} }
		case f.array:
			return p.fail()
		default:
			return func(e *printEnv) value {
				n, ok := f.number(e.o, e.payload)
				e.ok = e.ok && ok
				return value{n: n}
			}
		}
	}
	return p.fail()
}

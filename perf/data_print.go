package perf

import (
	"fmt"
	"strconv"
	"strings"
)

// printFormat is the "print fmt" of a tracepoint: a C format and the expressions that it prints.
type printFormat struct {
	parts []printPart
}

// printPart is a text, and the expression that is printed behind it.
type printPart struct {
	text string
	verb string // in Go's form, "" if only text
	sign bool   // the number is signed
	arg  expression
}

// parsePrint reads a print format; nil if something in it is not understood.
func parsePrint(s string, f *traceFormat) *printFormat {
	p := printParser{s: s, f: f}
	format, ok := p.str()
	if !ok {
		return nil
	}
	var out printFormat
	for format != "" {
		part, rest, ok := nextVerb(format)
		if !ok {
			return nil
		}
		format = rest
		if part.verb != "" {
			if !p.take(",") {
				return nil
			}
			if part.arg = p.ternary(0); p.failed {
				return nil
			}
		}
		out.parts = append(out.parts, part)
	}
	if p.blank(); p.s != "" {
		return nil
	}
	return &out
}

// nextVerb cuts the text up to and including the next conversion off a C format.
func nextVerb(format string) (part printPart, rest string, ok bool) {
	var text strings.Builder
	for {
		before, after, found := strings.Cut(format, "%")
		text.WriteString(before)
		part.text = text.String()
		if !found {
			return part, "", true
		}
		if strings.HasPrefix(after, "%") {
			text.WriteByte('%')
			format = after[1:]
			continue
		}
		n := 0
		for n < len(after) && strings.IndexByte("0123456789-+# .", after[n]) >= 0 {
			n++
		}
		flags := after[:n]
		after = strings.TrimLeft(after[n:], "hlLzqj")
		if after == "" {
			return part, "", false
		}
		switch c := after[0]; c {
		case 'd', 'i', 'u':
			part.verb, part.sign = "%"+flags+"d", c != 'u'
		case 'x', 'X', 'o', 'c', 's':
			part.verb = "%" + flags + string(c)
		case 'p':
			if len(after) > 1 && after[1] == 'x' || len(after) > 1 && after[1] == 'K' {
				after = after[1:]
			} else if len(after) > 1 && isLetter(after[1]) {
				return part, "", false // %pI4 and the like print what a pointer points to
			}
			part.verb = "0x%x"
		default:
			return part, "", false
		}
		return part, after[1:], true
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// appendTo prints a payload; false if it lacks a field.
func (p *printFormat) appendTo(b []byte, o order, payload []byte) ([]byte, bool) {
	env := printEnv{o, payload, true}
	for i := range p.parts {
		part := &p.parts[i]
		b = append(b, part.text...)
		if part.verb == "" {
			continue
		}
		v := part.arg(&env)
		isString := strings.HasSuffix(part.verb, "s")
		switch {
		case isString != v.isText:
			return nil, false
		case isString:
			b = fmt.Appendf(b, part.verb, v.text)
		case strings.HasSuffix(part.verb, "c"):
			b = append(b, byte(v.n))
		case part.sign:
			b = fmt.Appendf(b, part.verb, int64(v.n))
		default:
			b = fmt.Appendf(b, part.verb, v.n)
		}
	}
	return b, env.ok
}

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
func (p *printParser) ternary(int) expression {
	if p.depth++; p.depth > expressionDepth {
		return p.fail()
	}
	defer func() { p.depth-- }()
	condition := p.binary(0)
	if p.failed || !p.take("?") {
		return condition
	}
	yes := p.ternary(0)
	if !p.take(":") {
		return p.fail()
	}
	no := p.ternary(0)
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
	x := p.ternary(0)
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

// call takes the functions of print formats that yield a text.
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

type named struct {
	n    uint64
	text string
}

// names takes the value and the names of __print_symbolic(value, {n, "text"}...), or of __print_flags, which has a
// delimiter behind the value and prints all flags that are set.
func (p *printParser) names(delimiter string) expression {
	x := p.ternary(0)
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
		n := p.ternary(0)
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

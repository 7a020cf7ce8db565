package perf

import (
	"fmt"
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
			if part.arg = p.ternary(); p.failed {
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

package flame

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Palette gives colours to the functions that someone cares about. Its text has lines such as
//
//	# what the driver does
//	^mlx5_=#7a3db8
//	module:nvme=#0b7
//	copy_(to|from)_user=#ffd166
//
// A pattern is a regular expression (RE2) that is looked for in the function's name, or in the object that it is in if
// "module:" stands before it. The colour, #rgb or #rrggbb, is behind the last "=". The first pattern that fits counts.
// Lines that are empty or begin with "#" are left out.
type Palette struct{ rules []paletteRule }

type paletteRule struct {
	pattern *regexp.Regexp
	written string
	module  bool
	colour  string // #rrggbb
}

// maxPaletteRules bounds the colours of a picture.
const maxPaletteRules = 1000

// ReadPalette reads the lines of a palette; name is what errors call it.
func ReadPalette(name string, r io.Reader) (*Palette, error) {
	p := &Palette{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		rule, err := paletteLine(line)
		if err == nil && len(p.rules) == maxPaletteRules {
			err = fmt.Errorf("more than %d patterns; join some with |", maxPaletteRules)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		p.rules = append(p.rules, rule)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

func paletteLine(line string) (paletteRule, error) {
	at := strings.LastIndexByte(line, '=')
	if at < 0 {
		return paletteRule{}, fmt.Errorf("%q has no =; expected a pattern and a colour, such as ^tcp_=#7a3db8", line)
	}
	r := paletteRule{written: strings.TrimSpace(line[:at])}
	var ok bool
	if r.colour, ok = sixDigits(strings.TrimSpace(line[at+1:])); !ok {
		return r, fmt.Errorf("%q is no colour; expected #rgb or #rrggbb", strings.TrimSpace(line[at+1:]))
	}
	pattern, module := strings.CutPrefix(r.written, "module:")
	if pattern == "" {
		return r, fmt.Errorf("no pattern before %q; . fits everything", line[at:])
	}
	r.module = module
	var err error
	r.pattern, err = regexp.Compile(pattern)
	return r, err
}

// sixDigits returns a colour as #rrggbb.
func sixDigits(colour string) (string, bool) {
	digits := strings.ToLower(strings.TrimPrefix(colour, "#"))
	if len(digits) == len(colour) || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false
	}
	switch len(digits) {
	case 3:
		r, g, b := digits[:1], digits[1:2], digits[2:]
		return "#" + r + r + g + g + b + b, true
	case 6:
		return "#" + digits, true
	}
	return "", false
}

// find returns the first rule that fits a frame.
func (p *Palette) find(f Frame) (rule int, found bool) {
	if p == nil {
		return 0, false
	}
	for i := range p.rules {
		text := f.Name
		if p.rules[i].module {
			text = f.Object
		}
		if p.rules[i].pattern.MatchString(text) {
			return i, true
		}
	}
	return 0, false
}

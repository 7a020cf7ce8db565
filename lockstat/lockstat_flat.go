package lockstat

import "bytes"

// flat reads what follows a heading on its own line: mail archives lose line ends, so that a whole table is one line.
// Rows begin where a number is followed by a percentage; histograms and stacks are not read in this shape.
func (r *lockstatReader) flat(text []byte) {
	w := words(text, nil)
	if c, ok := parseColumns(w); ok {
		r.header(c)
		w = w[c.length:]
	}
	for len(w) > 0 {
		n := r.flatLine(w)
		r.w = w[:n]
		if row, ok := r.parseRow(); ok {
			r.flush()
			r.row = row
			r.inTable++
		} else if string(w[0]) == "[...]" {
			r.elided()
		} else if line := bytes.Join(w[:n], []byte(" ")); rule(w[0], '-', 20) {
			r.closing()
		} else if h, ok := parseHeading(line); ok {
			r.flush()
			r.begin(h)
		} else if c, ok := parseColumns(r.w); ok {
			r.header(c)
		}
		w = w[n:]
	}
}

// flatLine returns how many words the next line had.
func (r *lockstatReader) flatLine(w [][]byte) int {
	if rule(w[0], '-', 20) || string(w[0]) == "[...]" {
		return 1
	}
	for i := 1; i < len(w); i++ {
		switch {
		case rule(w[i], '-', 20), string(w[i]) == "[...]", string(w[i]) == "Count", string(w[i]) == "ops/s":
			return i
		case i+1 < len(w) && percent(w[i+1]) && !percent(w[i]):
			if _, ok := whole(w[i]); ok {
				return i
			}
		}
	}
	return len(w)
}

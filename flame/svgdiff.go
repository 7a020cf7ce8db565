package flame

import (
	"fmt"
	"io"
	"strings"

	"nettrace/unit"
)

// WriteDiffSVG draws the difference of two profiles as WriteSVG draws one: colours tell what became more and what less,
// grey what may be chance, and functions that only one side has are listed.
func WriteDiffSVG(w io.Writer, d *Difference, o SVGOptions) error {
	if o.Hidden == 0 {
		o.Hidden = maxHidden
	}
	l, err := NewDiffLayout(d, o.Width, o.LayoutOptions)
	if err != nil {
		return err
	}
	s := newSVG(w, l, o.Colours)
	s.icicle, s.title = o.Icicle, o.Title
	if s.title == "" {
		s.title = titleOf(d.Other.Event) + ", compared"
	}
	notes := append(d.sides(), "widths: "+widthTitle(o.Width))
	for _, line := range append([]string{s.leftOut()}, d.lists()...) {
		if line != "" {
			notes = append(notes, line)
		}
	}
	return s.picture(notes)
}

func widthTitle(w Width) string {
	switch w {
	case Base, Other:
		return "what " + string(w) + " has"
	}
	return "of each stack the larger of base and other"
}

// sides says what is compared.
func (d *Difference) sides() []string {
	side := func(name string, s *Side) string {
		return fmt.Sprintf("%s: %s, %s in %s samples", name, Clean(s.Source), d.quantity(s.Value), unit.Count(s.Samples))
	}
	notes := []string{side("base", &d.Base), side("other", &d.Other)}
	if d.Factor != 1 {
		notes[0] += fmt.Sprintf(", scaled by %s", unit.Number(d.Factor))
	}
	return notes
}

// maxListed bounds the functions that only one side has and that a picture names.
const maxListed = 8

// lists names the functions that only one side has.
func (d *Difference) lists() []string {
	list := func(what string, changed []Changed, of func(*Pair) int64) string {
		if len(changed) == 0 {
			return ""
		}
		var names []string
		for i := range changed[:min(len(changed), maxListed)] {
			names = append(names, Clean(d.Frames[changed[i].Frame].Name)+" "+d.quantity(of(&changed[i].Pair)))
		}
		sure := 0
		for i := range changed {
			if !d.Noise(&changed[i].Pair) {
				sure++
			}
		}
		text := fmt.Sprintf("%s %s, %s of them beyond chance: %s", unit.Count(int64(len(changed))), what, unit.Count(int64(sure)), strings.Join(names, ", "))
		if more := len(changed) - maxListed; more > 0 {
			text += fmt.Sprintf(" and %s more", unit.Count(int64(more)))
		}
		return text
	}
	return []string{list("new", d.New(), func(p *Pair) int64 { return p.Other.Value }),
		list("vanished", d.Vanished(), func(p *Pair) int64 { return p.Base.Value })}
}

func (d *Difference) quantity(v int64) string { return Quantity(v, d.Scale, d.Unit) }

// points is how much more of all other has, with its sign.
func (d *Difference) points(p *Pair) string { return signed(percent(d.share(d.Delta(p))), d.Delta(p)) }

func signed(text string, v float64) string {
	if v > 0 {
		return "+" + text
	}
	return text
}

// diffTooltip has both counts of a box; its first line is as tooltip makes it.
func (s *svg) diffTooltip(to []byte, b Box) []byte {
	d := s.layout.Diff
	p := &d.Nodes[b.Node].Pair
	delta := d.Delta(p)
	side := func(name string, c Counts, total int64) string {
		return "\n" + text(fmt.Sprintf("%s %s (%s, %s samples), self %s", name, d.quantity(c.Value), percent(ratio(c.Value, total)), unit.Count(c.Samples), d.quantity(c.Self)))
	}
	to = fmt.Appendf(to, "%s (%s)", s.label(b), d.points(p))
	to = append(to, side("base", p.Base, d.Base.Value)+side("other", p.Other, d.Other.Value)...)
	to = fmt.Appendf(to, "\nchange %s", text(signed(unit.Format(delta/float64(d.Scale), d.Unit), delta)))
	switch {
	case p.New():
		to = append(to, ", new"...)
	case p.Vanished():
		to = append(to, ", vanished"...)
	}
	if d.Noise(p) {
		to = append(to, ", may be chance"...)
	}
	return s.where(to, b)
}

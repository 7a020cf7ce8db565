package flame

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Styles of the picture, without the colours of its boxes. Paper is light.
const (
	svgStyle = `text{font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#111}.title{font-size:17px;text-anchor:middle}.note{fill:#444;text-anchor:middle}` +
		`.flame{background:#fff}.page{fill:#fff}.b rect{stroke:#fff;stroke-width:.6}.b{cursor:pointer}.b text{pointer-events:none}.b.above{opacity:.55}.b.hit rect{fill:#d6006c}.b.hit text{fill:#fff}` +
		`.b:focus{outline:none}.b:focus rect{stroke:#000;stroke-width:2}` +
		`.ui{box-sizing:border-box;padding:8px 10px 2px;font:13px/1.45 system-ui,"DejaVu Sans",sans-serif;color:#111;overflow-wrap:anywhere}.ui .name{font-size:17px}.ui p{margin:0}.ui .details{min-height:1.5em;font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}` +
		`.ui .bar{display:flex;flex-wrap:wrap;gap:6px;align-items:center;margin:4px 0}.ui input,.ui button{font:inherit}.ui input{max-width:100%}.ui .crumbs{display:flex;flex-wrap:wrap;gap:0 6px;margin:0;padding:0;list-style:none}` +
		`.ui .crumbs button{padding:0;border:0;background:none;color:#0b57a4;text-align:left;overflow-wrap:anywhere}.ui :focus-visible{outline:3px solid #0b57a4}.ui [aria-pressed=true]{font-weight:700}` +
		`@media print{.ui .bar,.ui .crumbs,.ui .details{display:none}}`
	svgDarkStyle = `text{fill:#eee}.note{fill:#bbb}.flame{background:#16181c}.page{fill:#16181c}.b rect{stroke:#16181c}.b:focus rect{stroke:#fff}.b.hit rect{fill:#ff5cae}.b.hit text{fill:#111}` +
		`.ui{color:#eee}.ui .crumbs button{color:#7ab8ff}.ui :focus-visible{outline-color:#ffd166}`
)

// styles writes what light and dark pages need; the script chooses between them by the medium of the second.
func (s *svg) styles() {
	var light, dark strings.Builder
	for _, c := range s.used() {
		fmt.Fprintf(&light, ".%s{fill:%s}", c, s.colours.fill(c, false))
		fmt.Fprintf(&dark, ".%s{fill:%s}", c, s.colours.fill(c, true))
		if c >= firstRule { // whose text has a colour of its own
			fmt.Fprintf(&light, ".b.%s text{fill:%s}", c, s.colours.text(c, false))
			fmt.Fprintf(&dark, ".b.%s text{fill:%s}", c, s.colours.text(c, true))
		}
	}
	s.printf("<style>%s%s</style>\n", svgStyle, light.String())
	s.printf("<style class=\"dark\" media=\"screen and (prefers-color-scheme: dark)\">%s%s</style>\n", svgDarkStyle, dark.String())
}

func (c class) String() string { return "c" + strconv.Itoa(int(c)) }

// class returns the colour of a box.
func (s *svg) class(b Box) class {
	if b.Frame != Smaller && s.layout.Diff != nil {
		return firstDiff + class(s.layout.Diff.verdict(&s.layout.Diff.Nodes[b.Node].Pair))
	}
	if b.Frame < 0 {
		return s.colours.of(Frame{Kind: Rest})
	}
	c := &s.classes[b.Frame]
	if *c < 0 {
		*c = s.colours.of(s.layout.Frames[b.Frame])
	}
	return *c
}

// used returns the colours that the picture has.
func (s *svg) used() []class {
	var classes []class
	for _, row := range s.layout.Rows {
		for _, b := range row {
			classes = append(classes, s.class(b))
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

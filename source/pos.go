package source

import (
	"fmt"
	"strings"

	"nettrace/unit"
)

// Pos is a place in an input; evidence and errors share it. Offsets count bytes of the decompressed content from 0,
// lines and records from 1; 0 in Line or Record means that the input has none.
type Pos struct {
	Source string `json:"source,omitempty"`
	Offset int64  `json:"offset"`
	Line   int    `json:"line"`
	Record int64  `json:"record"`
}

// String names the place as a person would look it up: "a.pcap: record 12 at byte 1,234", "netperf.txt:9", "x: byte 20".
func (p Pos) String() string {
	var b strings.Builder
	b.WriteString(p.Source)
	switch {
	case p.Line > 0:
		fmt.Fprintf(&b, ":%d", p.Line)
	case p.Record > 0:
		fmt.Fprintf(&b, ": record %s at byte %s", unit.Count(p.Record), unit.Count(p.Offset))
	default:
		fmt.Fprintf(&b, ": byte %s", unit.Count(p.Offset))
	}
	return b.String()
}

// SyntaxError is a place where an input is not what its format says. Msg states the fact, what was expected, and the
// next step where there is one, in lower case.
type SyntaxError struct {
	Pos Pos
	Msg string
}

func (e *SyntaxError) Error() string { return e.Pos.String() + ": " + e.Msg }

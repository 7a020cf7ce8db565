package tcp

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/source"
)

// Reset finds connections that were refused, or cut off.
func Reset() finding.On[*Capture] {
	return finding.On[*Capture]{
		Rule: finding.Rule{
			Name:   "tcp/reset",
			Title:  "connections are refused or cut off",
			Method: "Refused: the server answered a SYN with RST, and nothing else. Cut off: an RST came before either end had sent FIN. An RST behind a FIN is a common way to close and not counted. All ports of an address are judged together.",
			Params: []finding.Param{
				{Name: "warning-share", Default: 0.10, Unit: "ratio", Doc: "part of the connections that were cut off from which the finding is a warning; own choice. Below it, and where all were refused only, it is a notice"},
			},
			FalsePositives: "Some programs close with RST on purpose (SO_LINGER 0, health checks, benchmark tools); scanners reset what answers. A middlebox can forge an RST: its TTL and IP identification differ from those of the host.",
			References:     []string{"RFC 9293 section 3.5.2", "socket(7) SO_LINGER"},
		},
		Judge: perHost(byLoss, judgeReset),
	}
}

func judgeReset(s *trial) (f finding.Finding, ok bool) {
	o := &s.Openings
	if o.Refused+o.Aborted == 0 {
		return f, false
	}
	part := share(o.Aborted, s.Connections)
	f.Severity = finding.Notice
	if o.Aborted >= fewResets && part >= s.params["warning-share"] {
		f.Severity = finding.Warning
	}
	f.Confidence, f.Reasons = finding.High, []string{"RST packets were captured"}
	var parts []string
	if o.Refused > 0 {
		parts = append(parts, count(o.Refused, "connection")+" refused (RST to the SYN)")
	}
	if o.Aborted > 0 {
		parts = append(parts, count(o.Aborted, "connection")+" cut off by RST")
	}
	f.Summary = fmt.Sprintf("of %s: %s", count(s.Connections, "connection"), strings.Join(parts, ", "))
	f.Measures = []finding.Measure{
		{Name: "refused", Value: float64(o.Refused), Unit: "connections"},
		{Name: "aborted", Value: float64(o.Aborted), Unit: "connections"},
		{Name: "aborted_share", Value: part, Unit: "ratio", Threshold: finding.Threshold(s.params["warning-share"])},
	}
	f.Evidence = s.examples(func(k *Connection) (source.Pos, string) { return resetText(k, s.capture.At(k.Record, 0).Record) })
	f.Advice = []finding.Advice{
		{Text: "refused: nobody listens on that port (ss -ltn), or a firewall rejects; cut off: look into the log of the side that sent the RST, and whether it closed with unread data or SO_LINGER 0", Reference: "ss(8), socket(7)"},
		s.show("tcp.flags.reset == 1"),
	}
	return f, true
}

// fewResets is how many connections must be cut off to be a habit; own choice.
const fewResets = 4

// resetText explains a reset. first is the number of the connection's first packet in its file.
func resetText(k *Connection, first int64) (source.Pos, string) {
	pos := source.Pos{Offset: k.ResetOffset, Record: k.ResetRecord}
	switch {
	case k.Opening.Refused > 0:
		return pos, fmt.Sprintf("RST to the SYN of #%d", first)
	case k.Opening.Aborted > 0:
		d := &k.Directions
		return pos, fmt.Sprintf("RST after %d bytes out and %d in", d[ClientToServer].Bytes, d[ServerToClient].Bytes)
	}
	return pos, ""
}

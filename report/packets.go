package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nettrace/analyze"
	"nettrace/unit"
)

// JSONLines returns a function that writes each record as a line of JSON.
func JSONLines(w io.Writer) func(any) error {
	e := json.NewEncoder(Plain(w))
	e.SetEscapeHTML(false)
	return func(record any) error { return e.Encode(record) }
}

// Packets returns what prints packets in the named form, text or ndjson, one a line. Verbose text tells the IP header too.
func Packets(w io.Writer, form string, verbose bool, style Style) (func(*analyze.PacketRecord) error, bool) {
	switch form {
	case "ndjson":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return func(r *analyze.PacketRecord) error { return e.Encode(r) }, true
	case "text":
		p := &page{w: w, style: style}
		return func(r *analyze.PacketRecord) error { return p.packet(r, verbose) }, true
	default:
		return nil, false
	}
}

// packet prints "#6  0.000123  1  192.0.2.1:40000 > 198.51.100.2:5001  P.  seq 1 ack 1 win 502 len 4345  4 on the wire  [tail-hidden]".
func (p *page) packet(r *analyze.PacketRecord, verbose bool) error {
	if p.err != nil {
		return p.err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-7s %12.6f ", fmt.Sprintf("#%d", r.Record), r.Time.Seconds())
	if r.Conn > 0 {
		fmt.Fprintf(&b, "%3d ", r.Conn)
	} else {
		b.WriteString("    ")
	}
	switch r.Proto {
	case "tcp":
		fmt.Fprintf(&b, "%s > %s %-3s seq %d ack %d win %d len %d", r.Src, r.Dst, r.Header, r.Seq, r.Ack, r.Window, r.Payload)
	case "udp":
		fmt.Fprintf(&b, "%s > %s udp len %d", r.Src, r.Dst, r.Payload)
	case "other":
		fmt.Fprintf(&b, "not IP, %s", unit.Bytes(int64(r.Length)))
	default:
		fmt.Fprintf(&b, "%s > %s %s, %s", r.Src, r.Dst, r.Proto, unit.Bytes(int64(r.Length)))
	}
	if verbose && r.TTL > 0 {
		fmt.Fprintf(&b, ", ttl %d", r.TTL)
	}
	if verbose && r.ID >= 0 {
		fmt.Fprintf(&b, ", id 0x%04x", r.ID)
	}
	if r.Data != "" {
		b.WriteString(", data " + r.Data)
	}
	if r.WirePackets > 1 {
		fmt.Fprintf(&b, ", %d on the wire", r.WirePackets)
	}
	p.print(b.String())
	if len(r.Flags) > 0 {
		p.print("  " + p.paint(yellow, "["+strings.Join(r.Flags, " ")+"]"))
	}
	p.print("\n")
	return p.err
}

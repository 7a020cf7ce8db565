package diagnose

import (
	"nettrace/finding"
	"nettrace/tcp"
)

// piece is one kind of evidence for a diagnosis, with the findings that it comes from.
type piece struct {
	evidence []finding.Evidence
	findings []string
}

func (p *piece) found() bool { return len(p.evidence) > 0 }

// capturedPackets looks for requests of the larger size, or with the same rest, that leave as full segments and a packet
// of their own.
func capturedPackets(l *links, c *cliff) piece {
	var p piece
	r := l.result
	servers := map[string]bool{}
	for _, capture := range r.Models.Captures {
		for i := range capture.Connections {
			x := &capture.Connections[i]
			if !alike(x, c) || !l.tie(&clue{Subject: finding.Subject{Kind: "connection", Key: x.Key(), Name: x.Name()}, Evidence: []finding.Evidence{finding.At(capture.At(x.Record, x.Offset), "%s", x.Name())}}) {
				continue
			}
			servers[capture.Source+" "+x.Key()] = true
			if len(p.evidence) < 2 {
				p.evidence = append(p.evidence, finding.At(capture.At(x.Record, x.Offset), "%s: requests of %d bytes take %d packets, answered by %d",
					x.Name(), x.Exchanges.Usual.RequestBytes, x.Exchanges.Usual.RequestPackets, x.Exchanges.Usual.ServerPackets))
			}
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if (f.Rule == "tcp/tso-split" || f.Rule == "tcp/just-over-mss") && servers[f.Source+" "+f.Subject.Key] {
			p.findings = append(p.findings, f.ID)
			if len(f.Evidence) > 0 && len(p.evidence) < 5 {
				p.evidence = append(p.evidence, f.Evidence[:min(2, len(f.Evidence))]...)
			}
		}
	}
	return p
}

// alike reports whether a connection exchanges requests as long as those behind the cliff, in packets and in rest.
func alike(x *tcp.Connection, c *cliff) bool {
	usual := &x.Exchanges.Usual
	mss := int64(x.Directions[0].EffectiveMSS)
	if x.Exchanges.Count == 0 || mss == 0 || usual.RequestBytes <= mss {
		return false
	}
	return usual.RequestBytes/mss == c.full && usual.RequestBytes%mss == c.rest && int64(usual.RequestPackets) == c.full+1
}

// countedRatio takes what the interface's counters say of packets received and sent.
func countedRatio(l *links) piece {
	var p piece
	for i := range l.result.Findings {
		f := &l.result.Findings[i]
		if f.Rule != "nic/adaptive-unbalanced" && f.Rule != "nic/moderation-latency" || !l.tie(f) {
			continue
		}
		p.findings = append(p.findings, f.ID)
		if f.Rule == "nic/adaptive-unbalanced" {
			p.evidence = append(p.evidence, f.Evidence[:min(4, len(f.Evidence))]...)
		}
	}
	return p
}

// flapping returns the findings of rates that jump with the smaller size, if that is exactly on the driver's threshold.
func flapping(l *links, c *cliff) []string {
	if 2*c.full != 3*2 {
		return nil
	}
	var ids []string
	for i := range l.result.Findings {
		f := &l.result.Findings[i]
		if size, ok := f.Measure("size"); l.tie(f) && f.Severity > finding.Info && (f.Rule == "bench/noisy" || f.Rule == "nic/adaptive-flapping") && ok && int64(size) == c.sizes[0] {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// missing says which pieces were not recorded, and how to get them.
func missing(packets, counters piece) []string {
	var list []string
	if !packets.found() {
		list = append(list, "no capture shows the packets of such a request; they are computed from its size (tcpdump -s 128 on the sender and the receiver)")
	}
	if !counters.found() {
		list = append(list, "no counters show the ratio of packets received and sent; it is computed from the size (ethtool -S before and after a run)")
	}
	return list
}

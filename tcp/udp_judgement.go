package tcp

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"nettrace/finding"
	"nettrace/source"
)

// flowTrial is the UDP flows to one address before a rule.
type flowTrial struct {
	capture *Capture
	params  finding.Params
	flows   []*Flow
}

// perFlowHost judges the UDP flows of a capture, those to one server address together, since media streams have ports of
// their own for each call.
func perFlowHost(judge func(*flowTrial) (finding.Finding, bool)) func(*Capture, finding.Params) []finding.Finding {
	return func(c *Capture, p finding.Params) []finding.Finding {
		byHost := map[netip.Addr][]*Flow{}
		var hosts []netip.Addr
		for i := range c.Flows {
			f := &c.Flows[i]
			if byHost[f.Server.Addr()] == nil {
				hosts = append(hosts, f.Server.Addr())
			}
			byHost[f.Server.Addr()] = append(byHost[f.Server.Addr()], f)
		}
		slices.SortFunc(hosts, netip.Addr.Compare)
		var found []finding.Finding
		for _, host := range hosts {
			t := flowTrial{c, p, byHost[host]}
			if f, ok := judge(&t); ok {
				f.Source = c.Source
				found = append(found, t.finish(f))
			}
		}
		return found
	}
}

// finish fills in what all findings on flows have.
func (t *flowTrial) finish(f finding.Finding) finding.Finding {
	first := t.flows[0]
	f.Subject = finding.Subject{Kind: "flow", Key: first.Key(), Name: first.Name()}
	if len(t.flows) > 1 {
		f.Subject = finding.Subject{Kind: "server", Key: "udp/" + first.Server.Addr().String(), Name: fmt.Sprintf("%d UDP flows to %s", len(t.flows), first.Server.Addr())}
	}
	f.Start, f.End = first.Start, first.End
	for _, flow := range t.flows {
		f.Start, f.End = min(f.Start, flow.Start), max(f.End, flow.End)
	}
	if n := t.capture.Picture.Copies.Count; n > 0 {
		f.Caveats = append(f.Caveats, fmt.Sprintf("the capture holds %s more than once (capture/duplicates); they were set aside", count(n, "packet")))
	}
	if n := t.capture.Dropped(); n > 0 {
		f.Caveats = append(f.Caveats, fmt.Sprintf("the capture says that it dropped %s (capture/loss): they lack here though the network delivered them", count(n, "packet")))
	}
	slices.SortStableFunc(f.Evidence, func(a, b finding.Evidence) int { return cmp.Compare(a.Record, b.Record) })
	t.capture.locate(f.Evidence)
	return f
}

// at is evidence of one packet of a flow.
func (t *flowTrial) at(f *Flow, s Sight, format string, args ...any) finding.Evidence {
	text := fmt.Sprintf(format, args...)
	if len(t.flows) > 1 {
		text = f.Name() + ": " + text
	}
	return finding.At(source.Pos{Source: t.capture.Source, Record: s.Record, Offset: s.Offset}, "%s", text)
}

// handful picks examples that do not depend on the order of summing: the worst, and those with the smallest hashes.
func handful(list []finding.Evidence, worst func(a, b finding.Evidence) int) []finding.Evidence {
	const most = 5
	slices.SortFunc(list, worst)
	if len(list) > most {
		slices.SortFunc(list[1:], func(a, b finding.Evidence) int {
			return cmp.Or(cmp.Compare(mix(uint64(a.Record), 1), mix(uint64(b.Record), 1)), cmp.Compare(a.Record, b.Record))
		})
		list = list[:most]
	}
	return list
}

// show is the advice to look at the flows' packets in Wireshark.
func (t *flowTrial) show(filter string) finding.Advice {
	server := t.flows[0].Server
	family, port := "ip", ""
	if server.Addr().Is6() {
		family = "ipv6"
	}
	if len(t.flows) == 1 {
		port = fmt.Sprintf(" && udp.port == %d && udp.port == %d", server.Port(), t.flows[0].Client.Port())
	}
	if filter != "" {
		filter = " && (" + filter + ")"
	}
	return finding.Advice{Text: fmt.Sprintf("to see them in Wireshark: %s.addr == %s && udp%s%s", family, server.Addr(), port, filter), Reference: "wireshark-filter(4)"}
}

package coalesce

import (
	"fmt"
	"strings"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// OffloadOff finds offloads that are switched off and could be on, under traffic that they would make cheaper.
func OffloadOff() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:   "nic/offload-off",
			Title:  "an offload that the device has is off",
			Method: "Features of ethtool -k that are off and not fixed are set against the traffic of their direction: without segmentation or receive offload each packet goes through the whole stack. Without a high packet rate it is no finding.",
			Params: []finding.Param{
				{Name: "rate", Default: 50000, Unit: "packets/s", Doc: "of the direction: at about 1 us a packet through the stack 5 % of a CPU. Turning TSO and GSO off cost 42 % of the throughput of one flow over veth (iperf3 runs of the samples, 9,700 to 5,668 Mb/s)"},
				{Name: "warning-rate", Default: 200000, Unit: "packets/s", Doc: "of the direction, for a warning: a fifth of a CPU"},
			},
			FalsePositives: "Routers and bridges may have to switch receive offload (LRO, not GRO) off; captures on the host are easier to read without. Small datagrams and request/response traffic gain nothing from segmentation or receive offload. Forwarded traffic does not use the sender's offloads.",
			References:     []string{"Linux Documentation/networking/segmentation-offloads.rst", "ethtool(8), -K"},
		},
		Judge: judgeOffloadOff,
	}
}

type offload struct {
	feature, short string
	direction      kernel.Direction
}

// offloads are the features whose lack costs most, in the names of ethtool -k, with those of -K.
func offloads() []offload {
	return []offload{
		{"tcp-segmentation-offload", "tso", kernel.TX}, {"generic-segmentation-offload", "gso", kernel.TX}, {"tx-checksumming", "tx", kernel.TX}, {"scatter-gather", "sg", kernel.TX},
		{"generic-receive-offload", "gro", kernel.RX}, {"rx-checksumming", "rx", kernel.RX},
	}
}

func judgeOffloadOff(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		t, known := i.Traffic()
		if !known {
			continue
		}
		for _, d := range []kernel.Direction{kernel.TX, kernel.RX} {
			if f, ok := i.offloadOff(h, t, d, p); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

func (i *Interface) offloadOff(h *Host, t Traffic, d kernel.Direction, p finding.Params) (f finding.Finding, ok bool) {
	rate, of, bytes := t.RXRate(), t.RX, t.RXBytes
	verb := "receives"
	if d == kernel.TX {
		rate, of, bytes, verb = t.TXRate(), t.TX, t.TXBytes, "sends"
	}
	var names, switches []string
	for _, o := range offloads() {
		s, known := i.Setting("ethtool-k", o.feature)
		if o.direction == d && known && s.Value.State == Off && !s.Fixed {
			names, switches = append(names, o.feature), append(switches, o.short+" on")
			f.Evidence = append(f.Evidence, i.settingEvidence("ethtool-k", o.feature)...)
		}
	}
	packets, _ := sum(of)
	size, _ := sum(bytes)
	mean := float64(size) / float64(max(1, packets))
	const small = 500 // bytes: packets that no offload merges
	if len(names) == 0 || rate < p["rate"] || size > 0 && mean < small {
		return f, false
	}
	f.Subject = h.subject("interface", i.Name)
	f.Severity = finding.Notice
	if rate >= p["warning-rate"] {
		f.Severity = finding.Warning
	}
	f.Confidence, f.Reasons, f.Caveats = t.Series.trust()
	f.Confidence = min(f.Confidence, finding.Medium)
	f.End = t.Series.Span()
	f.Summary = fmt.Sprintf("%s %s %s packets/s and %s %s off, though the device can have it", i.Name, verb, unit.Number(rate), strings.Join(names, ", "), map[bool]string{true: "are", false: "is"}[len(names) > 1])
	f.Measures = []finding.Measure{{Name: "packets_per_second", Value: rate, Unit: "packets/s", Threshold: finding.Threshold(p["rate"])}}
	if size > 0 {
		f.Measures = append(f.Measures, finding.Measure{Name: "bytes_per_packet", Value: mean, Unit: "bytes"})
	}
	f.Evidence = append(f.Evidence, ends(of[0].Name, of[0].Change)...)
	f.Advice = []finding.Advice{{Text: fmt.Sprintf("ethtool -K %s %s, and measure again", i.Name, strings.Join(switches, " ")), Reference: "Linux Documentation/networking/segmentation-offloads.rst"}}
	f.Caveats = append(f.Caveats, "whether the traffic is bulk TCP, which gains most, cannot be seen from the interface's counters")
	return f, true
}

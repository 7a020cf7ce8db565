package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// PCIeLimit finds slots that are slower than the NIC's traffic or its wire.
func PCIeLimit() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "nic/pcie-limit",
			Title: "the slot gives the NIC less than its traffic or its wire needs",
			Method: "lspci -vv tells the link's speed and width; what it carries is speed times lanes, less the coding of the line (8 of 10 bits up to 5 GT/s, 128 of 130 above) and the header of each packet on the bus (24 bytes for MaxPayload bytes of data). " +
				"That bound is set against the observed bytes of the busier direction with a descriptor for each packet, and against the speed of the wire (ethtool). A link below what the device can is named. Sending reads memory by requests of MaxReadReq bytes; small ones are named where the bound is near.",
			Params: []finding.Param{
				{Name: "share", Default: 0.8, Unit: "ratio", Doc: "of the bound that is in use, for a warning; above it queues build up in the NIC"},
				{Name: "wire-share", Default: 1, Unit: "ratio", Doc: "of the wire's speed that the bound has to reach, for a notice"},
				{Name: "header", Default: 24, Unit: "B", Doc: "for each packet on the bus: header of 16, sequence number, checksum and framing 8 (PCI Express base specification 3.0, 2.2 and 3.5)"},
				{Name: "descriptor", Default: 32, Unit: "B", Doc: "for each network packet: a descriptor read and one written back"},
			},
			FalsePositives: "A device with several ports shares its link; a switch above it may be the narrower part. Devices that are idle drop to a lower speed by themselves (ASPM, GPU-like devices): see it under load.",
			References:     []string{"lspci(8), -vv LnkCap, LnkSta", "PCI Express base specification", "Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM 2018"},
		},
		Judge: func(h *Host, p finding.Params) []finding.Finding {
			var found []finding.Finding
			for _, i := range h.Interfaces {
				if d := h.Device(i); d != nil {
					if f, ok := i.pcie(h, d, p); ok {
						found = append(found, f)
					}
				}
			}
			return found
		},
	}
}

// bound returns the bytes/s that the link carries one way.
func (d *PCIDevice) bound(header float64) float64 {
	coding := 0.8
	if d.Speed >= 8 {
		coding = 128.0 / 130
	}
	payload := float64(max(128, d.Payload)) // 128 is what all have
	return d.Speed * 1e9 / 8 * float64(d.Width) * coding * payload / (payload + header)
}

func (i *Interface) pcie(h *Host, d *PCIDevice, p finding.Params) (f finding.Finding, ok bool) {
	if d.Speed <= 0 || d.Width <= 0 {
		return f, false
	}
	bound := d.bound(p["header"])
	use, t, counted := i.busUse(p["descriptor"])
	wire := 0.0
	if s, known := i.Setting("ethtool", "speed"); known {
		mbits, _ := s.Value.Number()
		wire = float64(mbits) * 1e6 / 8
	}
	busy := counted && use >= p["share"]*bound
	narrow := wire > 0 && bound < p["wire-share"]*wire
	if !busy && !narrow {
		return f, false
	}
	f.Subject = h.subject("interface", i.Name)
	f.Severity, f.Confidence = finding.Notice, finding.Medium
	f.Reasons = []string{fmt.Sprintf("%g GT/s x%d with packets of %d bytes on the bus", d.Speed, d.Width, max(128, d.Payload))}
	f.Summary = fmt.Sprintf("the slot of %s (%g GT/s x%d) carries at most %s each way", i.Name, d.Speed, d.Width, gigabits(bound))
	if narrow {
		f.Summary += ", less than its wire of " + gigabits(wire)
		f.Measures = append(f.Measures, finding.Measure{Name: "wire_bytes_per_second", Value: wire, Unit: "B/s"})
		f.Evidence = append(f.Evidence, i.settingEvidence("ethtool", "speed")...)
	}
	if busy {
		f.Severity = finding.Warning
		f.Effect.Share = max(0, min(1, use/bound-p["share"]))
		f.End = t.Series.Span()
		f.Summary += fmt.Sprintf(", and %s of it are in use", unit.Percent(use/bound))
		f.Evidence = append(f.Evidence, ends(t.RXBytes[0].Name, t.RXBytes[0].Change)...)
	}
	f.Measures = append(f.Measures, finding.Measure{Name: "bound_bytes_per_second", Value: bound, Unit: "B/s"}, finding.Measure{Name: "used_share", Value: use / bound, Unit: "ratio", Threshold: finding.Threshold(p["share"])})
	f.Evidence = append(f.Evidence, finding.At(d.PosLink, "Speed %gGT/s, Width x%d", d.Speed, d.Width))
	if missed, lost := i.Loss(kernel.LossMissed); lost {
		f.Severity = finding.Warning
		f.Summary += fmt.Sprintf("; its packet buffer overflowed (%s +%s)", missed.Name, count(missed.Delta))
		f.Evidence = append(f.Evidence, finding.At(missed.Pos, "%s +%s", missed.Name, count(missed.Delta)))
	}
	f.Advice = d.advice(i)
	return f, true
}

// busUse returns the bytes/s of the busier direction with its descriptors.
func (i *Interface) busUse(descriptor float64) (use float64, t Traffic, ok bool) {
	t, ok = i.Traffic()
	if !ok || len(t.RXBytes) == 0 || len(t.TXBytes) == 0 {
		return 0, t, false
	}
	_, rx := sum(t.RXBytes)
	_, tx := sum(t.TXBytes)
	return max(rx+descriptor*t.RXRate(), tx+descriptor*t.TXRate()), t, true
}

func (d *PCIDevice) advice(i *Interface) []finding.Advice {
	var advice []finding.Advice
	if d.LinkMaxKnown && (d.Speed < d.SpeedMax || d.Width < d.WidthMax) {
		advice = append(advice, finding.Advice{Text: fmt.Sprintf("the device can do %g GT/s x%d: put it into a slot that has that, seat it anew, and see BIOS settings of the slot", d.SpeedMax, d.WidthMax), Reference: "lspci(8), LnkCap against LnkSta"})
	}
	if d.PayloadMax > d.Payload && d.Payload > 0 {
		advice = append(advice, finding.Advice{Text: fmt.Sprintf("MaxPayload is %d bytes, the device can do %d: boot with pci=pcie_bus_perf", d.Payload, d.PayloadMax), Reference: "Linux Documentation/admin-guide/kernel-parameters.txt, pcie_bus_perf"})
	}
	if d.ReadRequest > 0 && d.ReadRequest < 4096 {
		advice = append(advice, finding.Advice{Text: fmt.Sprintf("MaxReadReq is %d bytes, which bounds sending: setpci -s %s CAP_EXP+8.w=5000:7000 makes it 4096", d.ReadRequest, d.Address), Reference: "setpci(8); PCI Express device control register"})
	}
	if len(advice) == 0 {
		advice = append(advice, finding.Advice{Text: "the link is all that the device has: spread the traffic of " + i.Name + " over a second device", Reference: "lspci(8)"})
	}
	return advice
}

// gigabits prints bytes/s as a wire's speed.
func gigabits(bytesPerSecond float64) string { return unit.Number(8*bytesPerSecond/1e9) + " Gb/s" }

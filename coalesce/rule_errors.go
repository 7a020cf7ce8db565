package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
)

// LinkErrors finds frames that arrive damaged.
func LinkErrors() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:   "nic/errors",
			Title:  "frames arrive damaged",
			Method: "Counters of frames with a wrong checksum, length or alignment (rx_crc_errors and so on) are set against the packets received. A link in order has next to none.",
			Params: []finding.Param{
				{Name: "share", Default: 1e-6, Unit: "ratio", Doc: "damaged of the frames that came, for a notice: 80 times what a bit error ratio of 10^-12 (IEEE 802.3) makes of full frames (12,000 bits)"},
				{Name: "warning-share", Default: 1e-4, Unit: "ratio", Doc: "for a warning: at 10^-4 a TCP connection over 20 ms is held to about 7 Mb/s (Mathis et al. 1997)"},
				{Name: "least-lost", Default: 10, Unit: "packets", Doc: "fewer say nothing"},
			},
			FalsePositives: "Errors while the link came up, or a cable was plugged in, belong to no load. rx_frame of /proc/net/dev also holds frames that were too long for the interface: an MTU that differs between the ends.",
			References:     []string{"Linux include/uapi/linux/if_link.h", "IEEE 802.3, bit error ratio"},
		},
		Judge: func(h *Host, p finding.Params) []finding.Finding {
			return eachLoss(h, p, kernel.LossWire, func(i *Interface, l lost, f *finding.Finding) bool {
				f.Summary = fmt.Sprintf("%s receives damaged frames: %s, %s", i.Name, l.text(), l.counter)
				f.Advice = []finding.Advice{
					{Text: fmt.Sprintf("exchange cable and transceiver one after the other, clean the fibre; ethtool -m %s shows the received light", i.Name), Reference: "ethtool(8), -m"},
					{Text: fmt.Sprintf("see that both ends agree on speed, duplex and forward error correction: ethtool %s; ethtool --show-fec %s", i.Name, i.Name), Reference: "ethtool(8), --show-fec"}}
				if s, known := i.Setting("ethtool", "full-duplex"); known && s.Value.State == Off {
					f.Reasons = append(f.Reasons, "the link is half duplex, which the other end may not be")
					f.Evidence = append(f.Evidence, i.settingEvidence("ethtool", "full-duplex")...)
				}
				return float64(l.delta) >= p["least-lost"]
			})
		},
	}
}

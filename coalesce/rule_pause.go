package coalesce

import (
	"fmt"

	"nettrace/finding"
	"nettrace/kernel"
	"nettrace/unit"
)

// Pause finds links that are held up by pause frames.
func Pause() finding.On[*Host] {
	return finding.On[*Host]{
		Rule: finding.Rule{
			Name:  "nic/pause",
			Title: "pause frames hold up the link",
			Method: "The rate of pause frames that the interface received (the switch or the other end makes this host wait) and sent (this host cannot keep up) is taken from the driver's counters. " +
				"Each can stop the link for up to 65,535 times 512 bit times, so that rate and link speed give the largest share of time that it can have stood still.",
			Params: []finding.Param{
				{Name: "rate", Default: 1, Unit: "1/s", Doc: "frames in one direction, for a notice: a pause each second is congestion, not chance"},
				{Name: "warning-stopped", Default: 0.1, Unit: "ratio", Doc: "of time that the link can have stood still, for a warning; at 10 Gb/s 30 frames/s"},
			},
			FalsePositives: "The driver does not tell the length of a pause: an XON ends it early, so that the share is an upper bound. Lossless fabrics (PFC for RoCE) pause on purpose.",
			References:     []string{"IEEE 802.3 annex 31B", "ethtool(8), -a, -A"},
		},
		Judge: judgePause,
	}
}

// pauseQuanta is the longest pause in bit times.
const pauseQuanta = 65535 * 512

func judgePause(h *Host, p finding.Params) []finding.Finding {
	var found []finding.Finding
	for _, i := range h.Interfaces {
		for _, place := range []kernel.LossPlace{kernel.PauseReceived, kernel.PauseSent} {
			l, known := i.Loss(place)
			if !known || l.Rate < p["rate"] {
				continue
			}
			found = append(found, i.pause(h, l, p))
		}
	}
	return found
}

func (i *Interface) pause(h *Host, l InterfaceLoss, p finding.Params) finding.Finding {
	f := finding.Finding{Subject: h.subject("interface", i.Name), Severity: finding.Notice}
	f.Confidence, f.Reasons, f.Caveats = l.series.trust()
	f.End = l.series.Span()
	f.Measures = []finding.Measure{{Name: "pause_frames_per_second", Value: l.Rate, Unit: "1/s", Threshold: finding.Threshold(p["rate"])}}
	f.Evidence = ends(l.Name, l.change)
	alsoText(&f, l.Also)
	bound := ""
	speed, _ := i.Setting("ethtool", "speed")
	if mbps, known := speed.Value.Number(); known && mbps > 0 {
		stopped := min(1, l.Rate*pauseQuanta/(float64(mbps)*1e6))
		bound = fmt.Sprintf(", which can have stopped the link for up to %s of the time", unit.Percent(stopped))
		f.Measures = append(f.Measures, finding.Measure{Name: "stopped_share_at_most", Value: stopped, Unit: "ratio", Threshold: finding.Threshold(p["warning-stopped"])})
		f.Evidence = append(f.Evidence, i.settingEvidence("ethtool", "speed")...)
		f.Effect.Share = stopped
		if stopped >= p["warning-stopped"] {
			f.Severity = finding.Warning
		}
	} else {
		f.Caveats = append(f.Caveats, "the speed of the link is not recorded (ethtool "+i.Name+"), so that the time it can have stood still is not known")
	}
	f.Summary = fmt.Sprintf("%s received %s pause frames/s%s: the other end of its cable makes it wait", i.Name, unit.Number(l.Rate), bound)
	f.Advice = []finding.Advice{{Text: fmt.Sprintf("look for what is congested behind the switch port; where other flows suffer from it, turn pausing off: ethtool -A %s rx off", i.Name), Reference: "ethtool(8), -A"}}
	if l.Place == kernel.PauseSent {
		f.Summary = fmt.Sprintf("%s sent %s pause frames/s%s: this host cannot keep up", i.Name, unit.Number(l.Rate), bound)
		f.Advice = []finding.Advice{{Text: fmt.Sprintf("this host is the bottleneck: see nic/ring-overrun, softnet/one-cpu and irq/imbalance; ethtool -A %s tx off turns the pauses into losses that counters show", i.Name), Reference: "ethtool(8), -A"}}
	}
	return f
}

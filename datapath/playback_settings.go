package datapath

import (
	"fmt"
	"strconv"
	"strings"

	"nettrace/unit"
)

// playbackSetting is one thing that a playback can change.
type playbackSetting struct {
	key, values, doc string
	set              func(s *setup, e *endSetup, text string) bool
}

// playbackSettings is the table of what beside the card can be changed of a recording.
func playbackSettings() []playbackSetting {
	return []playbackSetting{
		{"nodelay", "on, off", "TCP_NODELAY: whether a small segment leaves while another is on its way", func(_ *setup, e *endSetup, v string) bool {
			e.noDelay, e.cuts = v == "on", nil
			return v == "on" || v == "off"
		}},
		{"cork", "on, off", "TCP_CORK around the writes of one turn", func(_ *setup, e *endSetup, v string) bool {
			e.cork, e.cuts = v == "on", nil
			return v == "on" || v == "off"
		}},
		{"tso", "on, off", "whether several segments leave the stack as one packet", func(_ *setup, e *endSetup, v string) bool {
			e.cuts = nil
			if v == "off" {
				e.maxSegs = 1
			}
			return v == "on" || v == "off"
		}},
		{"gso-max-segs", "1 to 65535 segments", "the most segments in one packet that leaves the stack", func(_ *setup, e *endSetup, v string) bool {
			n, err := strconv.ParseUint(v, 10, 16)
			e.maxSegs, e.cuts = n, nil
			return err == nil && n > 0
		}},
		{"gro", "on, off", "whether what comes together is merged before TCP", func(_ *setup, e *endSetup, v string) bool {
			e.merges = groOff
			if v == "on" {
				e.merges = groOn
			}
			return v == "on" || v == "off"
		}},
		{"delayed-ack", "0 to 500000 us", "how long an ACK waits for data to go with", func(_ *setup, e *endSetup, v string) bool {
			n, err := strconv.ParseUint(v, 10, 32)
			e.delayed = max(unit.Nanos(n)*unit.Microsecond, 1)
			return err == nil && n <= 500000
		}},
		{"initial-window", "1 to 1000 segments", "congestion window at the start", func(_ *setup, e *endSetup, v string) bool {
			n, err := strconv.ParseUint(v, 10, 16)
			e.window = n
			return err == nil && n >= 1 && n <= 1000
		}},
		{"growth", "bytes, acks", "what opens the congestion window: the bytes that are acknowledged, as Linux counts them since 3.18, or a segment for each ACK", func(_ *setup, e *endSetup, v string) bool {
			e.countsACKs = v == "acks"
			return v == "bytes" || v == "acks"
		}},
		{"receive-window", "1 to 1073741824 bytes", "the window that is offered throughout, in place of the recorded ones", func(s *setup, e *endSetup, v string) bool {
			n, err := strconv.ParseUint(v, 10, 32)
			e.offers = n
			s.ends[0].cuts, s.ends[1].cuts = nil, nil // what the recorded windows let leave together
			return err == nil && n >= 1 && n <= 1<<30
		}},
		{"round-trip", "1 to 10000000 us", "of the path, both ways", func(s *setup, _ *endSetup, v string) bool {
			n, err := strconv.ParseUint(v, 10, 32)
			far := 1 - s.side
			s.path.away = [2]unit.Nanos{}
			s.path.away[far] = unit.Nanos(n) * unit.Microsecond
			return err == nil && n >= 1 && n <= 10_000_000
		}},
		{"rate", "0 to 1000000 Mb/s", "of the path, both ways; 0 for no limit", func(s *setup, _ *endSetup, v string) bool {
			n, err := strconv.ParseFloat(v, 64)
			pico := int64(0)
			if n > 0 {
				pico = int64(8e6 / n)
			}
			s.path.picosPerByte = [2]int64{pico, pico}
			return err == nil && n >= 0 && n <= 1e6
		}},
	}
}

// PlaybackSettings returns what beside the card can be changed of a recording.
func PlaybackSettings() []Setting {
	var list []Setting
	for _, p := range playbackSettings() {
		list = append(list, Setting{Key: p.key, Values: p.values, Doc: p.doc})
	}
	return list
}

// with returns the setup with changes "KEY=VALUE,KEY=VALUE"; client. and server. before a key change one end.
func (s *setup) with(changes string) (*setup, error) {
	changed := *s
	for item := range strings.SplitSeq(changes, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(item), "=")
		if !found {
			return nil, fmt.Errorf("%q is no setting, expected KEY=VALUE; keys are %s", item, strings.Join(playbackKeys(), ", "))
		}
		if err := changed.set(key, value); err != nil {
			return nil, err
		}
	}
	return &changed, nil
}

func (s *setup) set(key, value string) error {
	name, ends := key, []int{0, 1}
	if rest, ok := strings.CutPrefix(key, clientPrefix); ok {
		name, ends = rest, ends[:1]
	} else if rest, ok := strings.CutPrefix(key, serverPrefix); ok {
		name, ends = rest, ends[1:]
	}
	for _, p := range playbackSettings() {
		if p.key != name {
			continue
		}
		for _, end := range ends {
			if !p.set(s, &s.ends[end], value) {
				return fmt.Errorf("%s: %q is not understood, expected %s", key, value, p.values)
			}
		}
		return nil
	}
	for _, p := range Settings() {
		if p.Key == name {
			return s.setNIC(p, key, value, ends)
		}
	}
	return fmt.Errorf("no setting is called %q; the nearest is %q", key, strings.TrimSuffix(key, name)+unit.Nearest(name, append(playbackKeys(), settingKeys()...)))
}

func (s *setup) setNIC(p Setting, key, value string, ends []int) error {
	for _, end := range ends {
		if s.ends[end].nic == nil {
			return fmt.Errorf("%s: the recording's card is part of its round trip; name one with --nic", key)
		}
		n := *s.ends[end].nic
		if !p.set(&n, value) {
			return fmt.Errorf("%s: %q is not understood, expected %s", key, value, p.Values)
		}
		s.ends[end].nic = &n
	}
	return nil
}

func playbackKeys() []string {
	var keys []string
	for _, p := range playbackSettings() {
		keys = append(keys, p.key)
	}
	return keys
}

// NICByName returns a card with its driver's usual settings: mlx4, mlx4-v3, tg3, fixed or another moderation policy.
func NICByName(name string) (*NIC, error) {
	n := Thread().Client
	if name != "mlx4" {
		n.Policy = name
	}
	if _, err := n.policy(); err != nil {
		return nil, err
	}
	return &n, nil
}

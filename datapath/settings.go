package datapath

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nettrace/coalesce"
	"nettrace/unit"
)

// Setting is one thing that --set changes.
type Setting struct {
	Key    string // ethtool's name where it has one
	Values string // what it takes
	Doc    string

	set  func(n *NIC, text string) bool
	text func(n NIC) string
}

// Settings returns what can be set, in the order of ethtool -c.
func Settings() []Setting {
	return []Setting{
		{"adaptive-rx", "on, off", "whether the policy adapts; off leaves rx-usecs in force",
			func(n *NIC, s string) bool { n.AdaptiveRX = s == "on"; return s == "on" || s == "off" },
			func(n NIC) string { return onOff(n.AdaptiveRX) }},
		number("rx-usecs", maxUsecs, "us", "longest wait of a received frame for its interrupt", func(n *NIC) *uint64 { return &n.RXUsecs }),
		number("rx-frames", maxFrames, "frames", "waiting frames that cause the interrupt at once, 0 for no limit", func(n *NIC) *uint64 { return &n.RXFrames }),
		number("rx-usecs-low", maxUsecs, "us", "what the policy sets at low packet rates", func(n *NIC) *uint64 { return &n.RXUsecsLow }),
		number("rx-usecs-high", maxUsecs, "us", "what the policy sets for bulk traffic", func(n *NIC) *uint64 { return &n.RXUsecsHigh }),
		number("pkt-rate-low", 1<<32-1, "packets/s", "rate below which rx-usecs-low holds", func(n *NIC) *uint64 { return &n.PktRateLow }),
		number("pkt-rate-high", 1<<32-1, "packets/s", "rate above which rx-usecs-high holds", func(n *NIC) *uint64 { return &n.PktRateHigh }),
		{"policy", strings.Join(coalesce.PolicyNames(), ", "), "the driver's rule: mlx4-v1 is the symmetric one, mlx4-v2 that of Linux 2.6.38",
			func(n *NIC, s string) bool { n.Policy = s; return slices.Contains(coalesce.PolicyNames(), s) },
			func(n NIC) string { return n.withDefaults().Policy }},
		{"counters", "wire, merged", "what the policy counts as received: frames on the wire, or what LRO makes of them",
			func(n *NIC, s string) bool {
				n.Counters = Counters(s)
				return n.Counters == Wire || n.Counters == Merged
			},
			func(n NIC) string { return string(n.withDefaults().Counters) }},
		{"hz", "1 to 10000 ticks/s", "the kernel's tick: 250 ms between samples become 250 ms and a tick",
			func(n *NIC, s string) bool {
				hz, err := strconv.Atoi(s)
				n.HZ = hz
				return err == nil && hz >= 1 && hz <= maxHZ
			},
			func(n NIC) string { return strconv.Itoa(n.withDefaults().HZ) }},
	}
}

// number is a setting that is a whole number from 0 to most.
func number(key string, most uint64, of, doc string, field func(*NIC) *uint64) Setting {
	return Setting{key, fmt.Sprintf("0 to %d %s", most, of), doc,
		func(n *NIC, s string) bool {
			v, err := strconv.ParseUint(s, 10, 64)
			*field(n) = v
			return err == nil && v <= most
		},
		func(n NIC) string { return strconv.FormatUint(*field(&n), 10) }}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Hosts that a key may begin with; without one it is for both.
const (
	clientPrefix = "client."
	serverPrefix = "server."
)

// Set changes one setting: "rx-usecs" on both hosts, "server.rx-usecs" on one.
func (c *Config) Set(key, value string) error {
	name, client, server := key, true, true
	if rest, ok := strings.CutPrefix(key, clientPrefix); ok {
		name, server = rest, false
	} else if rest, ok := strings.CutPrefix(key, serverPrefix); ok {
		name, client = rest, false
	}
	for _, s := range Settings() {
		if s.Key != name {
			continue
		}
		changed := *c
		if client && !s.set(&changed.Client, value) || server && !s.set(&changed.Server, value) {
			return fmt.Errorf("%s: %q is not understood, expected %s", key, value, s.Values)
		}
		*c = changed
		return nil
	}
	prefix := strings.TrimSuffix(key, name)
	return fmt.Errorf("no setting is called %q; the nearest is %q", key, prefix+unit.Nearest(name, settingKeys()))
}

// Apply changes the settings of a list "KEY=VALUE,KEY=VALUE" and leaves c as it was if one of them is wrong.
func (c *Config) Apply(list string) error {
	changed := *c
	for item := range strings.SplitSeq(list, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(item), "=")
		if !found {
			return fmt.Errorf("%q is no setting, expected KEY=VALUE; keys are %s", item, strings.Join(settingKeys(), ", "))
		}
		if err := changed.Set(key, value); err != nil {
			return err
		}
	}
	*c = changed
	return nil
}

// String lists all settings as Apply takes them; those in which the hosts differ stand once for each.
func (c Config) String() string {
	var list []string
	for _, s := range Settings() {
		client, server := s.text(c.Client), s.text(c.Server)
		if client == server {
			list = append(list, s.Key+"="+client)
		} else {
			list = append(list, clientPrefix+s.Key+"="+client, serverPrefix+s.Key+"="+server)
		}
	}
	return strings.Join(list, ",")
}

func settingKeys() []string {
	var keys []string
	for _, s := range Settings() {
		keys = append(keys, s.Key)
	}
	return keys
}

package datapath

import (
	"fmt"

	"nettrace/coalesce"
	"nettrace/unit"
)

// Counters says what a driver counts as a packet.
type Counters string

const (
	Wire   Counters = "wire"   // frames on the wire: received before LRO, sent after TSO; as drivers do
	Merged Counters = "merged" // received after LRO, which no driver does; it shows what the counts matter
)

// NIC are the receive settings of one host's card. The zero value has no moderation at all.
type NIC struct {
	coalesce.Moderation
	Policy   string   // name of the policy (coalesce.PolicyByName); "" is mlx4-v1
	Counters Counters // what the policy is given; "" is Wire
	HZ       int      // the kernel's ticks per second, which round up the time between samples; 0 is 100
}

// Config is what a simulation is of: two hosts with their settings, and the machines' times.
type Config struct {
	Client, Server NIC
	Constants      *Constants // nil: the frozen ones
}

// Thread returns the settings of the adaptive-rx thread (netdev, 2011-07) on both hosts: ethtool -c of mlx4_en 1.5.1.6.
func Thread() Config {
	n := NIC{Moderation: coalesce.Moderation{AdaptiveRX: true, RXUsecs: 16, RXFrames: 44, RXUsecsHigh: 128, PktRateLow: 400000, PktRateHigh: 450000}}
	return Config{Client: n, Server: n}
}

// maxUsecs and maxFrames are what the device's moderation holds: 16 bits.
const (
	maxUsecs  = 1<<16 - 1
	maxFrames = 1<<16 - 1
	maxHZ     = 10000
)

// Check reports the first setting that is out of its range.
func (c Config) Check() error {
	for _, host := range []struct {
		name string
		nic  NIC
	}{{"client", c.Client}, {"server", c.Server}} {
		if err := host.nic.check(); err != nil {
			return fmt.Errorf("%s: %w", host.name, err)
		}
	}
	return nil
}

func (n NIC) check() error {
	for _, u := range []struct {
		key        string
		value, max uint64
	}{{"rx-usecs", n.RXUsecs, maxUsecs}, {"rx-usecs-low", n.RXUsecsLow, maxUsecs}, {"rx-usecs-high", n.RXUsecsHigh, maxUsecs}, {"rx-frames", n.RXFrames, maxFrames}} {
		if u.value > u.max {
			return fmt.Errorf("%s is %d, the device holds at most %d", u.key, u.value, u.max)
		}
	}
	if n.HZ < 0 || n.HZ > maxHZ {
		return fmt.Errorf("hz is %d, expected 1 to %d", n.HZ, maxHZ)
	}
	if n.Counters != "" && n.Counters != Wire && n.Counters != Merged {
		return fmt.Errorf("counters are %q, expected wire or merged", n.Counters)
	}
	_, err := n.policy()
	return err
}

// withDefaults fills in what is not set.
func (n NIC) withDefaults() NIC {
	if n.Policy == "" {
		n.Policy = "mlx4-v1"
	}
	if n.Counters == "" {
		n.Counters = Wire
	}
	if n.HZ == 0 {
		n.HZ = 100
	}
	return n
}

func (n NIC) policy() (coalesce.Policy, error) {
	return coalesce.PolicyByName(n.withDefaults().Policy, n.Moderation)
}

// interval returns the time between samples of a policy: delayed work comes on a tick, and one tick later than asked. It
// is 0 if nothing is ever sampled.
func (n NIC) interval(p coalesce.Policy) unit.Nanos {
	if !n.AdaptiveRX || p.Interval() == 0 {
		return 0
	}
	return p.Interval() + unit.Second/unit.Nanos(n.withDefaults().HZ)
}

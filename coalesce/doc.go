// Package coalesce reads the settings and counters of network cards, interrupts and softirqs as ethtool and /proc print
// them, joins the outputs of one incident into hosts with their interfaces, settings and series, and judges how
// interrupts are moderated, spread and spent. The drivers' moderation policies are here as pure state machines, which
// rules evaluate on observed rates and the reference datapath runs.
//
// An importer turns one output into an Output; Join turns outputs into Hosts; rules judge Hosts.
package coalesce

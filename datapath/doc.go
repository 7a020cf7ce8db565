// Package datapath is a reference model of the network datapath of two hosts: a deterministic, seedable simulation that
// answers what another setting would do to a request/response exchange. An application writes; TSO cuts; a link carries;
// the receiving card holds completions back under interrupt moderation; a poll takes, merges and hands them to TCP, which
// acknowledges and wakes the reader. The moderation policies are those of package coalesce, the same code that its rules
// evaluate on observed counters.
//
// [Run] simulates once, [Seeds] over many seeds, [Published] on the published figures that the model was measured
// against. A [Config] is filled by ethtool's names ([Config.Set]), a [Workload] parsed from "rr:4345,1". The times that
// the parts take are [Constants], each with its source and uncertainty.
//
// What is left out: loss and everything that follows from it, congestion and receive windows, delayed ACKs (each message
// of an exchange is answered at once), Nagle, several queues or CPUs that compete, transmit completions, other traffic.
package datapath

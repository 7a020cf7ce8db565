// Package bench reads what people run to judge a change (netperf, iperf3, uperf, ministat, Go benchmarks, columns of
// repeated results) as runs; finds in them the size from which the rate falls off a cliff, the series that have no single
// rate, the number of streams from which more do not pay, and comparisons that are none; and compares sets of runs as
// ministat and benchstat do.
package bench

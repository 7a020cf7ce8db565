// Package bench reads what people run to judge a change (netperf logs, columns of repeated results) as runs, and finds
// in them the size from which the rate falls off a cliff and the series that have no single rate.
package bench

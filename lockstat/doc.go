// Package lockstat reads lock statistics (lockstat of FreeBSD, illumos and Solaris; /proc/lock_stat and perf lock of
// Linux) into one Table: for each lock how often and how long threads waited for it, from where, and how long it was
// held. The spin, block and hold tables of one lock are joined, rows of one caller are added up, loop iterations are
// never taken for time, and what a tool could not have measured is set apart. The rule Contention judges the table.
package lockstat

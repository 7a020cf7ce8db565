package coalesce

import "nettrace/source"

// /proc/softirqs: how often each softirq ran on each possible CPU since boot, unsigned 32 bit.
//
//	                    CPU0       CPU1
//	          HI:          0          0
//	      NET_RX:    8413560    8482991
//
// Written by Linux since 2.6.31 (fs/proc/softirqs.c). BLOCK_IOPOLL became IRQ_POLL in 4.5.

// SniffSoftirqs recognises /proc/softirqs by its header and its first row, HI.
func SniffSoftirqs(head []byte) source.Match { return sniffTable(head, "/proc/softirqs", true) }

// ReadSoftirqs reads /proc/softirqs.
func ReadSoftirqs(l *source.Lines, ledger *source.Ledger) (*Output, error) {
	return readTable(l, ledger, "proc-softirqs", "/proc/softirqs", func(*TableRow, []byte) {})
}

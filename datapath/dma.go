package datapath

import "fmt"

// DMAPolicy says how a driver maps buffers for its device. Where mapping goes through a table under one lock (an IOMMU, a
// hypervisor), each map and each unmap is a visit to that lock.
type DMAPolicy string

const (
	PerFragment DMAPolicy = "per-fragment" // each received fragment is mapped and unmapped
	PerPage     DMAPolicy = "per-page"     // whole pages are mapped, many fragments each: practically never
	Unmapped    DMAPolicy = "none"         // the device reaches all memory, or mapping takes no lock
)

// Sizes that decide how many fragments there are (mlx4_en of Linux 3.2: en_rx.c, en_tx.c, mlx4_en.h).
const (
	firstFragment = 512 // bytes of a received frame that the first fragment takes; the rest is a second one
	inlineLimit   = 104 // bytes of a frame that are sent inside the descriptor, without a mapping
	headerFrame   = 66  // bytes of headers
)

// receivePairs is the number of map and unmap pairs that receiving a frame with so many bytes of payload takes.
func (p DMAPolicy) receivePairs(payload int) int {
	switch {
	case p != PerFragment:
		return 0
	case payload+headerFrame <= firstFragment:
		return 1
	}
	return 2
}

// sendPairs is the number that one write takes: nothing for a frame that goes inline, one for a small linear buffer, two
// for headers and page. Sent pages are not the driver's to keep mapped, so that PerPage changes nothing.
func (p DMAPolicy) sendPairs(bytes int) int {
	switch {
	case p == Unmapped || bytes+headerFrame <= inlineLimit:
		return 0
	case bytes <= firstFragment:
		return 1
	}
	return 2
}

// ParseDMAPolicy reads a policy's name.
func ParseDMAPolicy(text string) (DMAPolicy, error) {
	switch p := DMAPolicy(text); p {
	case PerFragment, PerPage, Unmapped:
		return p, nil
	}
	return "", fmt.Errorf("%q is no DMA policy, expected %s, %s or %s", text, PerFragment, PerPage, Unmapped)
}

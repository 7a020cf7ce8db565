// Package kernel holds what nettrace knows of kernels, as tables: which functions wait for a lock, which only seem to,
// which are idle, copy, map for DMA or run softirqs; which locks are on the path of packets; how drivers name queues,
// counters and interrupt vectors. It knows nothing of formats and judges nothing. Every entry says where it comes from.
package kernel

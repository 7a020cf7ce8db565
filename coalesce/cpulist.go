package coalesce

import "bytes"

// Sets of CPUs as the kernel prints them (lib/bitmap.c): lists "0-3,8,10-14:2/4" and masks "00000003,ffffffff" in words
// of 32 bits, the highest first.

// maxCPU bounds the numbers of CPUs; the kernel's own limit is 8192.
const maxCPU = 1 << 14

// parseCPUList reads a list; an empty one has no CPU.
func parseCPUList(text []byte) (cpus []int, ok bool) {
	cpus = []int{}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "(null)" {
		return cpus, true
	}
	for part := range bytes.SplitSeq(text, []byte{','}) {
		part = bytes.TrimSpace(part)
		low, high, isRange := bytes.Cut(part, []byte{'-'})
		if !isRange {
			high = low
		}
		high, _, strided := bytes.Cut(high, []byte{':'})
		from, okLow := parseUint(low)
		to, okHigh := parseUint(high)
		if !okLow || !okHigh || from > to || to > maxCPU || strided {
			return nil, false
		}
		for n := from; n <= to; n++ {
			cpus = append(cpus, int(n))
		}
	}
	return cpus, len(cpus) <= maxCPU
}

// parseCPUMask reads a mask.
func parseCPUMask(text []byte) (cpus []int, ok bool) {
	cpus = []int{}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > maxCPU/3 {
		return nil, false
	}
	bit := 0
	for i := len(text) - 1; i >= 0; i-- {
		c := text[i]
		if c == ',' {
			continue
		}
		n := hexDigit(c)
		if n < 0 {
			return nil, false
		}
		for b := range 4 {
			if n&(1<<b) != 0 {
				cpus = append(cpus, bit+b)
			}
		}
		bit += 4
	}
	return cpus, true
}

// cpuRanges prints a set as a list: "0-3,8".
func cpuRanges(cpus []int) string {
	var b []byte
	for k := 0; k < len(cpus); {
		end := k
		for end+1 < len(cpus) && cpus[end+1] == cpus[end]+1 {
			end++
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(b, Num(uint64(cpus[k])).String()...)
		if end > k {
			b = append(append(b, '-'), Num(uint64(cpus[end])).String()...)
		}
		k = end + 1
	}
	return string(b)
}

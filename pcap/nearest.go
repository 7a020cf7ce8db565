package pcap

// nearest returns the word that a mistyped one most probably is: at most two edits away, and fewer than half its
// letters; "" if there is none.
func nearest(typed string, words []string) string {
	best, found := 3, ""
	for _, w := range words {
		if d := edits(typed, w); d < best && 2*d < len(w)+1 {
			best, found = d, w
		}
	}
	return found
}

// edits counts insertions, deletions, replacements and exchanges of neighbours (optimal string alignment).
func edits(a, b string) int {
	if len(a) > 20 {
		return len(a)
	}
	before, previous, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, previous[j]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous, row = previous, row, before
	}
	return previous[len(b)]
}

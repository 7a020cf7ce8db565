package pcap

import "nettrace/unit"

// nearest returns the word that a mistyped one most probably is: at most two edits away, and fewer than half its
// letters; "" if there is none.
func nearest(typed string, words []string) string {
	found := unit.Nearest(typed, words)
	if d := unit.Edits(typed, found); d > 2 || 2*d > len(found) {
		return ""
	}
	return found
}

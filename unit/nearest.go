package unit

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns the candidate that takes the fewest edits to become word, for errors about a name that is not known.
func Nearest(word string, candidates []string) string {
	if len(candidates) == 0 {
		return ""
	}
	return slices.MinFunc(candidates, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(word, a), distance(word, b)), strings.Compare(a, b))
	})
}

// distance is Levenshtein's, on bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

package unit

import (
	"cmp"
	"slices"
)

// Nearest returns the candidate that takes the fewest edits to become word, the first of several, for errors about a name
// that is not known.
func Nearest(word string, candidates []string) string {
	if len(candidates) == 0 {
		return ""
	}
	return slices.MinFunc(candidates, func(a, b string) int { return cmp.Compare(Edits(word, a), Edits(word, b)) })
}

// maxEdited bounds the words that are compared letter by letter: longer ones come from hostile inputs.
const maxEdited = 64

// Edits counts the insertions, deletions, replacements and exchanges of neighbours that turn a into b (optimal string
// alignment, on bytes).
func Edits(a, b string) int {
	if len(a) > maxEdited || len(b) > maxEdited {
		return max(len(a), len(b))
	}
	var rows [3][maxEdited + 1]int
	before, previous, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) {
		previous[j+1] = j + 1
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := previous[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(row[j-1]+1, previous[j]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, previous, row = previous, row, before
	}
	return previous[len(b)]
}

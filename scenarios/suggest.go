package scenarios

import "strings"

// nearest returns the candidate that word is a misspelling of, empty if none
// comes close: at most one edit for three letters, and never most of the word.
// Among equals the first wins.
func nearest(word string, candidates []string) string {
	const longest = 40 // no name is longer, and the distance costs its product
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if d := distance(word, c); d < least && d < len(c) {
			best, least = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions, substitutions and swaps of
// neighbours that make b of a (Damerau–Levenshtein, optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

package scenarios

import "strings"

// Nearest returns the name that is most similar to word, ignoring case, and "" if
// none is: the name with the fewest edits, at most one for each three letters of
// word and fewer than the letters of the name; otherwise the first name that
// contains word, if that has three letters or more. Of several equal names it
// returns the first.
func Nearest(word string, among []string) string {
	const longest = 40 // no name is longer, and distance takes time proportional to both lengths
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", 1+max(1, len(word)/3)
	for _, name := range among {
		if d := distance(word, strings.ToLower(name)); d < least && d < len(name) {
			best, least = name, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, name := range among {
		if strings.Contains(strings.ToLower(name), word) {
			return name
		}
	}
	return ""
}

// distance returns the number of insertions, deletions, substitutions and swaps of
// neighbours that turn a into b (Damerau–Levenshtein, optimal string alignment).
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

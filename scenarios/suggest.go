package scenarios

import "strings"

// Nearest returns the name that somebody who typed word most likely meant,
// whatever the case of its letters, and "" if none comes close: the one with
// the fewest edits, at most one for three letters and never most of the name;
// else one that has word in it, if that is three letters or more. Among equals
// the first wins.
func Nearest(word string, among []string) string {
	const longest = 40 // no name is longer, and the distance costs its product
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

package main

import "strings"

// nearest returns the name that somebody who typed word most likely meant, ""
// if none is close: a name that contains the word, or one that a third of the
// word's letters, at least two, turn into it.
func nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, least := "", max(2, len(word)/3)+1
	for _, name := range names {
		if d := distance(word, strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, name := range names {
		if strings.Contains(strings.ToLower(name), word) {
			return name
		}
	}
	return ""
}

// distance is how many letters must be added, removed, replaced or swapped
// with the next one to turn a into b (V. Levenshtein, 1966; F. Damerau, 1964).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			replace := d[i-1][j-1]
			if x[i-1] != y[j-1] {
				replace++
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, replace)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

package format

import "strings"

// Words splits text at the places where a line may break. It keeps together a
// number and its unit, 54.8 s, a p-value, p = 0.025, and a mark and its meaning,
// ★ winner.
func Words(text string) []string {
	fields := strings.Fields(text)
	words := fields[:0:0]
	for i, f := range fields {
		if i > 0 && joined(fields[i-1], f) {
			words[len(words)-1] += " " + f
			continue
		}
		words = append(words, f)
	}
	return words
}

// joined reports whether b must stay on the line of a.
func joined(a, b string) bool {
	switch strings.TrimRight(b, ".,;:)") {
	case "s", "min", "h", "%", "×":
		return digit(a[len(a)-1])
	case "=", "<":
		return strings.TrimLeft(a, "(") == "p"
	}
	switch a {
	case "=", "<":
		return digit(b[0])
	case "★", "✗", "→":
		return len(b) > 1
	}
	return false
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

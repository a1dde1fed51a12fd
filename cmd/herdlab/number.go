package main

import (
	"math"
	"strconv"
	"strings"
)

// humane writes v as people do: all digits left of the point in groups of
// three, and in total at least three significant ones; whole numbers as they
// are, and millions by their letter. Infinity is never, NaN a dash.
func humane(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0):
		return "never"
	case v < 0:
		return "−" + humane(-v)
	case v >= 999_999_500:
		return threeDigits(v/1e9) + " G"
	case v >= 999_999.5:
		return threeDigits(v/1e6) + " M"
	case v == math.Trunc(v):
		return grouped(v)
	case v >= 999.5:
		return grouped(math.Round(v))
	}
	return threeDigits(v)
}

// threeDigits writes v > 0 with three significant digits, or with all that are
// left of the point.
func threeDigits(v float64) string {
	switch {
	case v < 0.9995:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// grouped writes a whole number with a comma between groups of three digits.
func grouped(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// fixed writes v ≥ 0 with so many digits after the point, and groups of three
// before it.
func fixed(v float64, decimals int) string {
	digits := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, fraction, found := strings.Cut(digits, ".")
	n, _ := strconv.ParseFloat(whole, 64) // digits only
	if found {
		return grouped(n) + "." + fraction
	}
	return grouped(n)
}

// percent writes a share. What is not all is never shown as 100 %, and what is
// not nothing never as 0 %.
func percent(share float64) string {
	p := 100 * share
	switch {
	case math.IsNaN(share):
		return "–"
	case p == 0 || p == 100:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	case p > 0 && p < 0.1:
		return "<0.1 %"
	case p > 99.9 && p < 100:
		return ">99.9 %"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

// tightPercent writes a share of the seeds within a cell: whole, without a
// space, and as honest at its ends as percent.
func tightPercent(share float64) string {
	switch p := math.Round(100 * share); {
	case p == 0 && share > 0:
		return "<1%"
	case p == 100 && share < 1:
		return ">99%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

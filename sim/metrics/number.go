package metrics

import (
	"math"
	"strconv"
	"strings"
)

// places is how many decimals show three significant digits of x, and none
// where digits before the point are enough.
func places(x float64) int {
	x = math.Abs(x)
	switch {
	case x >= 99.95:
		return 0
	case x >= 9.995 || x == 0:
		return 1
	case x >= 0.9995:
		return 2
	}
	return min(9, 2-int(math.Floor(math.Log10(x))))
}

// grouped writes x with so many decimals and a comma between thousands.
func grouped(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimPrefix(whole, "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if len(whole) > 0 && whole[0] == '-' {
		digits = "-" + digits
	}
	if fraction != "" {
		return digits + "." + fraction
	}
	return digits
}

// number writes x with three significant digits or more.
func number(x float64) string { return grouped(x, places(x)) }

// count writes the mean of a count: whole numbers without decimals.
func count(x float64) string {
	if x == math.Trunc(x) {
		return grouped(x, 0)
	}
	return number(x)
}

// percentPlaces is how many decimals a share needs, so that one below 1 is not
// shown as 100 %.
func percentPlaces(share float64) int {
	if share == 0 || share == 1 {
		return 0
	}
	decimals := 1
	for decimals < 9 && math.Round(share*100*math.Pow10(decimals)) == 100*math.Pow10(decimals) {
		decimals++
	}
	return decimals
}

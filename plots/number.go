package plots

import (
	"math"
	"strconv"
	"strings"
)

// number writes v as the table and the verdict do, with three digits or more:
// 4.30, 39.8, 60, 1,086; and from a million on 1.09 M.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "undefined"
	case a >= 9.995e14:
		return strconv.FormatFloat(v, 'e', 1, 64)
	case a >= 999.5e9:
		return digits(v/1e12) + " T"
	case a >= 999.5e6:
		return digits(v/1e9) + " G"
	case a >= 999.5e3:
		return digits(v/1e6) + " M"
	default:
		return digits(v)
	}
}

// digits writes a whole number as it is and others with three digits.
func digits(v float64) string {
	a := math.Abs(v)
	places := 0
	switch {
	case a >= 99.95 || v == math.Trunc(v):
	case a >= 9.995:
		places = 1
	case a >= 0.9995:
		places = 2
	default:
		places = min(9, 2-int(math.Floor(math.Log10(a))))
	}
	return thousands(strconv.FormatFloat(v, 'f', places, 64))
}

// trim drops zeros that say nothing after a decimal point.
func trim(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// thousands puts commas into the whole part of a number.
func thousands(s string) string {
	whole, fraction, point := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		return whole + "." + fraction
	}
	return whole
}

// multiple writes how many times the capacity a rate is.
func multiple(v float64) string { return number(v) + " ×" }

// exact writes a number that was set and not measured, without zeros at its
// end.
func exact(v float64) string { return trim(number(v)) }

// duration writes a time given in seconds, span one that was set.
func duration(s float64) string { return inUnits(s, number) }

func span(s float64) string { return inUnits(s, exact) }

func inUnits(s float64, write func(float64) string) string {
	switch a := math.Abs(s); {
	case a < 1000:
		return write(s) + " s"
	case a < 2*3600:
		return write(s/60) + " min"
	case a < 2*86400:
		return write(s/3600) + " h"
	default:
		return write(s/86400) + " d"
	}
}

// percent writes a share of 1 with as many decimals as it takes not to show
// 100 % where something is missing.
func percent(share float64) string {
	p := share * 100
	if p >= 100 || p < 99.95 {
		return number(p) + " %"
	}
	for places := 2; ; places++ {
		if s := strconv.FormatFloat(p, 'f', places, 64); s[0] == '9' || places == 9 {
			return s + " %"
		}
	}
}

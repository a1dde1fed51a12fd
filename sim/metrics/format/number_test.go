package format

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestNumbers(t *testing.T) {
	number := Number
	varying := func(v float64) string { return Mean(v, true) }
	fixed := func(decimals int) func(float64) string {
		return func(v float64) string { return Fixed(v, decimals) }
	}
	period := func(from float64) func(float64) string {
		return func(to float64) string { return Period(from, to) }
	}
	settling := func(v float64) string { return Settling(v, true) }
	for _, test := range []struct {
		write func(float64) string
		v     float64
		want  string
	}{
		{number, 0, "0"}, {number, 5, "5"}, {number, 60, "60"}, {number, 1086, "1,086"}, {number, 370860, "370,860"},
		{number, 2.85, "2.85"}, {number, 4.265, "4.26"}, {number, 9.994, "9.99"}, {number, 9.996, "10.0"},
		{number, 20.001, "20.0"}, {number, 56.16, "56.2"}, {number, 99.94, "99.9"}, {number, 99.96, "100"},
		{number, 272.951, "273"}, {number, 999.6, "1,000"}, {number, 1086.4, "1,086"},
		{number, 0.188, "0.188"}, {number, 0.05, "0.05"}, {number, 0.01234, "0.0123"}, {number, 0.9996, "1.00"}, {number, 1e-12, "1e-12"},
		{number, 999_999.4, "999,999"}, {number, 999_999.5, "1.00 M"}, {number, 1_234_567, "1.23 M"},
		{number, 2e9, "2.00 G"}, {number, 7.051e12, "7.05 T"}, {number, 1e18, "1e+18"},
		{number, -2.5, "−2.50"}, {number, -1234.5, "−1,234"}, {number, -3e7, "−30.0 M"}, {number, -0.25, "−0.25"}, {number, math.Copysign(0, -1), "0"},
		{number, math.NaN(), "–"}, {number, math.Inf(1), "never"},

		{varying, 0, "0"}, {varying, 31, "31.0"}, {varying, 4, "4.00"}, {varying, 273, "273"}, {varying, 0.5, "0.5"}, {varying, 2e6, "2.00 M"},

		{Set, 3, "3"}, {Set, 2.5, "2.5"}, {Set, 4.71, "4.71"}, {Set, 20, "20"}, {Set, 1e6, "1 M"}, {Set, 1e-12, "1e-12"}, {Set, 0.1, "0.1"},

		{fixed(0), 1086.5, "1,086"}, {fixed(2), 1234567.891, "1,234,567.89"}, {fixed(1), -0.04, "0.0"}, {fixed(1), -3.21, "−3.2"}, {fixed(3), 0.0625, "0.062"},

		{Percent, 1, "100 %"}, {Percent, 0, "0 %"}, {Percent, 0.634, "63.4 %"}, {Percent, 0.25, "25 %"}, {Percent, 0.29, "29 %"},
		{Percent, 0.992, "99.2 %"}, {Percent, 0.9996, "99.96 %"}, {Percent, 0.99997, "99.997 %"}, {Percent, 0.999999, ">99.999 %"},
		{Percent, 0.0004, "0.04 %"}, {Percent, 1e-9, "<0.001 %"}, {Percent, 1 - 1e-16, ">99.999 %"}, {Percent, 1e-16, "<0.001 %"},
		{Percent, math.NaN(), "–"},

		{Seconds, 0.5, "0.5 s"}, {Seconds, 3600, "3,600 s"}, {Seconds, math.Inf(1), "never"}, {Seconds, math.NaN(), "–"},
		{settling, 0, "at once"}, {settling, 0.05, "0.05 s"}, {settling, 31, "31.0 s"}, {settling, 0.001, "0.001 s"}, {settling, 1.04e-7, "104 ns"}, {settling, 2.5e-5, "25.0 µs"},

		{period(0), 300, "from 0 to 300 s"}, {period(0.5), 999, "from 0.5 to 999 s"}, {period(1500), 1620, "from 25:00 to 27:00 min"},
		{period(1500.5), 1620, "from 1,500.5 to 1,620 s"}, {period(3600), 7265, "from 1:00:00 to 2:01:05 h"}, {period(0), 1e15, "from 0 to 1e+15 s"},
		{period(0), 210.5, "from 0 to 210.5 s"}, {period(0), 5e-9, "from 0 to 5 ns"}, {period(0.001), 0.0025, "from 1 to 2.5 ms"},

		{Moment, 12.5, "12.5 s"}, {Moment, 200.7, "3:20"}, {Moment, 1500, "25:00"}, {Moment, 3900, "1:05:00"},
		{Width, 0.0626220703125, "62.6 ms"}, {Width, 1.0625, "1.0625 s"}, {Width, 1e-9, "1 ns"}, {Width, 1e-6, "1 µs"}, {Width, 1.5e-6, "1.5 µs"}, {Width, 1e-3, "1 ms"}, {Width, 0.02, "20 ms"},
		{Width, 0.5, "0.5 s"}, {Width, 1, "1 s"}, {Width, 90, "90 s"}, {Width, 600, "10 min"}, {Width, 7200, "2 h"},
	} {
		assert.Equal(t, test.want, test.write(test.v), "%v", test.v)
	}
	for p, want := range map[float64]string{2.0 / 64: "p = 0.031", 0.587: "p = 0.59", 2e-6: "p < 0.001", 1: "p = 1.0"} {
		assert.Equal(t, want, PValue(p))
	}
}

// A number is never off by more than half of its third digit.
func TestNumbersAreClose(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.Float64Range(1e-9, 999_999).Draw(rt, "v")
		for _, text := range []string{Number(v), Mean(v, true), Set(v)} {
			back, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
			if err != nil {
				rt.Fatal(err)
			}
			if math.Abs(back-v) > 0.0051*v {
				rt.Fatalf("%v is written as %s", v, text)
			}
		}
	})
}

// Only all is 100 %, and only nothing is 0 %.
func TestPercentIsHonest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		share := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-6), rapid.Float64Range(1-1e-6, 1)).Draw(rt, "share")
		if text := Percent(share); (text == "100 %") != (share == 1) || (text == "0 %") != (share == 0) {
			rt.Fatalf("%v is written as %s", share, text)
		}
	})
}

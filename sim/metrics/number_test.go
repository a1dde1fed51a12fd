package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0.0", 1: "1.00", 20.001: "20.0", 99.94: "99.9", 99.96: "100", 272.951: "273", 1086: "1,086", 370860.4: "370,860",
		0.5: "0.500", 0.01234: "0.0123", 0.9996: "1.00", 9.996: "10.0", 1234567: "1,234,567", -1234.5: "-1,234", 1e-12: "0.000000000",
	} {
		assert.Equal(t, want, number(x))
	}
	assert.Equal(t, "1,086", count(1086))
	assert.Equal(t, "60", count(60))
	assert.Equal(t, "39.9", count(39.93))
	for x, want := range map[float64]string{
		1: "100 %", 0: "0 %", 0.992: "99.2 %", 0.99997: "99.997 %", 0.9996: "99.96 %", 0.25: "25.0 %",
	} {
		assert.Equal(t, want, percent(x))
	}
	assert.Equal(t, "p = 0.031", pText(2.0/64))
	assert.Equal(t, "p = 0.59", pText(0.587))
	assert.Equal(t, "p < 0.001", pText(2e-6))
}

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// priced is a scenario with prices, a lesser model, and hedges.
const priced = `herdlab: 1
name: priced
title: A bill
horizon: 1h
fleet: {clients: 10, model: big, tokens: {input: 3000, output: 500}, traffic: {open: {rate: 5/s, until: 1m}}}
provider:
  models: {big: {price: {input: 2.5, output: 10}}, small: {price: {input: 0.15, output: 0.6}}}
  capacity: {slots: 20, service: {exponential: 5s}}
strategies:
  - full-jitter
  - {name: ladder, stack: [full-jitter, ladder: {rungs: [{model: big}, {model: small}]}]}
  - {name: hedged, stack: [full-jitter, hedge: {after: 8s}]}
`

// Optional metrics are shown if a strategy has them, and headings only if there are
// columns below them.
func TestWideShowsTheBill(t *testing.T) {
	inEmptyDir(t)
	write(t, "priced.yaml", priced)
	got := herdlab("compare", "priced.yaml", "--wide", "--no-pictures", "--seeds", "2")
	assert.Equal(t, exitOK, got.code)
	isPage(t, got.out)
	for _, word := range []string{"\nThe bill\n", "per answer", "\nAnswers of another kind\n", "hedges", "degraded"} {
		assert.Contains(t, got.out, word)
	}
	assert.NotContains(t, got.out, "from memory")
	plain := herdlab(with("--wide", "--no-pictures")...)
	assert.Equal(t, exitOK, plain.code)
	for _, word := range []string{"The bill", "of another kind", "Alarms"} {
		assert.False(t, strings.Contains(plain.out, word), word)
	}
}

package cli

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A strategy that makes no progress in time is left out and named; the others are shown.
func TestAStrategyThatFailsIsLeftOut(t *testing.T) {
	t.Parallel()
	const file = `herdlab: 1
name: spin
title: Refusals take no time
horizon: 10m
bin: 1s
fleet: {clients: 10, traffic: {one_shot: {within: 1ms}}}
provider: {capacity: {slots: 2, service: 2s}}
faults: [outage: {from: 0s, to: 60s}]
strategies: [naive, full-jitter, equal-jitter]
`
	got := herdlabIn(context.Background(), file, "compare", "-", "--seeds", "2", "--no-pictures")
	assert.Equal(t, exitInvalid, got.code)
	assert.Contains(t, got.err, `strategy "naive" with seed 1`)
	assert.Contains(t, got.err, "no progress in time")
	assert.Contains(t, got.out, "full-jitter")
	assert.Contains(t, got.out, "equal-jitter")
	assert.Contains(t, got.out, "a strategy failed")
	isPage(t, got.out)
}

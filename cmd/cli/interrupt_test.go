package cli

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
)

// endless has a strategy that ends at once and one that does not end.
const endless = `herdlab: 1
name: endless
title: One strategy is done at once and the other never
about: For interrupts.
horizon: 200h
bin: 60s
fleet: {clients: 60, traffic: {one_shot: {within: 1ms}}}
provider: {capacity: {slots: 6, queue: 0, service: 2s, full: 503}, refusal_time: 50ms}
faults: [outage: {from: 0s, to: 199h, reply: 503}]
strategies: [five-tries, naive]
`

func TestInterrupt(t *testing.T) {
	files := inEmptyDir(t)
	for _, asJSON := range []bool{false, true} {
		args := []string{"compare", "-", "--seeds", "1", "--out", "pictures"}
		if asJSON {
			args = append(args, "--json")
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		got := herdlabIn(ctx, endless, args...)
		cancel()
		assert.Equal(t, exitInterrupted, got.code)
		assert.Contains(t, got.err, "interrupted; 1 of 2 strategies are complete")
		assert.NotEmpty(t, files(), "pictures of what is complete")
		require.NoError(t, os.RemoveAll("pictures"))
		if asJSON {
			r, err := metrics.ReadResult(strings.NewReader(got.out))
			require.NoError(t, err)
			assert.False(t, r.Complete)
			require.Len(t, r.Results, 1)
			assert.Equal(t, "five-tries", r.Results[0].Strategy)
			continue
		}
		isPage(t, got.out)
		assert.Contains(t, got.out, "five-tries")
		assert.NotContains(t, got.out, "naive")
	}
}

func TestInterruptAtOnce(t *testing.T) {
	files := inEmptyDir(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := herdlabIn(ctx, "", quick...)
	assert.Equal(t, exitInterrupted, got.code)
	assert.Empty(t, got.out)
	assert.Contains(t, got.err, "interrupted; 0 of 4 strategies are complete")
	one := herdlabIn(ctx, "", "compare", "--only", "naive")
	assert.Contains(t, one.err, "interrupted; 0 of 1 strategies are complete")
	got = herdlabIn(ctx, "", with("--json")...)
	assert.Equal(t, exitInterrupted, got.code)
	r, err := metrics.ReadResult(strings.NewReader(got.out))
	require.NoError(t, err)
	assert.False(t, r.Complete)
	assert.Empty(t, r.Results)
	assert.Empty(t, files())
}

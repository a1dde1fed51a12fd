package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// waiter is a caller of a limiter: its arrival, and its patience; 0 is no limit.
type waiter struct{ at, patience time.Duration }

// admittedAt returns when each waiter of a rate limiter was admitted; −1 if it left before.
func admittedAt(t *testing.T, c *client, guests []waiter) []time.Duration {
	x := &trial{horizon: 10 * time.Hour, respond: func(attempt) (time.Duration, wire.Reply) { return ms, well.reply }}
	for _, g := range guests {
		x.arrivals, x.patiences = append(x.arrivals, g.at), append(x.patiences, g.patience)
	}
	in := slices.Repeat([]time.Duration{-1}, len(guests))
	for _, a := range x.run(t, c).requests {
		in[a.call] = a.at
	}
	return in
}

// limiter runs the preset of x/time/rate like the real code.
func limiter(t require.TestingT, seed uint64) *client {
	return &client{preset: "x-time-rate", dialects: []string{"openai"}, open: preset(t, "x-time-rate", "openai", seed)}
}

// For any arrivals and departures, the preset of x/time/rate admits the same waiters as
// the real one, at the same times.
func TestRateLimiter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var guests []waiter
		at := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(r, "guests") {
			// Odd nanoseconds avoid simultaneous events.
			at += time.Duration(rapid.SampledFrom([]int{0, 0, 0, 20, 50, 90, 400, 2000}).Draw(r, "gap ms"))*ms + 1003
			g := waiter{at: at}
			if rapid.IntRange(0, 2).Draw(r, "leaves") > 0 {
				g.patience = time.Duration(rapid.IntRange(0, 3000).Draw(r, "patience ms"))*ms + 17
			}
			guests = append(guests, g)
		}
		real, model := admittedAt(t, clientOf(t, "x-time-rate"), guests), admittedAt(t, limiter(r, 1), guests)
		for i := range guests {
			require.InDelta(r, float64(real[i]), float64(model[i]), float64(rounding), "guest %d of %v", i+1, guests)
		}
	})
}

// Case 7: two thousand waiters arrive at once and leave a second later, in order of
// arrival. The next is admitted 98.8 s after them, although nothing is sent; or after
// 27.3 s, if they leave in the other order.
func TestRateLimiterDebtAsPreset(t *testing.T) {
	for name, row := range map[string]struct {
		leaves func(i time.Duration) time.Duration // when waiter i leaves
		debt   float64
	}{
		"oldest first": {func(time.Duration) time.Duration { return time.Second }, 98.8},
		"newest first": {func(i time.Duration) time.Duration { return time.Second + 2*(2000-i)*time.Microsecond }, 27.3},
	} {
		t.Run(name, func(t *testing.T) {
			var guests []waiter
			for i := range time.Duration(2000) {
				guests = append(guests, waiter{i * time.Microsecond, row.leaves(i)})
			}
			guests = append(guests, waiter{1010 * ms, 0})
			real, model := admittedAt(t, clientOf(t, "x-time-rate"), guests), admittedAt(t, limiter(t, 1), guests)
			admitted := 0
			for i := range guests {
				require.InDelta(t, float64(real[i]), float64(model[i]), float64(rounding), "guest %d", i+1)
				if model[i] >= 0 {
					admitted++
				}
			}
			require.Equal(t, 25+1, admitted)
			require.InDelta(t, row.debt, (model[2000] - 1010*ms).Seconds(), 0.1)
		})
	}
}

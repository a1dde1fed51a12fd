package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// guest is a caller of a limiter: when it comes, and how long it waits; 0 for as
// long as it takes.
type guest struct{ at, patience time.Duration }

// letIn is when each guest of a rate limiter was let in; −1 if it left before.
func letIn(t *testing.T, c *client, guests []guest) []time.Duration {
	x := &exam{horizon: 10 * time.Hour, says: func(attempt) (time.Duration, wire.Reply) { return ms, well.reply }}
	for _, g := range guests {
		x.arrivals, x.patiences = append(x.arrivals, g.at), append(x.patiences, g.patience)
	}
	in := slices.Repeat([]time.Duration{-1}, len(guests))
	for _, a := range x.sit(t, c).sat {
		in[a.call] = a.at
	}
	return in
}

// limiter is the preset of x/time/rate in the place of the real code.
func limiter(t require.TestingT, seed uint64) *client {
	return &client{preset: "x-time-rate", dialects: []string{"openai"}, open: preset(t, "x-time-rate", "openai", seed)}
}

// Whoever comes and whoever leaves, the preset of x/time/rate lets in whom the
// real one does, when it does.
func TestRateLimiter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var guests []guest
		at := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(r, "guests") {
			// Odd nanoseconds, so that nothing falls together by chance.
			at += time.Duration(rapid.SampledFrom([]int{0, 0, 0, 20, 50, 90, 400, 2000}).Draw(r, "gap ms"))*ms + 1003
			g := guest{at: at}
			if rapid.IntRange(0, 2).Draw(r, "leaves") > 0 {
				g.patience = time.Duration(rapid.IntRange(0, 3000).Draw(r, "patience ms"))*ms + 17
			}
			guests = append(guests, g)
		}
		real, model := letIn(t, clientOf(t, "x-time-rate"), guests), letIn(t, limiter(r, 1), guests)
		for i := range guests {
			require.InDelta(r, float64(real[i]), float64(model[i]), float64(rounding), "guest %d of %v", i+1, guests)
		}
	})
}

// Case 7: two thousand come at once and have left a second later, the first to
// come first. The next is let in 98.8 s after them, though nothing is being sent;
// or 27.3 s, if they leave in the other order.
func TestRateLimiterInDebtAsItsPreset(t *testing.T) {
	for name, row := range map[string]struct {
		leaves func(i time.Duration) time.Duration // after how long
		debt   float64
	}{
		"oldest first": {func(time.Duration) time.Duration { return time.Second }, 98.8},
		"newest first": {func(i time.Duration) time.Duration { return time.Second + 2*(2000-i)*time.Microsecond }, 27.3},
	} {
		t.Run(name, func(t *testing.T) {
			var guests []guest
			for i := range time.Duration(2000) {
				guests = append(guests, guest{i * time.Microsecond, row.leaves(i)})
			}
			guests = append(guests, guest{1010 * ms, 0})
			real, model := letIn(t, clientOf(t, "x-time-rate"), guests), letIn(t, limiter(t, 1), guests)
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

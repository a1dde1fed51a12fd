package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// Real code and preset draw uniformly from the whole range that the preset states: of 400
// waits the shortest and the longest are within 5 % of its ends (0.95⁴⁰⁰ = 10⁻⁹), and the
// mean is within five standard errors of its middle.
func TestJitterRange(t *testing.T) {
	const n = 400
	for _, c := range clients {
		r := loop(ptr(definition(t, c.preset)))
		if r.Backoff == nil {
			continue
		}
		for class, refusal := range map[wire.Class]scriptedReply{wire.Rate: limited, wire.Overloaded: busy} {
			for whose, open := range map[string]func(seed uint64) func(http.RoundTripper) session{
				"real":   func(uint64) func(http.RoundTripper) session { return c.open },
				"preset": func(seed uint64) func(http.RoundTripper) session { return preset(t, c.preset, c.dialects[0], seed) },
			} {
				t.Run(c.preset+"/"+class.String()+"/"+whose, func(t *testing.T) {
					d := &script{dialect: c.dialects[0], replies: []scriptedReply{refusal, refusal, well}, pauses: []time.Duration{0}}
					var waits [2][]time.Duration
					for seed := range uint64(n) {
						d.run(t, open(seed+1)).waits(func(i int, w time.Duration) { waits[i-1] = append(waits[i-1], w) })
					}
					for i, all := range waits {
						require.Len(t, all, n)
						want := span(t, r.Backoff, class, i)
						width := float64(want.high - want.low)
						if width == 0 {
							continue
						}
						least, most, sum := 1.0, 0.0, 0.0
						for _, w := range all {
							x := float64(w-want.low) / width
							least, most, sum = min(least, x), max(most, x), sum+x
						}
						require.Less(t, least, 0.05, "wait %d", i+1)
						require.Greater(t, most, 0.95, "wait %d", i+1)
						require.InDelta(t, 0.5, sum/n, 5*0.2887/20, "wait %d", i+1)
					}
				})
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

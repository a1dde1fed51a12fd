package metrics

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// naiveRecovery applies the definition to the list of what happened, which lies in
// order of time: to the window that begins with the end of the fault, and to those
// that begin just after a change.
func naiveRecovery(all []happening, from, until, end time.Duration, p *Plan, byItself bool) float64 {
	width := max(10*time.Second, 2*p.Service)
	if byItself {
		end += 2 * width
	}
	begins := []time.Duration{from}
	for _, h := range all {
		begins = append(begins, h.at+1, h.at-width+1)
	}
	slices.Sort(begins)
	for _, t := range begins {
		first := t == from
		if t < from || t+width > min(end, until) && first || t+width-1 > min(end, until) {
			continue
		}
		var settled, useful, waiting float64
		open := map[time.Duration]int{}
		for _, h := range all {
			switch {
			case h.at >= t+width:
			case !h.settled:
				open[h.born]++
			default:
				open[h.born]--
				if h.at >= t {
					settled++
					if h.useful {
						useful++
					}
				}
			}
		}
		for born, n := range open {
			if born < t+width-p.Service {
				waiting += float64(n)
			}
		}
		possible := settled + waiting
		if p.Capacity > 0 {
			possible = min(possible, p.Capacity*width.Seconds())
		}
		if useful >= 0.95*possible {
			if !first {
				t--
			}
			return (t - from).Seconds()
		}
	}
	return Never
}

func TestRecoveryAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const horizon = 100 * time.Second
		p := Plan{
			Capacity: rapid.SampledFrom([]float64{0, 0.1, 0.5, 1, 3}).Draw(t, "capacity"),
			Service:  time.Duration(rapid.SampledFrom([]int{0, 1, 3, 7, 12}).Draw(t, "service")) * time.Second,
		}
		for range rapid.IntRange(0, 4).Draw(t, "faults") {
			from := rapid.IntRange(0, 95).Draw(t, "from")
			p.Faults = append(p.Faults, FaultSpan{
				From:    time.Duration(from) * time.Second,
				To:      time.Duration(from+rapid.SampledFrom([]int{1, 5, 30}).Draw(t, "length")) * time.Second,
				Refuses: rapid.Bool().Draw(t, "refuses"),
			})
		}
		all := drawHappenings(t, horizon)
		end, byItself := horizon, false
		if rapid.Bool().Draw(t, "by itself") {
			whole := slices.Clone(all)
			if all = slices.DeleteFunc(all, func(h happening) bool { return !isSettled(whole, h) }); len(all) > 0 {
				end, byItself = all[len(all)-1].at, true
			}
		}
		c := newRecoveryClock(&p)
		waiting := int64(0)
		for _, h := range all {
			if h.settled {
				c.over(h.at, h.born, h.useful, waiting)
				waiting--
			} else {
				c.begun(h.at, waiting)
				waiting++
			}
		}
		got := secondsOf(c.finish(end, byItself, waiting))

		want, missed := Undefined, false
		for _, f := range p.Faults {
			until, inside := time.Duration(1<<62), false
			for _, g := range p.Faults {
				inside = inside || g.Refuses && g.From <= f.To && f.To < g.To
				if g.Refuses && g.From > f.To {
					until = min(until, g.From)
				}
			}
			switch {
			case inside:
				continue
			case f.To >= end && !byItself: // the run does not reach it
				missed = true
				continue
			}
			one := naiveRecovery(all, f.To, until, max(end, f.To), &p, byItself)
			if !(want >= one) {
				want = one
			}
		}
		if want != want && missed {
			want = Never
		}
		if want != want {
			require.True(t, got != got, "%v", got)
			return
		}
		require.Equal(t, want, got)
	})
}

// isSettled reports whether as many calls that began with h are settled as began.
func isSettled(all []happening, h happening) bool {
	open := 0
	for _, x := range all {
		if x.born == h.born {
			if x.settled {
				open--
			} else {
				open++
			}
		}
	}
	return open == 0
}

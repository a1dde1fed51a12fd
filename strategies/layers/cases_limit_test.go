package layers_test

import (
	"fmt"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

// oneFindsOut is the law of case 15: a limit is blocked for five hours and tried every
// five minutes. Five tasks meet it 60 times between them and not 60 times each, so many
// times more at most, all of them finish, and not two at once.
func oneFindsOut(class wire.Class, more int, stack ...strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		const tasks, blocked, every = 5, 5 * time.Hour, 300 * time.Second
		l := strategytest.NewLab(t, append([]strategies.Layer{theSame()}, stack...)...)
		refused, finished := 0, 0
		var after []time.Duration
		l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) {
			if l.Now >= blocked {
				after = append(after, l.Now)
				return time.Millisecond, strategytest.Describing(wire.OK, 1, 0, time.Second)
			}
			refused++
			o := strategytest.Refused(class)
			if class == wire.TokenRate { // that of those who must be told
				o.Class, o.Limit, o.RetryAfter = wire.Rate, 1, every
			}
			return 0, o
		}
		l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
			if d.End.Reason == strategies.Succeeded {
				finished++
			}
		}
		for i := range tasks {
			l.At(time.Duration(i)*time.Millisecond, func() { l.Begin(fmt.Sprint(i), 0) })
		}
		l.Run(blocked + 3*time.Hour)
		switch {
		case refused > int(blocked/every)+more:
			return fmt.Errorf("%d refusals", refused)
		case finished != tasks:
			return fmt.Errorf("%d tasks finished", finished)
		}
		return wrong(strategytest.MostWithin(after, 900*time.Millisecond) > 2, "%d of them together afterwards", strategytest.MostWithin(after, 900*time.Millisecond))
	}
}

// oneLimitForAll is case 15.
func oneLimitForAll(t *testing.T) fieldCase {
	const every, fleet, ever = 300 * time.Second, strategies.PerFleet, 1 << 20
	c := fieldCase{
		name: "case-15", law: "one finds out for all that a limit lasts",
		about: append(ofKind(t, goesAgain), "Breaker", "HeaderLimit", "Merge", "SingleFlight"),
	}
	wait, at := backoffs.Fixed{Every: every}, layers.Rules{Classes: strategies.ClassesOf(wire.Rate)}
	together := layers.CoolDown{For: every, Pace: time.Second, Scope: fleet}
	retry, atOnce := layers.Retry{Backoff: wait}, layers.Retry{Backoff: backoffs.Fixed{}}
	for _, loop := range []strategies.Layer{
		retry,
		layers.Ladder{Rungs: []layers.Rung{{Tries: ever}}, On: at, Backoff: wait},
		layers.Failover{Regions: []uint8{0, 1}, On: at, Backoff: wait, Scope: fleet},
		layers.KeyRotation{Keys: []uint8{0, 1}, Backoff: wait, Scope: fleet},
		layers.Deployments{Targets: strategytest.Targets(2), MaxAttempts: ever, CoolDown: every, Scope: fleet},
		layers.Shrink{Output: 0.9, Times: ever, On: at, Backoff: wait},
		layers.RecursiveSemaphore{Permits: ever, Retry: retry, Scope: fleet},
		layers.Hedge{After: every, Scope: fleet},
	} {
		c.trials = append(c.trials,
			layer(loop, "by itself", oneFindsOut(wire.Rate, 0, loop)).but("each finds out for itself"),
			layer(loop, "around a cool-down", oneFindsOut(wire.Rate, 0, loop, together)))
	}
	open := layers.Breaker{Failures: 1, OpenFor: every, MinWait: time.Second, Jitter: time.Minute, Scope: fleet}
	charged := together
	charged.Charged = true
	c.trials = append(c.trials,
		layer(together, "", oneFindsOut(wire.Rate, 0, together)),
		layer(together, "charged", oneFindsOut(wire.Rate, 0, layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: 50}, charged)),
		layer(layers.WorkerQueue{}, "", oneFindsOut(wire.Rate, 0, layers.WorkerQueue{Rate: 1, Per: every, Scope: fleet})),
		layer(layers.ConstantRetrial{}, "", oneFindsOut(wire.Rate, 5+35, layers.ConstantRetrial{Mean: every, Scope: fleet})), // four standard deviations
		layer(layers.SingleFlight{}, "", oneFindsOut(wire.Rate, 0, layers.SingleFlight{Scope: fleet}, retry)),
		layer(layers.Merge{}, "", oneFindsOut(wire.Rate, 0, layers.Merge{Size: 5, Window: time.Second, Scope: fleet}, retry)),
		layer(open, "", oneFindsOut(wire.Rate, 0, atOnce, open)),
		layer(layers.HeaderLimit{}, "", oneFindsOut(wire.TokenRate, 0, atOnce, layers.HeaderLimit{Scope: fleet})))
	return c
}

package strategies

import (
	"fmt"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
)

// oneFindsOut is the law of case 15: a limit is blocked for five hours and tried every
// five minutes. Five tasks meet it 60 times between them and not 60 times each, so many
// times more at most, all of them finish, and not two at once.
func oneFindsOut(class wire.Class, more int, stack ...Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		const tasks, blocked, every = 5, 5 * time.Hour, 300 * time.Second
		l := NewLab(t, append([]Layer{theSame()}, stack...)...)
		refused, finished := 0, 0
		var after []time.Duration
		l.Serve = func(*Caller) (time.Duration, wire.Outcome) {
			if l.Now >= blocked {
				after = append(after, l.Now)
				return time.Millisecond, Describing(wire.OK, 1, 0, time.Second)
			}
			refused++
			o := Refused(class)
			if class == wire.TokenRate { // that of those who must be told
				o.Class, o.Limit, o.RetryAfter = wire.Rate, 1, every
			}
			return 0, o
		}
		l.Settled = func(_ *Caller, d Decision) {
			if d.End.Reason == Succeeded {
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
		return wrong(MostWithin(after, 900*time.Millisecond) > 2, "%d of them together afterwards", MostWithin(after, 900*time.Millisecond))
	}
}

// oneLimitForAll is case 15.
func oneLimitForAll(t *testing.T) fieldCase {
	const every, fleet, ever = 300 * time.Second, PerFleet, 1 << 20
	c := fieldCase{
		name: "case-15", law: "one finds out for all that a limit lasts",
		about: append(ofKind(t, goesAgain), "Breaker", "HeaderLimit", "Merge", "SingleFlight"),
	}
	wait, at := Fixed{Every: every}, Rules{Classes: ClassesOf(wire.Rate)}
	together := CoolDown{For: every, Pace: time.Second, Scope: fleet}
	retry, atOnce := Retry{Backoff: wait}, Retry{Backoff: Fixed{}}
	for _, loop := range []Layer{
		retry,
		Ladder{Rungs: []Rung{{Tries: ever}}, On: at, Backoff: wait},
		Failover{Regions: []uint8{0, 1}, On: at, Backoff: wait, Scope: fleet},
		KeyRotation{Keys: []uint8{0, 1}, Backoff: wait, Scope: fleet},
		Deployments{Targets: Targets(2), MaxAttempts: ever, CoolDown: every, Scope: fleet},
		Shrink{Output: 0.9, Times: ever, On: at, Backoff: wait},
		RecursiveSemaphore{Permits: ever, Retry: retry, Scope: fleet},
		Hedge{After: every, Scope: fleet},
	} {
		c.trials = append(c.trials,
			layer(loop, "by itself", oneFindsOut(wire.Rate, 0, loop)).but("each finds out for itself"),
			layer(loop, "around a cool-down", oneFindsOut(wire.Rate, 0, loop, together)))
	}
	open := Breaker{Failures: 1, OpenFor: every, MinWait: time.Second, Jitter: time.Minute, Scope: fleet}
	charged := together
	charged.Charged = true
	c.trials = append(c.trials,
		layer(together, "", oneFindsOut(wire.Rate, 0, together)),
		layer(together, "charged", oneFindsOut(wire.Rate, 0, Retry{Backoff: Fixed{}, MaxAttempts: 50}, charged)),
		layer(WorkerQueue{}, "", oneFindsOut(wire.Rate, 0, WorkerQueue{Rate: 1, Per: every, Scope: fleet})),
		layer(Orbit{}, "", oneFindsOut(wire.Rate, 5+35, Orbit{Mean: every, Scope: fleet})), // four standard deviations
		layer(SingleFlight{}, "", oneFindsOut(wire.Rate, 0, SingleFlight{Scope: fleet}, retry)),
		layer(Merge{}, "", oneFindsOut(wire.Rate, 0, Merge{Size: 5, Window: time.Second, Scope: fleet}, retry)),
		layer(open, "", oneFindsOut(wire.Rate, 0, atOnce, open)),
		layer(HeaderLimit{}, "", oneFindsOut(wire.TokenRate, 0, atOnce, HeaderLimit{Scope: fleet})))
	return c
}

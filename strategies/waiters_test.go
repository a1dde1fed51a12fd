package strategies

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// Case 7: two thousand callers ask in one moment and give up after a second,
// the oldest first. Whatever the limiter, those that gave up have cost nothing:
// the next caller is let in as if they had never been.
func TestCancelledWaitersCostNothing(t *testing.T) {
	const callers, patience = 2000, time.Second
	for name, c := range map[string]struct {
		layer Layer
		most  int           // let in within the first second
		next  time.Duration // the longest wait of the caller after them
	}{
		"token bucket":    {TokenBucket{Rate: 20, Per: time.Second, Burst: 5, Scope: PerFleet}, 5 + 20, 50 * time.Millisecond},
		"gcra":            {GCRA{Rate: 20, Per: time.Second, Burst: 5, Scope: PerFleet}, 5 + 20, 50 * time.Millisecond},
		"min interval":    {MinInterval{Every: 50 * time.Millisecond, Scope: PerFleet}, 1 + 20, 50 * time.Millisecond},
		"worker queue":    {WorkerQueue{Rate: 20, Per: time.Second, Scope: PerFleet}, 1 + 20, 50 * time.Millisecond},
		"sliding log":     {SlidingLog{Limit: 5, Length: 250 * time.Millisecond, Scope: PerFleet}, 5 * 5, 250 * time.Millisecond},
		"sliding counter": {SlidingCounter{Limit: 5, Length: 250 * time.Millisecond, Scope: PerFleet}, 5 * 5, 250 * time.Millisecond},
		"daily budget":    {DailyBudget{Quota: 10, Per: 500 * time.Millisecond, Scope: PerFleet}, 3 * 7, 500 * time.Millisecond},
		"concurrency":     {Concurrency{Permits: 5, Scope: PerFleet}, 5 * 21, 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, c.layer)
			l.serve = func(*caller) (time.Duration, wire.Outcome) { return 50 * time.Millisecond, okay }
			for i := range callers {
				l.at(time.Duration(i), func() {
					call := l.begin("a", i)
					l.at(patience+time.Duration(i), func() {
						if call.line != nil { // nothing of it is under way
							call.leave()
							l.step(call, Event{Kind: Cancelled})
						}
					})
				})
			}
			l.run(patience + callers)
			require.LessOrEqual(t, len(l.sent), c.most)
			require.GreaterOrEqual(t, len(l.sent), c.most*3/4)
			admitted := len(l.sent)
			asked := l.now
			l.at(asked, func() { l.begin("late", 0) })
			l.run(asked + time.Minute)
			require.Equal(t, admitted+1, len(l.sent))
			require.LessOrEqual(t, l.sent[admitted]-asked, c.next)
		})
	}
}

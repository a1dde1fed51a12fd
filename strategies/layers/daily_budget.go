package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// DailyBudget spends a share of a daily quota and leaves the rest of the work
// to the days that follow: a call that finds today's budget spent waits until
// the next day begins. The fraction of a unit that a day leaves over is carried
// to the next, so 70 % of 2,041 is 10,000 in a week.
//
// It is right for work that may take days under a quota that others share. It
// costs the makespan, and it piles the waiting work up at the beginning of the
// day: put a TokenBucket inside it.
type DailyBudget struct {
	// Quota is what the provider allows in a day, in attempts.
	Quota int64 `unit:"attempts" required:"500" about:"What the provider allows in a day."`
	// Percent of it is spent, 1 to 100; 0 means 70, the margin that the
	// founding article found to hold.
	Percent int64 `unit:"%" most:"100" default:"70%" about:"Which share of that quota is used."`
	// Per is the length of a day, 0 for 24 h; Offset is when in it the quota is
	// reset, counted from the beginning of the run.
	Per    time.Duration `default:"24h" about:"The length of a day."`
	Offset time.Duration `default:"0s" about:"When in a day the quota is renewed, counted from the start of the run."`
	// Carry is how many units of unspent budget days may save up; 0 for none.
	Carry int64 `unit:"attempts" default:"0" about:"How much of the budget that was not spent may be saved for later."`
	// Scope sets which clients share the budget, PerClient or wider. Name
	// identifies a budget with the scope PerEveryone.
	Scope strategies.Scope `except:"call" about:"Which clients share the memory of the layer."`
	Name  string           `without:"it has none" about:"The name by which layers of several fleets share memory; required with the scope everyone."`
}

// Build implements Layer.
func (d DailyBudget) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if d.Percent == 0 {
		d.Percent = 70
	}
	if d.Per == 0 {
		d.Per = 24 * time.Hour
	}
	switch {
	case d.Percent < 1 || d.Percent > 100:
		return nil, fmt.Errorf("daily budget: the share must be 1 to 100 percent, not %d", d.Percent)
	case d.Quota < 1 || d.Quota > int64(strategies.Never)/1000:
		return nil, fmt.Errorf("daily budget: the quota must be positive and countable, not %d", d.Quota)
	case d.Quota*d.Percent < 100:
		return nil, fmt.Errorf("daily budget: %d %% of %d is less than one attempt a day", d.Percent, d.Quota)
	case d.Per < 0 || d.Offset < 0 || d.Offset >= d.Per:
		return nil, fmt.Errorf("daily budget: a day of %v cannot begin at %v; it begins at 0 or later, and before it is over", d.Per, d.Offset)
	case d.Carry < 0 || d.Carry > int64(strategies.Never)/1000:
		return nil, errors.New("daily budget: what days save up must not be negative; 0 means nothing")
	}
	if err := d.Scope.CheckShared(d.Name); err != nil {
		return nil, fmt.Errorf("daily budget: %w", err)
	}
	p := dayBook{daily: d.Quota * d.Percent, carry: 100 * d.Carry, per: d.Per, offset: d.Offset}
	id, err := b.Pool(p, d.Scope, "daily budget "+d.Name)
	if err != nil {
		return nil, err
	}
	return b.Spend("daily budget", id, inner)
}

// dayBook is the pool of a DailyBudget, in hundredths of an attempt. Its words
// are the number of the day, counted from 1, and what is spent of its budget;
// less than nothing is spent where days have saved up.
type dayBook struct {
	daily, carry int64
	per, offset  time.Duration
}

// Words implements Pool.
func (dayBook) Words() int { return 2 }

// TryTake implements Pool.
func (k dayBook) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	since := now + (k.per - k.offset)
	if day := int64(since/k.per) + 1; day != m[0] {
		if m[0] != 0 { // days beyond those that fill the savings add nothing
			saved := min(day-m[0], k.carry/k.daily+2)*k.daily - m[1]
			m[1] = -min(saved, k.carry+saved%100)
		}
		m[0] = day
	}
	cost := 100 * int64(n)
	switch {
	case m[1]+cost <= k.daily:
		m[1] += cost
		return true, now
	case cost > k.daily+k.carry+99:
		return false, strategies.Never
	}
	return false, saturating.Add(now, k.per-since%k.per)
}

// Put implements Pool.
func (k dayBook) Put(_ time.Duration, m []int64, n uint32) {
	m[1] = max(-k.carry-99, m[1]-100*int64(n))
}

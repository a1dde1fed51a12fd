package layers

import (
	"errors"
	"fmt"
	"time"

	"herdlab/sim/saturating"
	"herdlab/strategies"
)

// DailyBudget uses a share of a daily quota: a call that finds the budget of the
// day spent waits until the next day begins. The fraction of an attempt that a day
// leaves over is carried to the next, so 70 % of 2,041 is 10,000 in a week (rounded
// down).
//
// Use it for work that may take days under a quota that others share. It makes the
// work take longer, and the waiting calls all go at the beginning of the next day:
// put a TokenBucket inside it.
type DailyBudget struct {
	// Quota is the number of attempts that the provider allows in a day; it must be
	// positive.
	Quota int64 `unit:"attempts" required:"500" about:"What the provider allows in a day."`
	// Percent is the share of the quota that is used, 1 to 100 %; 0 means 70, the
	// margin of the reference experiment.
	Percent int64 `unit:"%" most:"100" default:"70%" about:"Which share of that quota is used."`
	// Per is the length of a day; 0 means 24 h. Offset is the time within a day at
	// which the quota is renewed, counted from the beginning of the run: at least 0
	// and less than Per.
	Per    time.Duration `default:"24h" about:"The length of a day."`
	Offset time.Duration `default:"0s" about:"When in a day the quota is renewed, counted from the start of the run."`
	// Carry is the number of unused attempts that may be saved for later days; 0
	// means none.
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
		return nil, fmt.Errorf("daily budget: percent must be 1 to 100, not %d", d.Percent)
	case d.Quota < 1 || d.Quota > int64(strategies.Never)/1000:
		return nil, fmt.Errorf("daily budget: quota must be positive and not too large, not %d", d.Quota)
	case d.Quota*d.Percent < 100:
		return nil, fmt.Errorf("daily budget: %d %% of %d is less than one attempt per day; take a larger quota or percent", d.Percent, d.Quota)
	case d.Per < 0 || d.Offset < 0 || d.Offset >= d.Per:
		return nil, fmt.Errorf("daily budget: per must be positive and offset at least 0 and less than per, not %v and %v", d.Per, d.Offset)
	case d.Carry < 0 || d.Carry > int64(strategies.Never)/1000:
		return nil, errors.New("daily budget: carry must not be negative; 0 means that nothing is saved")
	}
	if err := d.Scope.CheckShared(d.Name); err != nil {
		return nil, fmt.Errorf("daily budget: %w", err)
	}
	p := dailyPool{daily: d.Quota * d.Percent, carry: 100 * d.Carry, per: d.Per, offset: d.Offset}
	id, err := b.Pool(p, d.Scope, "daily budget "+d.Name)
	if err != nil {
		return nil, err
	}
	return b.Spend("daily budget", id, inner)
}

// dailyPool is the pool of a DailyBudget, in hundredths of an attempt. Its words are
// the number of the day, counted from 1, and what is spent of its budget, which is
// negative if earlier days have saved some.
type dailyPool struct {
	daily, carry int64
	per, offset  time.Duration
}

// Words implements Pool.
func (dailyPool) Words() int { return 2 }

// TryTake implements Pool.
func (k dailyPool) TryTake(now time.Duration, m []int64, n uint32) (bool, time.Duration) {
	since := now + (k.per - k.offset)
	if day := int64(since/k.per) + 1; day != m[0] {
		if m[0] != 0 { // more days than fill the savings add nothing
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
func (k dailyPool) Put(_ time.Duration, m []int64, n uint32) {
	m[1] = max(-k.carry-99, m[1]-100*int64(n))
}

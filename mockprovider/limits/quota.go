package limits

import (
	"fmt"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// Quota is an allowance that is renewed as a whole: each day at its reset hour,
// each month, or never, which is a balance that is spent once. It is a fixed
// window; but its refusals are of class wire.Quota, because a caller had better
// not wait for it.
type Quota struct {
	Limit int32 `unit:"requests" least:"1" required:"500" about:"How many requests, or units of the charge, there are."`
	// Every is how often it is renewed: 24 h, or 720 h for a month of 30 days;
	// 0 is never.
	Every time.Duration `without:"never" about:"How often the quota is renewed, such as 24h."`
	// At is when it is renewed for the first time, on the provider's clock, and
	// from then on every so often: the reset hour, if the run begins at
	// midnight. 0 ≤ At < Every.
	At time.Duration `default:"0s" about:"When it is renewed for the first time, on the provider's clock."`
	mockprovider.Terms
}

// Validate implements Limit.
func (q Quota) Validate() error {
	switch {
	case q.Every < 0 || q.Every > mockprovider.Longest:
		return fmt.Errorf("quota: it must be renewed every 1ns to %v, or 0 for never, not %v", mockprovider.Longest, q.Every)
	case q.At < 0 || q.At > 0 && q.At >= q.Every:
		return fmt.Errorf("quota: the first renewal must be at 0 to below %v, not at %v", q.Every, q.At)
	}
	return validateCount("quota", q.Limit, q.window().Length, q.Terms)
}

// window is the window that a quota is.
func (q *Quota) window() Window {
	if q.Every == 0 {
		return Window{Limit: q.Limit, Length: mockprovider.Forever, Terms: q.Terms}
	}
	return Window{Limit: q.Limit, Length: q.Every, Terms: q.Terms}
}

// Bound implements Limit: the limit ÷ how often it is renewed. A balance bounds
// the sum and no rate.
func (q Quota) Bound(load mockprovider.Load) mockprovider.Bound {
	if q.Every == 0 {
		return mockprovider.Bound{}
	}
	return q.window().Bound(load)
}

// Gate implements Limit.
func (q Quota) Gate(space mockprovider.Space) mockprovider.Gate {
	w := q.window().Gate(space).(*window)
	w.offset, w.class = q.At, wire.Quota
	return w
}

package scenarios

import (
	"math/bits"
	"time"

	"herdlab/mockprovider"
	"herdlab/strategies"
)

// bound is what a provider can serve: at most count requests per time, as an
// exact ratio, and at most concurrency at a time. Zeros mean no bound.
type bound struct {
	count       int64
	per         time.Duration
	concurrency int64
}

// bounds derives the bound from the provider's configuration: the smallest of
// slots ÷ mean service and each limit ÷ its window, for calls of the given mean
// output length. A limit that counts each account by itself is worth as much
// as all accounts together.
func bounds(c *mockprovider.Config, outputTokens float64) bound {
	var b bound
	mean := c.Service.Mean(outputTokens)
	parallel := func(n int64) {
		b.atMost(n, mean)
		if n > 0 && (b.concurrency == 0 || n < b.concurrency) {
			b.concurrency = n
		}
	}
	parallel(int64(c.Slots))
	for _, l := range c.Limits {
		switch l := l.(type) {
		case mockprovider.Window:
			b.atMost(int64(l.Limit)*keys(l.Per, c.Accounts), l.Length)
		case mockprovider.Semaphore:
			parallel(int64(l.Limit) * keys(l.Per, c.Accounts))
		}
	}
	return b
}

func keys(per mockprovider.Counted, accounts int) int64 {
	if per == mockprovider.Account {
		return int64(max(accounts, 1))
	}
	return 1
}

// atMost tightens the bound to count requests per time, if that is less.
func (b *bound) atMost(count int64, per time.Duration) {
	if count <= 0 || per <= 0 {
		return
	}
	if b.per > 0 { // count/per < b.count/b.per, multiplied out
		hi, lo := bits.Mul64(uint64(count), uint64(b.per))
		bHi, bLo := bits.Mul64(uint64(b.count), uint64(per))
		if hi > bHi || hi == bHi && lo >= bLo {
			return
		}
	}
	b.count, b.per = count, per
}

// perSecond returns the bound as a capacity, 0 if there is none.
func (b bound) perSecond() float64 {
	if b.per == 0 {
		return 0
	}
	return float64(b.count) / b.per.Seconds()
}

// knowledge returns what clients who know the provider know. The limits on
// files leave room to multiply both sides of the ratio by ten.
func (b bound) knowledge() strategies.Knowledge {
	return strategies.Knowledge{Rate: b.count, Per: b.per, Concurrency: b.concurrency}
}

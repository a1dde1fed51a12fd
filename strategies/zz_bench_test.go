package strategies

import (
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

type fakePools struct {
	m [2]int64
	b bucket
}

func (f *fakePools) TryTake(c *Call, t Take) bool {
	ok, _ := f.b.TryTake(0, f.m[:], t.N)
	f.m[1] = 0
	return ok
}

func BenchmarkStackNext(b *testing.B) {
	for name, layers := range map[string][]Layer{
		"none":          {},
		"retry":         {Retry{Backoff: FullJitter{Base: time.Second, Cap: time.Minute}}},
		"retry+breaker": {Retry{Backoff: FullJitter{Base: time.Second, Cap: time.Minute}}, Breaker{Failures: 1000000000, OpenFor: time.Second, MinWait: time.Second, Scope: PerClient}},
		"retry+breaker+bucket": {Retry{Backoff: FullJitter{Base: time.Second, Cap: time.Minute}}, Breaker{Failures: 1000000000, OpenFor: time.Second, MinWait: time.Second, Scope: PerClient},
			TokenBucket{Rate: 5, Per: time.Second, Burst: 5, Scope: PerClient}},
	} {
		b.Run(name, func(b *testing.B) {
			p, err := Compile(Definition{Name: "x", Layers: layers}, nil)
			if err != nil {
				b.Fatal(err)
			}
			var c Call
			c.Rand = draw.New(1)
			c.Pools = &fakePools{b: bucketOf(5, time.Second, 5)}
			for s := range c.Memory {
				c.Memory[s] = make([]int64, p.Words[s])
			}
			o := wire.Outcome{Class: wire.Overloaded, RetryAfter: wire.NoHint}
			for b.Loop() {
				p.Root.Next(0, &c, Event{Kind: Begin})
				p.Root.Next(0, &c, Event{Kind: Reply, Attempt: 1, Outcome: &o})
				p.Root.Next(0, &c, Event{Kind: Wake})
				p.Root.Next(0, &c, Event{Kind: Reply, Attempt: 2, Outcome: &o})
			}
		})
	}
}

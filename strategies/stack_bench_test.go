package strategies

import (
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// plenty is a driver whose pools are never empty.
type plenty struct {
	pool   *bucket
	memory [2]int64
}

func (p *plenty) TryTake(_ *Call, t Take) bool {
	ok, _ := p.pool.TryTake(0, p.memory[:], t.N)
	p.memory[1] = 0
	return ok
}

// BenchmarkStack measures one retried attempt and its success: four decisions
// through the whole stack.
func BenchmarkStack(b *testing.B) {
	retry := Retry{Backoff: FullJitter{Base: time.Second, Cap: time.Minute}}
	breaker := Breaker{Failures: 5, OpenFor: time.Second, MinWait: time.Second, Scope: PerClient}
	bucket := TokenBucket{Rate: 5, Per: time.Second, Burst: 5, Scope: PerClient}
	for _, stack := range []struct {
		name   string
		layers []Layer
	}{
		{"none", nil},
		{"retry", []Layer{retry}},
		{"retry+breaker", []Layer{retry, breaker}},
		{"retry+breaker+bucket", []Layer{retry, breaker, bucket}},
		{"retry+breaker+bucket+concurrency", []Layer{retry, breaker, bucket, Concurrency{Permits: 5, Scope: PerClient}}},
	} {
		b.Run(stack.name, func(b *testing.B) {
			p, err := Compile(Definition{Name: "bench", Layers: stack.layers}, nil)
			if err != nil {
				b.Fatal(err)
			}
			c := Call{Rand: draw.New(1), Pools: &plenty{pool: bucketOf(5, time.Second, 5)}}
			for s := range c.Memory {
				c.Memory[s] = make([]int64, p.Words[s])
			}
			failure := wire.Outcome{Class: wire.Overloaded, RetryAfter: wire.NoHint}
			success := wire.Outcome{Class: wire.OK, RetryAfter: wire.NoHint}
			give := Discard{}
			b.ReportAllocs()
			for b.Loop() {
				p.Root.Next(0, &c, Event{Kind: Begin})
				p.Root.Next(0, &c, Event{Kind: Reply, Attempt: 1, Outcome: &failure})
				p.Root.Next(0, &c, Event{Kind: Wake})
				p.Root.Next(0, &c, Event{Kind: Reply, Attempt: 2, Outcome: &success})
				c.TakeAsides(give)
			}
		})
	}
}

package layers

import (
	"testing"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// plenty is a driver whose pools are never empty.
type plenty struct {
	pool   *bucket
	memory [2]int64
}

func (p *plenty) TryTake(_ *strategies.Call, t strategies.Take) bool {
	ok, _ := p.pool.TryTake(0, p.memory[:], t.N)
	p.memory[1] = 0
	return ok
}

// BenchmarkStack measures one retried attempt and its success: four decisions
// through the whole stack.
func BenchmarkStack(b *testing.B) {
	retry := Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: time.Minute}}
	breaker := Breaker{Failures: 5, OpenFor: time.Second, MinWait: time.Second, Scope: strategies.PerClient}
	bucket := TokenBucket{Rate: 5, Per: time.Second, Burst: 5, Scope: strategies.PerClient}
	for _, stack := range []struct {
		name   string
		layers []strategies.Layer
	}{
		{"none", nil},
		{"retry", []strategies.Layer{retry}},
		{"retry+breaker", []strategies.Layer{retry, breaker}},
		{"retry+breaker+bucket", []strategies.Layer{retry, breaker, bucket}},
		{"retry+breaker+bucket+concurrency", []strategies.Layer{retry, breaker, bucket, Concurrency{Permits: 5, Scope: strategies.PerClient}}},
	} {
		b.Run(stack.name, func(b *testing.B) {
			p, err := strategies.Compile(strategies.Definition{Name: "bench", Layers: stack.layers}, nil)
			if err != nil {
				b.Fatal(err)
			}
			c := *strategies.NewCall(draw.New(1))
			c.Driver().Pools = &plenty{pool: bucketOf(5, time.Second, 5)}
			for s := range c.Driver().Memory {
				c.Driver().Memory[s] = make([]int64, p.Words[s])
			}
			failure := wire.Outcome{Class: wire.Overloaded, RetryAfter: wire.NoHint}
			success := wire.Outcome{Class: wire.OK, RetryAfter: wire.NoHint}
			give := strategytest.Discard{}
			b.ReportAllocs()
			for b.Loop() {
				p.Root.Next(0, &c, strategies.Event{Kind: strategies.Begin})
				p.Root.Next(0, &c, strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: &failure})
				p.Root.Next(0, &c, strategies.Event{Kind: strategies.Wake})
				p.Root.Next(0, &c, strategies.Event{Kind: strategies.Reply, Attempt: 2, Outcome: &success})
				c.TakeCommands(give)
			}
		})
	}
}

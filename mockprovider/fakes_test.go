package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
)

// few is a limit that admits Limit requests at a time with each counter.
// It is made of exported parts only.
type few struct {
	Limit int32
	Terms
}

func (f few) Validate() error  { return f.Terms.Validate() }
func (f few) Bound(Load) Bound { return Bound{} }
func (f few) Gate(s Space) Gate {
	return &fewGate{few: f, CounterIndex: f.Per.Index(s), used: make([]int32, f.Counters(s))}
}

type fewGate struct {
	few
	CounterIndex
	used []int32
}

func (g *fewGate) Take(_ time.Duration, r *wire.Request) bool {
	u := &g.used[g.Of(r)]
	if *u >= g.Limit {
		return false
	}
	*u++
	return true
}

func (g *fewGate) Refuse(time.Duration, *wire.Request) Verdict {
	return Verdict{Class: wire.Rate, Allowance: Allowance{Limit: g.Limit}}
}

func (g *fewGate) Form(*wire.Request) *Refusal { return &g.Refusal }

func (g *fewGate) Undo(_ time.Duration, r *wire.Request)             { g.used[g.Of(r)]-- }
func (g *fewGate) Release(_ time.Duration, r *wire.Request, _ Ended) { g.used[g.Of(r)]-- }

// lessCapacity is a disturbance that leaves models and regions a part of their
// slots.
type lessCapacity struct{ percent int32 }

func (lessCapacity) Name() string    { return "less capacity" }
func (lessCapacity) Validate() error { return nil }

func (d lessCapacity) Hooks(Space) Hooks {
	return Hooks{ByStation: true, Strain: func(s *Strain, where *Match) { s.CutCapacity(where, d.percent) }}
}

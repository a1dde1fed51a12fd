package sweep

import (
	"context"
	"slices"

	"herdlab/sim"
	"herdlab/sim/metrics"
	"herdlab/sim/verdict"
)

// tellApart adds seeds for the strategies that lead r and cannot be told apart, as
// many at a time as r has, until one leads or MaxSeeds are run. It returns nil if
// nothing was added.
func (c *comparison) tellApart(ctx context.Context, r *metrics.Result) (more *metrics.Extra) {
	names := verdict.Judge(r, c.Rules, nil, nil).Contenders()
	next := c.next64(nil)
	for block := len(r.Seeds); len(names) > 0 && len(r.Seeds)+seedsOf(more)+block <= c.MaxSeeds; next += uint64(block) {
		added := c.extra(ctx, r, names, next, block)
		if added == nil {
			return more
		}
		more = joined(more, added)
		if len(verdict.Judge(r, c.Rules, more, nil).Contenders()) == 0 {
			return more
		}
	}
	return more
}

// confirm runs the strategies whose values the verdict on r quotes with fresh seeds.
// It returns nil if there are none, or if they are not complete.
func (c *comparison) confirm(ctx context.Context, r *metrics.Result) *metrics.Extra {
	if !c.Confirm {
		return nil
	}
	names := verdict.Judge(r, c.Rules, r.Verdict.More, nil).Quoted()
	if len(names) == 0 {
		return nil
	}
	return c.extra(ctx, r, names, c.next64(r.Verdict.More), len(r.Seeds))
}

// next64 returns the first seed after those of the comparison and of more.
func (c *comparison) next64(more *metrics.Extra) uint64 {
	last := c.Seeds[len(c.Seeds)-1]
	if more != nil {
		last = max(last, more.Seeds[len(more.Seeds)-1])
	}
	return last + 1
}

// extra runs some strategies with n further seeds. It returns nil if one of them
// fails or ctx ends.
func (c *comparison) extra(ctx context.Context, r *metrics.Result, names []string, first uint64, n int) *metrics.Extra {
	spec := *c.Spec
	spec.Strategies, spec.Seeds, spec.Progress, spec.Failed = nil, nil, nil, nil
	var number []int // of the strategies in the comparison
	for i, s := range c.Strategies {
		if slices.Contains(names, s.Name) {
			spec.Strategies, number = append(spec.Strategies, s), append(number, i)
		}
	}
	for i := range n {
		if first+uint64(i) < first { // no seeds are left
			return nil
		}
		spec.Seeds = append(spec.Seeds, first+uint64(i))
	}
	spec.New = func(strategy int, seed uint64) (*sim.Experiment, error) { return c.New(number[strategy], seed) }
	d := newComparison(&spec)
	if d.runAll(ctx); slices.ContainsFunc(d.missing, func(n int) bool { return n > 0 }) {
		return nil
	}
	m, err := metrics.ParseMetric(r.Verdict.Metric)
	if err != nil {
		return nil
	}
	e := &metrics.Extra{Seeds: spec.Seeds, Values: map[string]metrics.Estimate{}}
	for i, s := range spec.Strategies {
		e.Values[s.Name] = verdict.SummariseMetric(m, d.values[i])
	}
	return e
}

func seedsOf(e *metrics.Extra) int {
	if e == nil {
		return 0
	}
	return len(e.Seeds)
}

// joined returns the runs of a, if any, and b, which are of the same strategies.
func joined(a, b *metrics.Extra) *metrics.Extra {
	if a == nil {
		return b
	}
	e := &metrics.Extra{Seeds: append(slices.Clone(a.Seeds), b.Seeds...), Values: map[string]metrics.Estimate{}}
	for name, f := range b.Values {
		e.Values[name] = verdict.JoinEstimates(a.Values[name], f)
	}
	return e
}

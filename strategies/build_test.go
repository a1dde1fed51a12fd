package strategies_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
	"herdlab/strategies/strategytest"
)

func TestCompile(t *testing.T) {
	p, err := strategies.Compile(strategies.Definition{Name: "bare"}, nil)
	require.NoError(t, err)
	require.Equal(t, wire.ByBody{}, p.Reader, "the default reader")
	require.Empty(t, p.Pools)
	require.Equal(t, [strategies.NumScopes]int{}, p.Words)
	require.False(t, p.WantsSent)
	strategytest.Play(t, nil, `
		begin -> send                             # an empty stack sends once
		sent -> idle
		head -> idle
		503 -> stop failed overloaded
		begin -> send
		200 -> stop succeeded ok
		begin -> send
		cancelled -> stop withdrawn`)

	p, err = strategies.Compile(strategies.Definition{Name: "full", Reader: wire.ByStatus{}, Layers: []strategies.Layer{
		layers.Retry{Backoff: backoffs.DecorrelatedJitter{Base: time.Second}},
		layers.Breaker{Failures: 1, OpenFor: 1, FailFast: true, Scope: strategies.PerEveryone, Name: "b"},
		layers.TokenBucket{Rate: 1, Per: 1, Burst: 1, Scope: strategies.PerClient},
		layers.Concurrency{Permits: 1, Scope: strategies.PerFleet},
		&drawing{drawn: new([]time.Duration)},
	}}, nil)
	require.NoError(t, err)
	require.Equal(t, wire.ByStatus{}, p.Reader)
	// Two for the retries and their last wait, one for the probe, one for the
	// permit; the bucket's two; the permits in use; the breaker's two.
	require.Equal(t, [strategies.NumScopes]int{strategies.PerCall: 4, strategies.PerClient: 2, strategies.PerFleet: 1, strategies.PerEveryone: 2}, p.Words)
	require.Len(t, p.Pools, 2)
	require.Equal(t, []strategies.Scope{strategies.PerFleet, strategies.PerClient}, []strategies.Scope{p.Pools[0].Scope, p.Pools[1].Scope})
	require.Equal(t, []string{"drawing", "concurrency", "tokens", "breaker", "retry"}, p.Layers, "innermost first")
}

func TestCompileErrors(t *testing.T) {
	retry := func(b strategies.Backoff) strategies.Layer { return layers.Retry{Backoff: b} }
	breaker := func(change func(*layers.Breaker)) strategies.Layer {
		k := layers.Breaker{Failures: 1, OpenFor: 1, MinWait: 1, Scope: strategies.PerFleet}
		change(&k)
		return k
	}
	for want, layer := range map[string]strategies.Layer{
		"layer 1 of the stack is nil; leave it out":                                nil,
		"retry: backoff is required; for retries without a wait use fixed with 0s": layers.Retry{},
		"retry: max_attempts must not be negative; 0 means no bound":               layers.Retry{Backoff: backoffs.Fixed{}, MaxAttempts: -1},
		"retry: fixed: every and jitter must not be negative":                      retry(backoffs.Fixed{Every: -1}),
		"retry: uniform: low 2s and high 1s are not a range; use 0s ≤ low ≤ high":  retry(backoffs.Uniform{Low: 2 * time.Second, High: time.Second}),
		"retry: uniform: low -1s and high 1s are not a range; use 0s ≤ low ≤ high": retry(backoffs.Uniform{Low: -time.Second, High: time.Second}),
		"retry: exponential: base must be positive, not 0s":                        retry(backoffs.Exponential{}),
		"retry: exponential: jitter must not be negative":                          retry(backoffs.Exponential{Base: 1, Jitter: -1}),
		"retry: full_jitter: base must be positive, not -1ns":                      retry(backoffs.FullJitter{Base: -1}),
		"retry: equal_jitter: cap must not be negative; 0 means no bound":          retry(backoffs.EqualJitter{Base: 1, Cap: -1}),
		"retry: decorrelated_jitter: base must be positive, not 0s":                retry(backoffs.DecorrelatedJitter{}),

		"breaker: failures must be 1 to 1073741823, not 0":                                                           breaker(func(k *layers.Breaker) { k.Failures = 0 }),
		"breaker: failures must be 1 to 1073741823, not 1073741824":                                                  breaker(func(k *layers.Breaker) { k.Failures = layers.MaxFailures + 1 }),
		"breaker: open_for must be positive":                                                                         breaker(func(k *layers.Breaker) { k.OpenFor = 0 }),
		"breaker: probe_timeout must not be negative; 0 means as long as open_for":                                   breaker(func(k *layers.Breaker) { k.ProbeTimeout = -1 }),
		"breaker: min_wait must be positive, or fail_fast true":                                                      breaker(func(k *layers.Breaker) { k.MinWait = 0 }),
		"breaker: jitter must not be negative":                                                                       breaker(func(k *layers.Breaker) { k.Jitter = -1 }),
		"breaker: it cannot be shared per call; use client, fleet or everyone":                                       breaker(func(k *layers.Breaker) { k.Scope = strategies.PerCall }),
		"breaker: it cannot be shared per scope(200); use client, fleet or everyone":                                 breaker(func(k *layers.Breaker) { k.Scope = 200 }),
		"breaker: what everyone shares needs a name":                                                                 breaker(func(k *layers.Breaker) { k.Scope = strategies.PerEveryone }),
		"token bucket: rate must be positive, not 0 per 1s":                                                          layers.TokenBucket{Per: time.Second, Burst: 1, Scope: strategies.PerFleet},
		"token bucket: rate must be positive, not 1 per -1s":                                                         layers.TokenBucket{Rate: 1, Per: -time.Second, Burst: 1, Scope: strategies.PerFleet},
		"token bucket: burst must be at least 1, not 0":                                                              layers.TokenBucket{Rate: 1, Per: 1, Scope: strategies.PerFleet},
		"token bucket: it cannot be shared per call; use client, fleet or everyone":                                  layers.TokenBucket{Rate: 1, Per: 1, Burst: 1},
		"token bucket: what everyone shares needs a name":                                                            layers.TokenBucket{Rate: 1, Per: 1, Burst: 1, Scope: strategies.PerEveryone},
		"concurrency: permits must be at least 1, not 0":                                                             layers.Concurrency{Scope: strategies.PerFleet},
		"concurrency: it cannot be shared per call; use client, fleet or everyone":                                   layers.Concurrency{Permits: 1},
		"concurrency: what everyone shares needs a name":                                                             layers.Concurrency{Permits: 1, Scope: strategies.PerEveryone},
		"token bucket: a burst of 9223372036854775807 at 1 per 1s overflows; take a smaller burst or a rounder rate": layers.TokenBucket{Rate: 1, Per: time.Second, Burst: math.MaxInt64, Scope: strategies.PerFleet},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "x", Layers: []strategies.Layer{layer}}, nil)
		require.EqualError(t, err, `strategy "x": `+want)
	}
	_, err := strategies.Compile(strategies.Definition{}, nil)
	require.EqualError(t, err, "strategies: a definition needs a name")
}

func TestAtMostSixteenLayers(t *testing.T) {
	var stack []strategies.Layer
	for range 16 {
		stack = append(stack, layers.Retry{Backoff: backoffs.Fixed{}})
	}
	p, err := strategies.Compile(strategies.Definition{Name: "deep", Layers: stack}, nil)
	require.NoError(t, err)
	require.Len(t, p.Layers, 16)
	_, err = strategies.Compile(strategies.Definition{Name: "deeper", Layers: append(stack, layers.Retry{Backoff: backoffs.Fixed{}})}, nil)
	require.EqualError(t, err, `strategy "deeper": a stack has at most 16 layers`)
}

// reserver is a layer that reserves words and nothing else.
type reserver struct {
	scope strategies.Scope
	n     int
	name  string
	sent  bool
}

func (r reserver) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	if r.sent {
		b.WantSent()
	}
	_, err := b.Reserve(r.scope, r.n, r.name)
	return inner, err
}

// pooled is a layer that has a pool and nothing else.
type pooledLayer struct {
	scope strategies.Scope
	pool  strategies.Pool
}

func (p pooledLayer) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	_, err := b.Pool(p.pool, p.scope, "pool")
	return inner, err
}

func TestReserve(t *testing.T) {
	build := func(commons *strategies.SharedMemory, layers ...strategies.Layer) (*strategies.Program, string) {
		p, err := strategies.Compile(strategies.Definition{Name: "x", Layers: layers}, commons)
		if err != nil {
			return nil, strings.TrimPrefix(err.Error(), `strategy "x": `)
		}
		return p, ""
	}
	commons := strategies.NewSharedMemory()
	p, _ := build(commons, reserver{scope: strategies.PerCall, n: 2}, reserver{scope: strategies.PerCall, n: 3}, reserver{scope: strategies.PerEveryone, n: 4, name: "a"})
	require.Equal(t, [strategies.NumScopes]int{strategies.PerCall: 5, strategies.PerEveryone: 4}, p.Words)
	_, err := build(commons, reserver{scope: strategies.PerEveryone, n: 1, name: "b"}, reserver{scope: strategies.PerEveryone, n: 4, name: "a"})
	require.Empty(t, err)
	require.Equal(t, 5, commons.Words(), "the same name is the same memory")

	_, err = build(commons, reserver{scope: strategies.PerEveryone, n: 2, name: "a"})
	require.Equal(t, `two layers share the memory "a" but need 4 and 2 words; give them different names`, err)
	_, err = build(commons, reserver{scope: strategies.PerEveryone, n: 2})
	require.Equal(t, "memory shared by everyone needs a name", err)
	_, err = build(nil, reserver{scope: 4, n: 2})
	require.Equal(t, "there is no scope(4); use call, client, fleet or everyone", err)
	_, err = build(nil, reserver{scope: strategies.PerCall, n: -1})
	require.Equal(t, "cannot reserve -1 words; a layer may have 0 to 1024", err)
	_, err = build(nil, pooledLayer{strategies.PerCall, twoPermits{}})
	require.Equal(t, "a pool cannot have scope call, because calls must share it; use scope client, fleet or everyone", err)

	p, _ = build(nil, reserver{sent: true})
	require.True(t, p.WantsSent)
}

// Programs with a layer of the same name share its memory; their settings must be
// equal.
func TestSharedMemory(t *testing.T) {
	commons := strategies.NewSharedMemory()
	compile := func(l strategies.Layer) error {
		_, err := strategies.Compile(strategies.Definition{Name: "x", Layers: []strategies.Layer{l}}, commons)
		return err
	}
	k := layers.Breaker{
		Failures: 5, OpenFor: 30 * time.Second, FailFast: true, Scope: strategies.PerEveryone, Name: "b",
	}
	require.NoError(t, compile(k))
	words := commons.Words()
	k.ProbeTimeout, k.FailFast, k.MinWait, k.Jitter = k.OpenFor, false, 1, 1 // settings of refused calls, which may differ
	require.NoError(t, compile(k))
	k.Failures = 6
	require.EqualError(t, compile(k), `strategy "x": two layers share "breaker b" but differ: {5 failures, open for 30s, probe timeout 30s} `+
		`and {6 failures, open for 30s, probe timeout 30s}; make them agree or give them different names`)
	require.Equal(t, words, commons.Words())

	bucket := layers.TokenBucket{Rate: 6, Per: 2 * time.Second, Burst: 3, Scope: strategies.PerEveryone, Name: "b"}
	require.NoError(t, compile(bucket), "a bucket and a breaker of one name are two things")
	bucket.Rate, bucket.Per = 3, time.Second
	require.NoError(t, compile(bucket), "the same rate")
	bucket.Burst = 4
	require.ErrorContains(t, compile(bucket), `two layers share "bucket b" but differ`)

	require.NoError(t, compile(layers.Concurrency{Permits: 3, Scope: strategies.PerEveryone, Name: "b"}))
	require.ErrorContains(t, compile(layers.Concurrency{Permits: 4, Scope: strategies.PerEveryone, Name: "b"}), `two layers share "concurrency b" but differ`)
}

// A layer cannot use the words of other layers, and layers of different types cannot
// share a name.
func TestMisuseIsReported(t *testing.T) {
	b := strategies.EmptyBuild()
	mine, err := b.Reserve(strategies.PerClient, 1, "")
	require.NoError(t, err)
	_, err = b.Reserve(strategies.PerClient, 2, "")
	require.NoError(t, err)
	var c strategies.Call
	c.Driver().Memory[strategies.PerClient] = make([]int64, 3)
	*c.Word(mine, 0) = 7
	require.PanicsWithValue(t, "strategies: a layer uses a word beyond those it reserved", func() { c.Word(mine, 1) })
	_, err = b.Reserve(strategies.PerClient, 1<<30, "")
	require.EqualError(t, err, "cannot reserve 1073741824 words; a layer may have 0 to 1024")
	for _, name := range []string{"Bad", "a b", "a_b", "a/b", "ü"} {
		_, err := strategies.Compile(strategies.Definition{Name: name}, nil)
		require.ErrorContains(t, err, "has other than lower case letters", name)
	}
}

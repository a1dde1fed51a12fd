package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim"
	"herdlab/sim/draw"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// fullJitterScript is full jitter as one would write it down: wait
// U(0, min(64 s, 1 s·2ⁿ)), or from what the provider asked upwards.
func fullJitterScript(s *strategies.Session) error {
	for retry := range 1 << 30 {
		r := s.Send()
		if r.OK() {
			return nil
		}
		if !r.Class.Transient() {
			return strategies.ErrGaveUp
		}
		s.Sleep(max(r.RetryAfter, 0) + s.Uniform(0, min(64*time.Second, time.Second<<min(retry, 6))))
	}
	return strategies.ErrGaveUp
}

// scriptWorld is a day on which much goes wrong: an outage, a window, a
// semaphore, callers who lose patience.
func scriptWorld(t testing.TB, seed uint64, clients int, layers ...strategies.Layer) *sim.Experiment {
	t.Helper()
	p, err := strategies.Compile(strategies.Definition{Name: "x", Layers: layers}, nil)
	require.NoError(t, err)
	root := draw.New(seed)
	mock, err := mockprovider.New(mockprovider.Config{
		Limits: []mockprovider.Limit{
			limits.Window{Limit: int32(clients), Length: time.Second, Terms: mockprovider.Terms{
				Refusal: mockprovider.As429.WithHint(mockprovider.Hint{Kind: mockprovider.Exact})}},
			limits.Semaphore{Limit: int32(clients/2 + 1), Terms: mockprovider.Terms{Refusal: mockprovider.As14003}},
		},
		Capacity: mockprovider.Capacity{Slots: clients/4 + 1, Queue: clients, Service: mockprovider.Service{First: draw.Expo(200 * time.Millisecond)}},
		Space:    mockprovider.Space{Accounts: 1},
	}, root.For(0))
	require.NoError(t, err)
	return &sim.Experiment{
		Fleets: []sim.Fleet{{
			Name: "fleet", Program: p, Patience: 20 * time.Second,
			Traffic: traffic.Traffic{Clients: clients, Think: draw.Expo(300 * time.Millisecond)},
			Up:      draw.Between(0, 20*time.Millisecond),
		}},
		Provider: mock, Rand: root.For(1),
		Plan: metrics.Plan{Horizon: 2 * time.Minute, Bin: time.Second},
	}
}

// One strategy, written twice: the script and its twin make the same report.
func TestAScriptAndItsTwinLiveTheSameDay(t *testing.T) {
	twin := layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 64 * time.Second}}
	breaker := layers.Breaker{Failures: 5, OpenFor: 3 * time.Second, MinWait: 100 * time.Millisecond, Jitter: time.Second, Scope: strategies.PerClient}
	for name, inside := range map[string][]strategies.Layer{"alone": nil, "around a breaker": {breaker}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				want, err := scriptWorld(t, seed, 40, append([]strategies.Layer{twin}, inside...)...).Run(context.Background())
				require.NoError(t, err)
				got, err := scriptWorld(t, seed, 40, append([]strategies.Layer{strategies.Script(fullJitterScript)}, inside...)...).Run(context.Background())
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
		})
	}
}

// A script that a caller withdraws unwinds where it blocks, once, and its
// coroutine serves the next call.
func TestAWithdrawnScriptUnwinds(t *testing.T) {
	began, ended, went := 0, 0, 0
	script := strategies.Script(func(s *strategies.Session) error {
		began++
		defer func() { ended++ }()
		s.Send()
		s.Sleep(time.Hour)
		went++
		return nil
	})
	x := scriptWorld(t, 1, 10, script)
	rep, err := x.Run(context.Background())
	require.NoError(t, err)
	require.NoError(t, rep.Check())
	require.Greater(t, began, 10)
	require.Equal(t, began, ended)
	require.Zero(t, went)
}

// A panic of the script's own is not swallowed.
func TestAScriptsPanicComesOut(t *testing.T) {
	boom := errors.New("boom")
	x := scriptWorld(t, 1, 3, strategies.Script(func(*strategies.Session) error { panic(boom) }))
	require.PanicsWithValue(t, boom, func() { _, _ = x.Run(context.Background()) })
}

// A script may give up, refuse an answer, or settle for nothing.
func TestHowScriptsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		script strategies.Script
		class  wire.Class
		reason strategies.Reason
	}{
		"an answer":           {func(s *strategies.Session) error { s.Send(); return nil }, wire.OK, strategies.Succeeded},
		"an unwanted answer":  {func(s *strategies.Session) error { s.Send(); return strategies.ErrGaveUp }, wire.BadRequest, strategies.Failed},
		"nothing, and silent": {func(*strategies.Session) error { return nil }, wire.OK, strategies.Succeeded},
		"nothing":             {func(*strategies.Session) error { return strategies.ErrGaveUp }, wire.BadRequest, strategies.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := strategies.Compile(strategies.Definition{Name: "x", Layers: []strategies.Layer{c.script}}, nil)
			require.NoError(t, err)
			var scripts strategies.Scripts
			defer scripts.Close()
			var call strategies.Call
			call.Driver().Scripts = &scripts
			call.Driver().Memory[strategies.PerCall] = make([]int64, p.Words[strategies.PerCall])
			d := p.Root.Next(0, &call, strategies.Event{Kind: strategies.Begin})
			if d.Kind == strategies.Send {
				d = p.Root.Next(0, &call, strategies.Event{Kind: strategies.Reply, Attempt: 1, Outcome: &wire.Outcome{Status: 200}})
			}
			require.Equal(t, strategies.Stop, d.Kind)
			require.Equal(t, strategies.End{Reason: c.reason, Class: c.class}, d.End)
		})
	}
}

// BenchmarkScript is what the switches cost: the same day as a state machine
// and as a script, a thousand clients.
func BenchmarkScript(b *testing.B) {
	for name, layer := range map[string]strategies.Layer{
		"next":   layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 64 * time.Second}},
		"script": strategies.Script(fullJitterScript),
	} {
		b.Run(name, func(b *testing.B) {
			events := uint64(0)
			for range b.N {
				rep, err := scriptWorld(b, 1, 1000, layer).Run(context.Background())
				require.NoError(b, err)
				events += rep.Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

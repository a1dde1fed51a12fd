package mockprovider

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// An account that is forgotten is as good as one that was never used, and nobody
// else notices; nor does its next owner notice the end of work that the former
// one still has under way. The twin forgets nobody: there, each owner has an
// account of his own.
func TestForgottenAccountsAreNew(t *testing.T) {
	const orgs, size, most = 2, 2, 50 // most owners of all accounts of an organisation
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Space: Space{Accounts: orgs * size, OrgSize: size, Keys: 2, Models: 2}, Abandoned: Notice{Hears: true},
			Capacity: Capacity{Slots: 3, Queue: 2, Service: takes(5)},
		}
		for range rapid.IntRange(1, 3).Draw(t, "limits") {
			cfg.Limits = append(cfg.Limits, anyLimit(t))
		}
		if rapid.Bool().Draw(t, "script") {
			per := rapid.SampledFrom([]Counted{Everyone, Account, Key, Organisation}).Draw(t, "script per")
			cfg.Faults = []Fault{{To: Forever, Does: Script{Per: per, Answers: []Disturbance{nil, Refuse{}, Errors{When: AfterWork}}}}}
		}
		p, err := New(cfg, draw.New(1))
		require.NoError(t, err)
		cfg.Accounts, cfg.OrgSize = orgs*most, most
		twin, err := New(cfg, draw.New(1))
		require.NoError(t, err)

		owner := []uint32{0, 1, most, most + 1} // by account: the twin's
		used := []uint32{size, size}            // by organisation: how many of the twin's
		now, tickets, jobs := time.Duration(0), uint32(0), []uint32{}
		step := func(in wire.Input) {
			effects := p.Step(now, &in, nil)
			in.Request.Account = owner[in.Request.Account]
			require.Equal(t, twin.Step(now, &in, nil), effects, "at %d: %+v", now, in)
			for _, e := range effects {
				if e.Kind == wire.Started {
					jobs = append(jobs, e.Job)
				}
			}
		}
		for range 80 {
			now += time.Duration(rapid.IntRange(0, 9).Draw(t, "dt"))
			r := wire.Request{
				Account: uint32(rapid.IntRange(0, len(owner)-1).Draw(t, "account")), Demand: wire.Demand{OutputTokens: 2, MaxTokens: uint32(rapid.IntRange(1, 4).Draw(t, "max"))},
				Target: wire.Target{Key: uint8(rapid.IntRange(0, 1).Draw(t, "key")), Model: uint8(rapid.IntRange(0, 1).Draw(t, "model"))},
			}
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				p.Forget(r.Account)
				org := r.Account / size
				owner[r.Account] = org*most + used[org]
				used[org] = min(used[org]+1, most-1)
			case 1:
				if tickets > 0 {
					step(wire.Input{Kind: wire.Abandon, Ticket: uint32(rapid.IntRange(0, int(tickets)-1).Draw(t, "gone"))})
				}
			case 2:
				if len(jobs) > 0 {
					i := rapid.IntRange(0, len(jobs)-1).Draw(t, "done")
					job := jobs[i]
					jobs = slices.Delete(jobs, i, i+1)
					step(wire.Input{Kind: wire.Done, Job: job})
				}
			default:
				step(wire.Input{Kind: wire.Arrive, Ticket: tickets, Request: r})
				tickets++
			}
			for i := range cfg.Limits {
				s, ok := p.Standing(i+1, now, &r)
				require.True(t, ok)
				q := r
				q.Account = owner[r.Account]
				same, _ := twin.Standing(i+1, now, &q)
				require.Equal(t, same, s, "limit %d, account %d", i+1, r.Account)
			}
		}
	})
}

// anyLimit draws a small limit of any kind, on anything.
func anyLimit(t *rapid.T) Limit {
	terms := anyTerms(t)
	terms.Per = rapid.SampledFrom([]Counted{Everyone, Account, Key, Account | Model, Model, Organisation}).Draw(t, "per")
	kind := rapid.IntRange(-2, len(tested)-1).Draw(t, "kind")
	switch {
	case kind >= 0:
		l := tested[kind].draw(t, terms)
		if rapid.IntRange(0, 3).Draw(t, "tiers") == 0 {
			return Tiered{{Match{Models: Just(0)}, l}, {Match{}, Semaphore{Limit: 1, Terms: Terms{Per: Account}}}}
		}
		return l
	case kind == -1:
		return Joint{Limit: smallLimit(t), Length: smallLength(t), Terms: Terms{Per: terms.Per, Keep: terms.Keep}}
	}
	return Semaphore{Limit: smallLimit(t), Terms: Terms{Per: terms.Per, Charge: Charge{Count: terms.Charge.Count}}}
}

// Where accounts are not told apart, or all are counted together, there is
// nothing to forget; nor is there of an account that nobody knows.
func TestForgetsNobodyElse(t *testing.T) {
	for _, c := range []struct {
		limit Limit
		space Space
	}{
		{Window{Limit: 1, Length: time.Hour}, Space{Accounts: 2}},
		{Window{Limit: 1, Length: time.Hour, Terms: Terms{Per: Account}}, Space{}},
		{Window{Limit: 1, Length: time.Hour, Terms: Terms{Per: Organisation}}, Space{Accounts: 2}},
		{Semaphore{Limit: 1}, Space{Accounts: 2}},
		{Joint{Limit: 1, Length: 1, Terms: Terms{Per: Organisation}}, Space{Accounts: 2, OrgSize: 2}},
	} {
		p, err := New(Config{Space: c.space, Limits: []Limit{c.limit}, Capacity: Capacity{Service: takes(time.Hour)}}, draw.New(1))
		require.NoError(t, err)
		job := p.Step(0, &wire.Input{}, nil)[0]
		require.Equal(t, wire.Started, job.Kind)
		p.Forget(0)
		p.Forget(1)
		p.Forget(78)
		require.Equal(t, wire.Replied, p.Step(0, &wire.Input{}, nil)[0].Kind, "%#v", c.limit)
		p.Step(time.Hour, &wire.Input{Kind: wire.Done, Job: job.Job}, nil)
		require.Equal(t, wire.Started, p.Step(time.Hour, &wire.Input{}, nil)[0].Kind, "%#v", c.limit)
	}
	// One account is told apart too.
	p, err := New(Config{Space: Space{Accounts: 1}, Limits: []Limit{Window{Limit: 1, Length: time.Hour, Terms: Terms{Per: Account}}}}, draw.New(1))
	require.NoError(t, err)
	for range 3 {
		require.Equal(t, wire.Started, p.Step(0, &wire.Input{}, nil)[0].Kind)
		p.Forget(1)
		require.Equal(t, wire.Replied, p.Step(0, &wire.Input{}, nil)[0].Kind, "that was not he")
		p.Forget(0)
	}
}

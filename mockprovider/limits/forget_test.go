package limits

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// An account that is forgotten is as good as one that was never used, and nobody
// else notices; nor does its next owner notice the end of work that the former
// one still has under way. The twin forgets nobody: there, each owner has an
// account of his own.
func TestForgottenAccountsAreNew(t *testing.T) {
	for kind := range len(tested) + 2 {
		t.Run(append([]string{"semaphore", "joint"}, names()...)[kind], func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				limits := []mockprovider.Limit{limitOfKind(t, kind, rapid.SampledFrom([]mockprovider.Counted{mockprovider.Account, mockprovider.Account | mockprovider.Model}).Draw(t, "per"))}
				for range rapid.IntRange(0, 2).Draw(t, "more") {
					per := rapid.SampledFrom([]mockprovider.Counted{mockprovider.Everyone, mockprovider.Account, mockprovider.Key, mockprovider.Account | mockprovider.Model, mockprovider.Model, mockprovider.Organisation}).Draw(t, "per")
					limits = append(limits, limitOfKind(t, rapid.IntRange(0, len(tested)+1).Draw(t, "kind"), per))
				}
				checkForget(t, rapid.Permutation(limits).Draw(t, "order"))
			})
		})
	}
}

// names are those of the kinds of limits that count in time.
func names() (all []string) {
	for _, kind := range tested {
		all = append(all, kind.name)
	}
	return all
}

// checkForget plays requests to a provider that forgets accounts now and then,
// and to its twin.
func checkForget(t *rapid.T, limits []mockprovider.Limit) {
	const orgs, size, most = 2, 2, 50 // most owners of all accounts of an organisation
	cfg := mockprovider.Config{
		Space: mockprovider.Space{Accounts: orgs * size, OrgSize: size, Keys: 2, Models: 2}, Abandoned: mockprovider.Notice{Noticed: true}, Limits: limits,
		Capacity: mockprovider.Capacity{Slots: 3, Queue: 2, Service: takes(5)},
	}
	if rapid.Bool().Draw(t, "script") {
		per := rapid.SampledFrom([]mockprovider.Counted{mockprovider.Everyone, mockprovider.Account, mockprovider.Key, mockprovider.Organisation}).Draw(t, "script per")
		cfg.Faults = []mockprovider.Fault{{To: mockprovider.Forever, Does: faults.Script{Per: per, Answers: []mockprovider.Disturbance{nil, faults.Refuse{}, faults.Errors{When: faults.AfterWork}}}}}
	}
	p, err := mockprovider.New(cfg, draw.New(1))
	require.NoError(t, err)
	cfg.Accounts, cfg.OrgSize = orgs*most, most
	twin, err := mockprovider.New(cfg, draw.New(1))
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
}

// limitOfKind draws a small limit on anything, or such a limit for one model and
// another for the rest.
func limitOfKind(t *rapid.T, kind int, per mockprovider.Counted) mockprovider.Limit {
	terms := anyTerms(t)
	terms.Per = per
	var l mockprovider.Limit
	switch kind {
	case 0:
		l = Semaphore{Limit: smallLimit(t), Terms: mockprovider.Terms{Per: per, Charge: mockprovider.Charge{Count: terms.Charge.Count}}}
	case 1:
		l = Joint{Limit: smallLimit(t), Length: smallLength(t), Anchored: rapid.Bool().Draw(t, "anchored"), Terms: mockprovider.Terms{Per: per, Keep: terms.Keep}}
	default:
		l = tested[kind-2].draw(t, terms)
	}
	if rapid.IntRange(0, 3).Draw(t, "tiers") == 0 {
		return Tiered{{mockprovider.Match{Models: mockprovider.Just(0)}, l}, {mockprovider.Match{}, Semaphore{Limit: 1, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}
	}
	return l
}

// Where accounts are not told apart, or all are counted together, there is
// nothing to forget; nor is there of an account that nobody knows.
func TestForgetsNobodyElse(t *testing.T) {
	for _, c := range []struct {
		limit mockprovider.Limit
		space mockprovider.Space
	}{
		{Window{Limit: 1, Length: time.Hour}, mockprovider.Space{Accounts: 2}},
		{Window{Limit: 1, Length: time.Hour, Terms: mockprovider.Terms{Per: mockprovider.Account}}, mockprovider.Space{}},
		{Window{Limit: 1, Length: time.Hour, Terms: mockprovider.Terms{Per: mockprovider.Organisation}}, mockprovider.Space{Accounts: 2}},
		{Semaphore{Limit: 1}, mockprovider.Space{Accounts: 2}},
		{Joint{Limit: 1, Length: 1, Terms: mockprovider.Terms{Per: mockprovider.Organisation}}, mockprovider.Space{Accounts: 2, OrgSize: 2}},
	} {
		p, err := mockprovider.New(mockprovider.Config{Space: c.space, Limits: []mockprovider.Limit{c.limit}, Capacity: mockprovider.Capacity{Service: takes(time.Hour)}}, draw.New(1))
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
	p, err := mockprovider.New(mockprovider.Config{Space: mockprovider.Space{Accounts: 1}, Limits: []mockprovider.Limit{Window{Limit: 1, Length: time.Hour, Terms: mockprovider.Terms{Per: mockprovider.Account}}}}, draw.New(1))
	require.NoError(t, err)
	for range 3 {
		require.Equal(t, wire.Started, p.Step(0, &wire.Input{}, nil)[0].Kind)
		p.Forget(1)
		require.Equal(t, wire.Replied, p.Step(0, &wire.Input{}, nil)[0].Kind, "that was not he")
		p.Forget(0)
	}
}

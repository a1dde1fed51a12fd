package mockprovider_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// hung is a provider of one slot, for requests of a prompt of 100 tokens at 3 n$
// and an answer of 10 tokens at 20 n$: it takes 1 s to the first and 1 s more
// for each.
func hung(n mockprovider.Notice, d mockprovider.Discipline) mockprovider.Config {
	return mockprovider.Config{
		Capacity:  mockprovider.Capacity{Slots: 1, Queue: 3, Discipline: d, Service: mockprovider.Service{First: draw.Const(time.Second), PerToken: time.Second}},
		Models:    []mockprovider.ModelConfig{{Price: mockprovider.Price{Input: 3, Output: 20}}},
		Abandoned: n,
	}
}

func TestNobodyNotices(t *testing.T) {
	p := play(t, hung(mockprovider.Notice{}, mockprovider.Discipline{}), `
		arrive 1 input=100 tokens=10 -> 1 started 11s
		arrive 2 input=100 tokens=10 -> queued
		@2s abandon 1 -> nothing
		abandon 2 -> nothing
		@11s done 1 -> 1 200 ok slot=11s cost=500; 2 started 11s
		@22s done 2 -> 2 200 ok slot=11s cost=500`)
	require.Zero(t, p.TicketsKept(), "nothing needs them")
}

func TestHangUpsAreNoticedAtOnce(t *testing.T) {
	var told []string
	cfg := hung(mockprovider.Notice{Noticed: true}, mockprovider.Discipline{})
	cfg.Limits = []mockprovider.Limit{ledger{limits.Semaphore{Limit: 1}, &told}}
	p := play(t, cfg, `
		arrive 1 input=100 tokens=10 -> 1 started 11s
		arrive 2 input=100 tokens=10 -> queued
		arrive 3 input=100 tokens=10 stream=1 -> queued
		@500ms abandon 2 -> 2 dropped
		abandon 2 -> nothing
		abandon 77 -> nothing
		@3.5s abandon 1 -> 1 dropped slot=3.5s cost=360; 3 started 11s; 3 head in 1s   # three tokens
		abandon 1 -> nothing
		arrive 4 input=100 -> queued
		@11s done 1 -> nothing                                                          # its number is free now
		@14.5s done 3 -> 3 200 ok slot=11s cost=500; 4 started 1s
		@15s abandon 4 -> 4 dropped slot=500ms cost=300                                 # the prompt was read`)
	require.Zero(t, p.Busy())
	require.Equal(t, []string{
		"take 1", "take 2", "take 3", "release 2 cancelled at 500ms", "release 1 cancelled at 3.5s",
		"take 4", "release 3 ok at 14.5s", "release 4 cancelled at 15s",
	}, told)
}

func TestHangUpsAreNoticedLater(t *testing.T) {
	cfg := hung(mockprovider.Notice{Noticed: true, Delay: 2 * time.Second}, mockprovider.Discipline{})
	p := play(t, cfg, `
		arrive 1 tokens=10 -> 1 started 11s
		arrive 2 tokens=10 -> queued
		arrive 3 tokens=10 -> queued
		@1s abandon 1 -> nothing
		@1.5s abandon 3 -> nothing
		@2.999s tick -> nothing
		@3s tick -> 1 dropped slot=3s cost=60; 2 started 11s
		@3.5s tick -> 3 dropped
		@12.001s abandon 2 -> nothing
		@14s done 2 -> 2 200 ok slot=11s cost=200 # before anybody noticed
		arrive 4 -> 4 started 1s                               # in the same place
		@15s done 4 -> 4 200 ok slot=1s`)
	require.Equal(t, mockprovider.Forever, p.NextTick())
}

// The job of a notice may be another's by the time, even with the same ticket.
func TestNoticesOfWhatIsOver(t *testing.T) {
	p := play(t, hung(mockprovider.Notice{Noticed: true, Delay: 4 * time.Second}, mockprovider.Discipline{}), `
		arrive 1 -> 1 started 1s
		abandon 1 -> nothing
		@1s done 1 -> 1 200 ok slot=1s
		arrive 1 tokens=10 -> 1 started 11s
		@3s abandon 1 -> nothing
		@4s tick -> nothing
		@7s tick -> 1 dropped slot=6s cost=120
		done 1 -> nothing`)
	require.Zero(t, p.Busy())
	require.Equal(t, mockprovider.Forever, p.NextTick())
}

// Who has hung up is seen when his turn comes, where somebody looks.
func TestDropGone(t *testing.T) {
	play(t, hung(mockprovider.Notice{}, mockprovider.Discipline{DropGone: true}), `
		arrive 1 -> 1 started 1s
		arrive 2 -> queued
		arrive 3 -> queued
		arrive 4 -> queued
		abandon 1 -> nothing                                # nobody looks any more
		abandon 2 -> nothing
		@500ms arrive 5 -> 5 503 overloaded                # 2 has a place still
		@1s done 1 -> 1 200 ok slot=1s; 2 dropped; 3 started 1s`)
	// Also where he is dropped because it took too long.
	play(t, hung(mockprovider.Notice{}, mockprovider.Discipline{DropGone: true, MaxWait: time.Millisecond}), `
		arrive 1 -> 1 started 1s
		arrive 2 -> queued
		arrive 3 -> queued
		abandon 3 -> nothing
		@1s done 1 -> 1 200 ok slot=1s; 2 503 overloaded; 3 dropped`)
}

// The numbers of jobs that were cut short are not given to others before their
// Done, and are then.
func TestNumbersOfJobsCutShort(t *testing.T) {
	p, err := mockprovider.New(mockprovider.Config{Abandoned: mockprovider.Notice{Noticed: true}}, draw.New(1))
	require.NoError(t, err)
	arrive := func(ticket uint32) uint32 { return p.Step(0, &wire.Input{Ticket: ticket}, nil)[0].Job }
	first := arrive(1)
	require.Len(t, p.Step(0, &wire.Input{Kind: wire.Abandon, Ticket: 1}, nil), 1)
	second := arrive(2)
	require.NotEqual(t, first, second)
	require.Empty(t, p.Step(0, &wire.Input{Kind: wire.Done, Job: first}, nil))
	require.Empty(t, p.Step(0, &wire.Input{Kind: wire.Done, Job: first}, nil))
	require.Equal(t, first, arrive(3))
	require.NotEqual(t, first, arrive(4))
}

func TestNoticeValidate(t *testing.T) {
	want := "abandoned: the delay must be 0 to " + mockprovider.Longest.String() + ", and a provider that never notices has none"
	for _, n := range []mockprovider.Notice{{Noticed: true, Delay: -1}, {Delay: 1}, {Noticed: true, Delay: mockprovider.Forever}} {
		require.EqualError(t, (&mockprovider.Config{Abandoned: n}).Validate(), want)
	}
	require.NoError(t, (&mockprovider.Config{Abandoned: mockprovider.Notice{Noticed: true, Delay: time.Second}}).Validate())
}

// An error costs nothing, an answer that breaks off what was produced.
func TestFaultsAndCosts(t *testing.T) {
	cfg := hung(mockprovider.Notice{}, mockprovider.Discipline{})
	cfg.Faults = []mockprovider.Fault{
		{From: 0, To: time.Minute, Does: faults.Errors{When: faults.AfterWork}},
		{From: time.Minute, To: 2 * time.Minute, Does: faults.Spoil{Body: wire.TruncatedBody, Tokens: 4}},
	}
	play(t, cfg, `
		arrive 1 input=100 tokens=10 -> 1 started 11s
		@11s done 1 -> 1 500 server_error slot=11s
		@61s arrive 2 input=100 tokens=10 stream=1 -> 2 started 5s; 2 head in 1s
		@66s done 2 -> 2 200 disconnected cut body tokens=4 slot=5s cost=380`)
}

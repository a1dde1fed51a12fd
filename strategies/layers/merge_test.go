package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestMerge(t *testing.T) {
	merge := Merge{Size: 3, Window: time.Second, Scope: strategies.PerFleet}
	t.Run("complete", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{merge}, `
			a: begin -> queued until 1s
			@100ms b: begin -> follow
			@200ms c: begin -> follow
			a: admitted -> send
			d: begin -> queued until 1.2s           # the next batch
			a: 200 -> stop succeeded + land 2
			b: joined -> stop succeeded
			c: joined -> stop succeeded
			@1.2s d: admitted -> send               # for itself alone
			e: begin -> queued until 2.2s
			d: 503 -> stop failed overloaded + land 0`)
	})
	t.Run("all or nothing", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: time.Minute}}, merge}, `
			a: begin -> queued until 1s
			b: begin -> follow
			@1s a: admitted -> send
			a: 503 -> wait 1m + land 1
			b: joined -> wait 1m
			b: wake -> queued until 62s             # leads a batch of those who come again
			a: wake -> follow`)
	})
	t.Run("who leads and gives up is followed by the next", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{merge}, `
			a: begin -> queued until 1s
			a: cancelled -> stop withdrawn + land 0
			@500ms b: begin -> queued until 1.5s    # nobody was left
			c: begin -> follow`)
	})
}

// A thousand calls become a hundred requests, each asks for ten, and each call
// gets the fate of its request.
func TestMergeTenToOne(t *testing.T) {
	l := strategytest.NewLab(t, strategytest.Asking{Demand: wire.Demand{InputTokens: 5, OutputTokens: 7, MaxTokens: 9}}, Merge{Size: 10, Window: time.Minute, Scope: strategies.PerFleet})
	n := 0
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		require.Equal(t, wire.Demand{InputTokens: 50, OutputTokens: 70, MaxTokens: 90}, c.Demand)
		if n++; n%4 == 0 {
			return 10 * time.Second, strategytest.Refused(wire.BadRequest)
		}
		return 10 * time.Second, strategytest.Answered
	}
	fates := map[strategies.Reason]int{}
	l.Settled = func(c *strategytest.Caller, d strategies.Decision) { fates[d.End.Reason]++ }
	for i := range 1000 {
		l.At(time.Duration(i)*time.Millisecond, func() { l.Begin("a", i) })
	}
	l.Run(time.Hour)
	require.Equal(t, 100, len(l.Sent))
	require.Equal(t, map[strategies.Reason]int{strategies.Succeeded: 750, strategies.Failed: 250}, fates)
}

// Who completes a batch has the driver look at the line in which its leader
// stands.
func TestMergeWakesTheLeader(t *testing.T) {
	w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {Merge{Size: 2, Window: time.Second, Scope: strategies.PerFleet}}}, 1)
	w.Call("a").Next(strategies.Event{Kind: strategies.Begin})
	b := w.Call("b")
	b.Fleet.Program.Root.Next(0, &b.Call, strategies.Event{Kind: strategies.Begin})
	require.True(t, b.HasCommands())
}

// A call that is merged a second time asks for itself, not for those it led the
// first time.
func TestMergedAgain(t *testing.T) {
	l := strategytest.NewLab(t, strategytest.Asking{Demand: wire.Demand{InputTokens: 5}}, Retry{Backoff: backoffs.Fixed{Every: time.Minute}, MaxAttempts: 3}, Merge{Size: 3, Window: time.Second, Scope: strategies.PerFleet})
	var asked []uint32
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		asked = append(asked, c.Demand.InputTokens)
		return time.Second, strategytest.Refused(wire.Overloaded)
	}
	for i := range 3 {
		l.Begin("a", i)
	}
	l.Run(time.Hour)
	require.Equal(t, []uint32{15, 15, 15}, asked)
}

// Nobody is asked for who has left: neither followers, nor a leader in whose place
// another asks again.
func TestMergeWithoutThoseWhoLeft(t *testing.T) {
	l := strategytest.NewLab(t, strategytest.Asking{Demand: wire.Demand{InputTokens: 5}}, Merge{Size: 4, Window: time.Second, Scope: strategies.PerFleet})
	var asked []uint32
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		asked = append(asked, c.Demand.InputTokens)
		return time.Minute, strategytest.Answered
	}
	leader, early, late := l.Begin("a", 0), l.Begin("a", 1), l.Begin("a", 2)
	l.Withdraw(early)
	l.Run(10 * time.Second)
	require.Equal(t, []uint32{2 * 5}, asked, "the leader and one more")
	l.Withdraw(leader)
	require.Equal(t, []uint32{2 * 5, 5}, asked, "and that one alone")
	require.EqualValues(t, 1, late.Attempts)
	l.Begin("a", 3)
	l.Begin("a", 4)
	l.Run(20 * time.Second)
	require.Equal(t, []uint32{2 * 5, 5, 2 * 5}, asked, "the next batch knows nothing of it")
}

// A new leader of a batch that has gone does not wait for it again, nor take
// another's turn.
func TestMergeAfterALeaderGaveUp(t *testing.T) {
	l := strategytest.NewLab(t, Merge{Size: 2, Window: time.Hour, Scope: strategies.PerFleet})
	l.Serve = func(*strategytest.Caller) (time.Duration, wire.Outcome) { return time.Hour, strategytest.Answered }
	a := l.Begin("a", 0)
	b := l.Begin("a", 1)
	l.Run(1)
	require.Equal(t, 1, len(l.Sent))
	c := l.Begin("a", 2) // opens the next batch
	require.NotNil(t, c.Line)
	l.Withdraw(a)
	require.Equal(t, uint32(1), b.Attempts, "the follower asks again")
	require.NotNil(t, c.Line)
}

package strategies

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

func TestMerge(t *testing.T) {
	merge := Merge{Size: 3, Window: time.Second, Scope: PerFleet}
	t.Run("complete", func(t *testing.T) {
		play(t, []Layer{merge}, `
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
		play(t, []Layer{Retry{Backoff: Fixed{Every: time.Minute}}, merge}, `
			a: begin -> queued until 1s
			b: begin -> follow
			@1s a: admitted -> send
			a: 503 -> wait 1m + land 1
			b: joined -> wait 1m
			b: wake -> queued until 62s             # leads a batch of those who come again
			a: wake -> follow`)
	})
	t.Run("who leads and gives up is followed by the next", func(t *testing.T) {
		play(t, []Layer{merge}, `
			a: begin -> queued until 1s
			a: cancelled -> stop withdrawn + land 0
			@500ms b: begin -> queued until 1.5s    # nobody was left
			c: begin -> follow`)
	})
}

// A thousand calls become a hundred requests, each asks for ten, and each call
// gets the fate of its request.
func TestMergeTenToOne(t *testing.T) {
	l := newLab(t, allAsk{what: wire.Demand{InputTokens: 5, OutputTokens: 7, MaxTokens: 9}}, Merge{Size: 10, Window: time.Minute, Scope: PerFleet})
	n := 0
	l.serve = func(c *caller) (time.Duration, wire.Outcome) {
		require.Equal(t, wire.Demand{InputTokens: 50, OutputTokens: 70, MaxTokens: 90}, c.Demand)
		if n++; n%4 == 0 {
			return 10 * time.Second, refusedAs(wire.BadRequest)
		}
		return 10 * time.Second, okay
	}
	fates := map[Reason]int{}
	l.settled = func(c *caller, d Decision) { fates[d.End.Reason]++ }
	for i := range 1000 {
		l.at(time.Duration(i)*time.Millisecond, func() { l.begin("a", i) })
	}
	l.run(time.Hour)
	require.Equal(t, 100, len(l.sent))
	require.Equal(t, map[Reason]int{Succeeded: 750, Failed: 250}, fates)
}

// Who completes a batch has the driver look at the line in which its leader
// stands.
func TestMergeWakesTheLeader(t *testing.T) {
	w := newWorld(t, map[string][]Layer{"": {Merge{Size: 2, Window: time.Second, Scope: PerFleet}}}, 1)
	w.call("a").next(Event{Kind: Begin})
	b := w.call("b")
	b.fleet.program.Root.Next(0, &b.Call, Event{Kind: Begin})
	require.True(t, b.HasAsides())
}

// A call that is merged a second time asks for itself, not for those it led the
// first time.
func TestMergedAgain(t *testing.T) {
	l := newLab(t, allAsk{what: wire.Demand{InputTokens: 5}}, Retry{Backoff: Fixed{Every: time.Minute}, MaxAttempts: 3}, Merge{Size: 3, Window: time.Second, Scope: PerFleet})
	var asked []uint32
	l.serve = func(c *caller) (time.Duration, wire.Outcome) {
		asked = append(asked, c.Demand.InputTokens)
		return time.Second, refusedAs(wire.Overloaded)
	}
	for i := range 3 {
		l.begin("a", i)
	}
	l.run(time.Hour)
	require.Equal(t, []uint32{15, 15, 15}, asked)
}

// Nobody is asked for who has left: neither followers, nor a leader in whose place
// another asks again.
func TestMergeWithoutThoseWhoLeft(t *testing.T) {
	l := newLab(t, allAsk{what: wire.Demand{InputTokens: 5}}, Merge{Size: 4, Window: time.Second, Scope: PerFleet})
	var asked []uint32
	l.serve = func(c *caller) (time.Duration, wire.Outcome) {
		asked = append(asked, c.Demand.InputTokens)
		return time.Minute, okay
	}
	leader, early, late := l.begin("a", 0), l.begin("a", 1), l.begin("a", 2)
	l.withdraw(early)
	l.run(10 * time.Second)
	require.Equal(t, []uint32{2 * 5}, asked, "the leader and one more")
	l.withdraw(leader)
	require.Equal(t, []uint32{2 * 5, 5}, asked, "and that one alone")
	require.EqualValues(t, 1, late.Attempts)
	l.begin("a", 3)
	l.begin("a", 4)
	l.run(20 * time.Second)
	require.Equal(t, []uint32{2 * 5, 5, 2 * 5}, asked, "the next batch knows nothing of it")
}

// A new leader of a batch that has gone does not wait for it again, nor take
// another's turn.
func TestMergeAfterALeaderGaveUp(t *testing.T) {
	l := newLab(t, Merge{Size: 2, Window: time.Hour, Scope: PerFleet})
	l.serve = func(*caller) (time.Duration, wire.Outcome) { return time.Hour, okay }
	a := l.begin("a", 0)
	b := l.begin("a", 1)
	l.run(1)
	require.Equal(t, 1, len(l.sent))
	c := l.begin("a", 2) // opens the next batch
	require.NotNil(t, c.line)
	l.withdraw(a)
	require.Equal(t, uint32(1), b.Attempts, "the follower asks again")
	require.NotNil(t, c.line)
}

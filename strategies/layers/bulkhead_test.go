package layers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

func TestBulkhead(t *testing.T) {
	t.Run("refuses at once", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Retry{Backoff: backoffs.Fixed{Every: time.Second}}, Bulkhead{Permits: 2, Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> send
			c: begin -> stop limiter_refused concurrency
			a: 503 -> wait 1s                         # the permit is back
			c: begin -> send
			a: wake -> stop limiter_refused`)
	})
	t.Run("bounded line", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Bulkhead{Permits: 1, Line: 2, Scope: strategies.PerFleet}}, `
			a: begin -> send
			b: begin -> queued
			c: begin -> queued
			d: begin -> stop limiter_refused
			b: cancelled -> stop withdrawn
			d: begin -> queued
			e: begin -> stop limiter_refused
			a: 200 -> stop succeeded
			d: admitted -> refused                    # c came first
			c: admitted -> send
			e: begin -> queued`)
	})
	t.Run("bounded wait", func(t *testing.T) {
		strategytest.Play(t, []strategies.Layer{Bulkhead{Permits: 1, Line: 1, Patience: 3 * time.Second, Scope: strategies.PerFleet}}, `
			a: begin -> send
			@1s b: begin -> queued + wake 3s
			c: begin -> stop limiter_refused
			b: wake -> stop limiter_refused + leave
			c: begin -> queued + wake 3s
			a: 200 -> stop succeeded
			c: admitted -> send
			c: wake -> idle
			c: 200 -> stop succeeded
			d: begin -> send`)
	})
	t.Run("one purpose does not starve another", func(t *testing.T) {
		wall := func(name string) []strategies.Layer {
			return []strategies.Layer{Bulkhead{Permits: 1, Scope: strategies.PerEveryone, Name: name}}
		}
		strategytest.PlayFleets(t, map[string][]strategies.Layer{"batch": wall("batch"), "chat": wall("chat"), "more": wall("batch")}, `
			batch/a: begin -> send
			batch/b: begin -> stop limiter_refused
			more/a: begin -> stop limiter_refused     # the same purpose
			chat/a: begin -> send`)
	})
}

// Never are more under way than there are permits or more in line than may
// stand there, and at the end all are back.
func TestBulkheadConserves(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := Bulkhead{Permits: int64(rapid.IntRange(1, 3).Draw(rt, "permits")), Line: int64(rapid.IntRange(0, 3).Draw(rt, "line")),
			Patience: time.Duration(rapid.IntRange(0, 5).Draw(rt, "patience")), Scope: strategies.PerFleet}
		w := strategytest.NewWorld(t, map[string][]strategies.Layer{"": {h}}, 1)
		w.Direct = rapid.Bool().Draw(rt, "direct")
		busy := map[*strategytest.Caller]bool{}
		names := "abcdefgh"
		end := func(c *strategytest.Caller) {
			if c.Line != nil {
				w.Withdraw(c)
			} else if c.InFlight > 0 {
				c.Next(strategies.Event{Kind: strategies.Reply, Attempt: c.Attempts, Outcome: strategytest.Refusal(wire.NoHint)})
			}
			w.AdmitAll()
			delete(busy, c)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"begin": func(rt *rapid.T) {
				i := rapid.IntRange(0, len(names)-1).Draw(rt, "call")
				if c := w.Call(names[i : i+1]); !busy[c] {
					d := c.Next(strategies.Event{Kind: strategies.Begin})
					busy[c] = d.Kind == strategies.Send || d.Kind == strategies.Acquire
				}
			},
			"end": func(rt *rapid.T) {
				c := w.Call(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(rt, "who"))
				if busy[c] {
					end(c)
				}
			},
			"patience": func(rt *rapid.T) {
				c := w.Call(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(rt, "who"))
				if busy[c] && c.Waits && c.WakesAt >= w.Now {
					w.Now, c.Waits = c.WakesAt, false
					standing := c.Line != nil
					d := c.Next(strategies.Event{Kind: strategies.Wake})
					require.Equal(rt, standing, d.Kind == strategies.Stop)
					if standing {
						require.Nil(rt, c.Line)
						delete(busy, c)
						w.AdmitAll()
					}
				}
			},
			"": func(rt *rapid.T) {
				flying, standing := int64(0), int64(0)
				for c, ok := range busy {
					if ok && c.Line != nil {
						standing++
					} else if ok {
						flying++
					}
				}
				require.LessOrEqual(rt, flying, h.Permits)
				require.LessOrEqual(rt, standing, h.Line)
				require.True(rt, standing == 0 || flying == h.Permits, "no call waits while a permit is free")
				require.ElementsMatch(rt, []int64{standing, flying}, w.Fleets[""].Words)
			},
		})
	})
}

func TestBulkheadRejectsInvalidSettings(t *testing.T) {
	for want, h := range map[string]Bulkhead{
		"permits must be at least 1, not 0":                           {Scope: strategies.PerFleet},
		"line and patience must not be negative":                      {Permits: 1, Line: -1, Scope: strategies.PerFleet},
		"it cannot be shared per call; use client, fleet or everyone": {Permits: 1},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "bad", Layers: []strategies.Layer{h}}, nil)
		require.EqualError(t, err, `strategy "bad": bulkhead: `+want)
	}
}

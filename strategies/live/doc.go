// Package live runs strategies in production, as an http.RoundTripper around
// any other: the very programs that the simulator compares, told the same
// events and obeyed in the same way.
//
//	client := &http.Client{Transport: live.Must(live.Config{
//		Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{
//			strategies.Retry{Backoff: strategies.FullJitter{Base: time.Second, Cap: time.Minute}, MaxAttempts: 6},
//			strategies.TokenBucket{Rate: 84, Per: time.Minute, Burst: 3, Scope: strategies.PerFleet},
//		}},
//	})}
//
// A Transport is one client and its own fleet; what a layer shares with
// everyone is shared by the transports of one Everyone. It reads replies as its
// strategy's reader does, a 200 around a business code included, and gives the
// caller the last reply as it came over the wire. Where there is none, because
// the connection broke or the strategy never tried, it returns an *Error that
// says why.
//
// All decisions are made under one lock, which is held for less than a
// microsecond each time and never while anything is waited for.
package live

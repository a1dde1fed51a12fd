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
// What is no answer of a model (a list, an embedding, audio, a redirect) is judged
// by its status. A stream is read up to its first token; until then it can be
// tried again. Then it is the caller's: whatever else is under way for the call is
// given up, and the strategy hears how the stream ends when the caller has read
// it, has closed it or lets its context end. A caller must do one of these, as
// with any body, for until then the call holds its permits.
//
// Calls that ask the same, byte for byte, of the same URL with the same key may
// share an answer if the strategy has them do so; streams are not shared. How the
// requests of a Merge are put together, and how that of a Shrink into Pieces is
// taken apart, is yours to say (Config.Join, Part, Split and Combine), for there is
// no general way; without that such a strategy is refused, and so is one that does
// both.
//
// All decisions are made under one lock, which takes about a microsecond each time
// and is never held while anything is waited for: not for the network, not for a
// recorder. A panic of the base, the strategy, the recorder or a function of the
// Config goes to the goroutine that made the call, and what the call held is given
// back.
package live

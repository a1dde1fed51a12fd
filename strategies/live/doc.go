// Package live runs strategies in production: a [Transport] is an
// http.RoundTripper around another one. It runs the same programs as the
// simulator, with the same events, and carries out their decisions.
//
// Most users need three names: [Config], whose only required field is the
// strategy; [New], which returns the [Transport] for an http.Client; and
// [Recorder], which receives every attempt and call ([Metrics] records them for
// Prometheus, [Log] writes them to a slog.Logger).
//
//	client := &http.Client{Transport: live.Must(live.Config{
//		Strategy: strategies.Definition{Name: "mine", Layers: []strategies.Layer{
//			layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: time.Minute}, MaxAttempts: 6},
//			layers.TokenBucket{Rate: 84, Per: time.Minute, Burst: 3, Scope: strategies.PerFleet},
//		}},
//	})}
//
// # Scopes
//
// A Transport is one client in a fleet of its own. Layers with scope everyone
// share their memory with all transports that have the same [Shared].
//
// # Replies
//
// The strategy's reader interprets replies, for example a status 200 with a
// business code as a refusal. The caller gets the last reply as the provider sent
// it. If there is none, because the connection failed or the strategy sent no
// attempt, RoundTrip returns an [*Error] with the reason.
//
// A response that is not a model's answer (a list, an embedding, audio, a
// redirect) is judged by its status. A stream is read up to its first token; an
// error before that can be retried. After that, RoundTrip returns the stream and
// abandons everything else of the call. The strategy gets the end of the stream
// when the caller has read all of it, closes it, or ends its context. The caller
// must do one of these, because until then the call holds its permits.
//
// # Shared, merged and split requests
//
// Equal requests (the same body, URL and key) share an answer if the strategy
// does so; streams are not shared. A strategy with strategies.Merge needs
// Config.JoinRequests and Config.SplitReply; one with the Pieces of
// strategies.Shrink needs Config.SplitRequest and Config.JoinReplies. There is no
// general way to do this. A strategy can either merge or split.
//
// # Locking and panics
//
// All decisions are made under one lock. It is held for about a microsecond per
// decision, and never while waiting for the network or the recorder. A panic of
// the base, the strategy, the recorder or a function of the Config reaches the
// goroutine that made the call; what the call held is released.
package live

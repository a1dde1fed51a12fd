// Package backoffs provides the backoffs of retry loops: how long a loop waits
// before each retry, jitter included. A backoff returns a base, which a longer hint
// of the provider replaces, and the jitter that is added to it. Retries are numbered
// n = 0, 1, …, and U(a, b) is a draw from the uniform distribution on [a, b). Waits
// saturate at strategies.Never and never overflow.
//
// Most readers need three names: [FullJitter], the simplest backoff that spreads a
// herd; [Exponential], the backoff of most libraries; and [Capped], which bounds the
// whole wait of another backoff.
package backoffs

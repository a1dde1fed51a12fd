// Package layers has the layers of strategies: loops (retry, ladder, failover), limits
// on rates and on attempts in flight, breakers, retry budgets, hedges, caches, and
// what merges, splits or delays calls. They are built with the exported parts of
// package strategies; a layer of another module can do the same.
//
// Most readers need three names: [Retry] sends again what has failed, with a backoff
// of package backoffs; [TokenBucket] keeps below a known rate; [Breaker] stops
// attempts while the provider fails. The comment of each layer says when it is right
// and what it costs.
//
// Layers that several clients share have a Scope and, if everyone shares them, a
// Name. [Rules] say what a loop retries, [Hints] what it makes of the wait that a
// reply asks for.
package layers

// Package layers contains the layers of strategies: loops (retry, ladder,
// failover), limits on rates and on attempts in flight, breakers, retry budgets,
// hedges, caches, and layers that merge, split or delay calls. They use only the
// exported parts of package strategies; a layer of another module can do the same.
//
// Most readers need three names: [Retry] sends failed calls again, with a backoff
// of package backoffs; [TokenBucket] keeps attempts below a known rate; [Breaker]
// stops attempts while the provider fails. The comment of each layer states where
// to use it and what it costs.
//
// Layers that several clients can share have a Scope, and a Name for the scope
// everyone. [Rules] set which failures a loop retries, [Hints] the effect of the
// wait that a reply asks for.
package layers

// Package strategytest has drivers for tests of strategies. [Play] checks a strategy
// against a script that lists events and the decisions they must lead to. A [Lab] is a
// small simulator: many calls of one stack against a provider that is one function. A
// [Retrier] returns the waits of a retry loop.
package strategytest

// Package limits has every kind of limit of a provider.
//
// Each type is the configuration of one limit, with [mockprovider.Terms] for what
// limits share: which requests are counted together, what a request costs, and the
// form of a refusal. Most readers need three: [Window] for so many requests or tokens
// in a minute, [TokenBucket] for a rate with a burst, and [Semaphore] for requests in
// flight. [Tiered] and [Only] give different requests different limits.
//
// A new limit is one file, one test and one line in the table of specimens of the
// package's tests.
package limits

// Package validation holds the simulator to theory and to published results. It
// has tests only, which use the exported parts of the simulator.
//
// The tests compare runs with the closed forms of queueing theory (M/M/c, M/G/1,
// Erlang B and A, Engset, retrial queues), with published tables and studies
// (backoff and jitter, retry budgets, hedged requests, metastable failures), and
// with results derived by hand in the comment of each test. A mean over
// independent runs may differ from its reference by four standard errors.
//
// By default the tests use few seeds. HERDLAB_LONG=1 runs all of them.
package validation

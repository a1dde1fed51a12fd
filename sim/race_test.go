//go:build race

package sim_test

// racing says that the race detector is on: statistics take ten times as long
// under it, and have nothing to race with.
const racing = true

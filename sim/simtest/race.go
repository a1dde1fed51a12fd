//go:build race

package simtest

// Racing reports that the race detector is on: statistics take ten times as long
// with it and have no concurrent accesses to check.
const Racing = true

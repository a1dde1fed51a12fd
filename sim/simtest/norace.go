//go:build !race

package simtest

// Racing reports that the race detector is on.
const Racing = false

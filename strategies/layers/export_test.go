package layers

import "herdlab/strategies"

// What the tests of cases and laws need to know of the layers.
var (
	InHand     = inHand
	RoundsOver = roundsOver
	Times      = times
)

// WordInUse returns the word of a pool that counts the units in use, or the calls
// that wait for it; false if it has none.
func WordInUse(p strategies.Pool) (word uint32, ok bool) {
	switch p.(type) {
	case permits, adaptiveLimit, headerWindow:
		return 0, true
	case coolDownPool:
		return doorWaiting, true
	}
	return 0, false
}

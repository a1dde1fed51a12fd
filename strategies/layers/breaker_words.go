package layers

// breakerState is the state of a breaker, the count of consecutive failures while
// it is closed, and the serial number of its latest half-open time. The serial
// number distinguishes a probe whose permit went to another call from the later
// probe. All are in one word, because a million clients may have one each: the
// state in two bits, the failures above them, the serial number in the upper half.
type breakerState int64

// The states of a breaker.
const (
	closed = iota
	open
	halfOpen
)

const (
	stateMask  = 3
	oneFailure = stateMask + 1
	upperHalf  = 32
	lowerMask  = 1<<upperHalf - 1
)

func (s breakerState) state() int64    { return int64(s) & stateMask }
func (s breakerState) failures() int64 { return int64(s) & lowerMask / oneFailure }
func (s breakerState) serial() int64   { return int64(s) >> upperHalf }

// fresh reports whether the breaker is closed and has counted no failure.
func (s breakerState) fresh() bool { return s&lowerMask == closed }

func (s *breakerState) addFailure() { *s += oneFailure }
func (s *breakerState) close()      { *s &^= lowerMask }
func (s *breakerState) open()       { *s = *s&^lowerMask | open }

// halfOpen begins the next half-open time.
func (s *breakerState) halfOpen() { *s = breakerState(s.serial()+1)<<upperHalf | halfOpen }

// probePermit is 0, or the permit of a call that a half-open breaker has admitted:
// the serial number of the half-open time, and the number of the call's first
// attempt.
type probePermit int64

func permitOf(serial, attempt int64) probePermit { return probePermit(serial<<upperHalf | attempt) }

func (p probePermit) serial() int64  { return int64(p) >> upperHalf }
func (p probePermit) attempt() int64 { return int64(p) & lowerMask }

// probeCounts counts the probes of a half-open time by how they are: in flight, ended
// with a success, ended with a failure. Each count has 16 bits.
type probeCounts int64

const (
	countMask    = 1<<16 - 1
	onePermit    = 1
	oneSuccess   = 1 << 16
	oneFailedTry = 1 << 32
)

func (n probeCounts) inFlight() int64  { return int64(n) & countMask }
func (n probeCounts) successes() int64 { return int64(n) / oneSuccess & countMask }
func (n probeCounts) failures() int64  { return int64(n) / oneFailedTry }

// given returns how many permits have been used.
func (n probeCounts) given() int64 { return n.inFlight() + n.successes() + n.failures() }

func (n *probeCounts) begin()  { *n += onePermit }
func (n *probeCounts) cancel() { *n -= onePermit }

// end moves a probe in flight to the successes or the failures.
func (n *probeCounts) end(failed bool) {
	if *n -= onePermit; failed {
		*n += oneFailedTry
	} else {
		*n += oneSuccess
	}
}

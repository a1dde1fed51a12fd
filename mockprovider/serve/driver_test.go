package serve

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/sim/draw"
)

// watchedClock is a clock that reports when a timer is reset.
type watchedClock struct {
	*clockwork.FakeClock
	onReset func()
}

func (c watchedClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return watchedTimer{c.FakeClock.AfterFunc(d, f), c.onReset}
}

type watchedTimer struct {
	clockwork.Timer
	onReset func()
}

func (t watchedTimer) Reset(d time.Duration) bool {
	t.onReset()
	return t.Timer.Reset(d)
}

// The receiver of an update may advance the clock, so the timer is set before.
func TestTimerIsSetBeforeDelivery(t *testing.T) {
	var first, second exchange
	var received []int // the updates of first at each reset of the timer
	clock := watchedClock{clockwork.NewFakeClock(), func() { received = append(received, len(first.updates)) }}
	s := Must(Config{Clock: clock, Provider: mockprovider.Config{Capacity: mockprovider.Capacity{
		Service: mockprovider.Service{First: draw.Const(100 * time.Millisecond)},
	}}})
	d := s.run.Load().driver
	d.arrive(&first)
	clock.Advance(50 * time.Millisecond)
	d.arrive(&second)
	clock.Advance(50 * time.Millisecond)
	<-first.updates
	require.Equal(t, []int{0}, received)
	clock.Advance(50 * time.Millisecond)
	<-second.updates
}

package serve

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/sim/draw"
)

// watched is a clock that tells when a timer is set anew.
type watched struct {
	*clockwork.FakeClock
	set func()
}

func (c watched) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return watchedTimer{c.FakeClock.AfterFunc(d, f), c.set}
}

type watchedTimer struct {
	clockwork.Timer
	set func()
}

func (t watchedTimer) Reset(d time.Duration) bool {
	t.set()
	return t.Timer.Reset(d)
}

// Who hears of a reply may move the clock. So the alarm for the next one is set
// before.
func TestTheAlarmIsSetFirst(t *testing.T) {
	var first, second exchange
	var heard []int // at each setting of the alarm, how much the first has heard
	clock := watched{clockwork.NewFakeClock(), func() { heard = append(heard, len(first.updates)) }}
	s := Must(Config{Clock: clock, Provider: mockprovider.Config{Capacity: mockprovider.Capacity{
		Service: mockprovider.Service{First: draw.Const(100 * time.Millisecond)},
	}}})
	d := s.run.Load().driver
	d.arrive(&first)
	clock.Advance(50 * time.Millisecond)
	d.arrive(&second)
	clock.Advance(50 * time.Millisecond)
	<-first.updates
	require.Equal(t, []int{0}, heard)
	clock.Advance(50 * time.Millisecond)
	<-second.updates
}

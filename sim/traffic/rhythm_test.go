package traffic

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim/draw"
)

func TestRhythmAt(t *testing.T) {
	const s = time.Second
	once := Rhythm{Steps: []Beat{{10 * s, 3}, {20 * s, 0}}}
	daily := Rhythm{Steps: once.Steps, Every: 24 * s}
	for _, c := range []struct {
		y      Rhythm
		now    time.Duration
		factor float64
		until  time.Duration
	}{
		{once, 0, 1, 10 * s}, {once, 10 * s, 3, 20 * s}, {once, 19 * s, 3, 20 * s}, {once, 20 * s, 0, math.MaxInt64},
		{daily, 0, 0, 10 * s}, {daily, 10 * s, 3, 20 * s}, {daily, 21 * s, 0, 34 * s}, {daily, 24 * s, 0, 34 * s}, {daily, 34 * s, 3, 44 * s},
	} {
		factor, until := c.y.at(c.now)
		require.Equal(t, c.factor, factor, "%v", c.now)
		require.Equal(t, c.until, until, "%v", c.now)
	}
}

// A gap takes longer where the rate is low, and where it is 0 it waits.
func TestRhythmAfter(t *testing.T) {
	const s = time.Second
	y := Rhythm{Steps: []Beat{{10 * s, 0.5}, {20 * s, 0}, {30 * s, 2}}}
	for _, c := range [][3]time.Duration{{0, 3 * s, 3 * s}, {8 * s, 3 * s, 12 * s}, {10 * s, 5 * s, 20 * s}, {10 * s, 6 * s, 30500 * time.Millisecond}, {25 * s, 4 * s, 32 * s}} {
		at, ok := y.after(c[0], c[1])
		require.True(t, ok)
		require.Equal(t, c[2], at)
	}
	// A rhythm of a nanosecond is a constant, and takes no longer to work out.
	fast := Rhythm{Every: 2, Steps: []Beat{{0, 3}, {1, 0}}}
	at, ok := fast.after(0, 3*time.Hour)
	require.True(t, ok)
	require.Equal(t, 2*time.Hour, at)
	_, ok = (&Rhythm{Every: 2, Steps: []Beat{{0, 1e-18}}}).after(0, time.Hour)
	require.False(t, ok, "beyond all times")
	_, ok = (&Rhythm{Steps: []Beat{{0, 0}}}).after(0, s)
	require.False(t, ok)
	for _, bad := range []Rhythm{{Steps: []Beat{{0, 0}}}, {Steps: []Beat{{5, 1}, {5, 2}}}, {Steps: []Beat{{0, -1}}}, {Steps: []Beat{{9, 1}}, Every: 9}, {Every: -1}} {
		require.Error(t, bad.Validate())
	}
	require.NoError(t, y.Validate())
}

// Poisson traffic with a rhythm has as many calls in each part as its factor says.
func TestStreamWithARhythm(t *testing.T) {
	const s = time.Second
	st := Stream{Gap: draw.Expo(s / 100), Until: 4000 * s, Rhythm: Rhythm{Every: 40 * s, Steps: []Beat{{0, 2}, {10 * s, 0}, {30 * s, 0.5}}}}
	var in [3]float64
	for _, at := range arrivals(st, draw.New(5), 1_000_000) {
		switch phase := at % (40 * s); {
		case phase < 10*s:
			in[0]++
		case phase < 30*s:
			in[1]++
		default:
			in[2]++
		}
	}
	require.InDelta(t, 200_000, in[0], 5*math.Sqrt(200_000))
	require.Zero(t, in[1])
	require.InDelta(t, 50_000, in[2], 5*math.Sqrt(50_000))
}

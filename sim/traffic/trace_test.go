package traffic

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

func seconds(at ...int) *Trace {
	t := &Trace{Name: "seconds"}
	for i, s := range at {
		t.Rows = append(t.Rows, Row{time.Duration(s) * time.Second, wire.Demand{OutputTokens: uint32(i)}})
	}
	return t
}

func times(t *Trace) (all []time.Duration) {
	for _, r := range t.Rows {
		all = append(all, r.At)
	}
	return all
}

func TestTrace(t *testing.T) {
	trace := seconds(0, 1, 1, 5)
	require.Equal(t, 5*time.Second, trace.Span())
	require.Equal(t, 1.5, trace.MeanOutputTokens())
	var empty Trace
	require.Zero(t, empty.Span())
	require.Zero(t, empty.MeanOutputTokens())

	a := trace.Arrivals()
	prev := time.Duration(0)
	for i, want := range trace.Rows { // whoever draws and whatever came before
		at, ok := a.Next(draw.New(uint64(i)), uint64(i), prev)
		require.True(t, ok)
		require.Equal(t, want, Row{at, a.Demand(draw.New(9), uint64(i))})
		prev = at
	}
	_, ok := a.Next(draw.New(1), 4, prev)
	require.False(t, ok)
}

func TestCut(t *testing.T) {
	trace := seconds(0, 1, 1, 5, 9)
	for _, c := range []struct {
		from, to int
		want     *Trace
	}{
		{0, 0, seconds(0, 1, 1, 5, 9)},
		{0, 5, seconds(0, 1, 1)}, // the end is open
		{3, 0, seconds(2, 6)},    // the gap before the first stays
		{1, 6, seconds(0, 0, 4)},
		{6, 7, seconds()},
	} {
		got := trace.Cut(time.Duration(c.from)*time.Second, time.Duration(c.to)*time.Second)
		require.Equal(t, times(c.want), times(got), "%d to %d", c.from, c.to)
	}
	require.Equal(t, seconds(0, 1, 1, 5, 9), trace, "the original is untouched")
}

func TestScale(t *testing.T) {
	trace := seconds(0, 1, 1, 5)
	for rate, want := range map[float64][]time.Duration{
		1:   {0, 1e9, 1e9, 5e9},
		2:   {0, 5e8, 5e8, 25e8},
		0.5: {0, 2e9, 2e9, 10e9},
		3:   {0, 333333333, 333333333, 1666666667},
	} {
		got, err := trace.Scale(rate)
		require.NoError(t, err)
		require.Equal(t, want, times(got), rate)
		require.Equal(t, trace.Rows[3].Demand, got.Rows[3].Demand)
	}
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-300, 1e-9} {
		_, err := trace.Scale(rate)
		require.Error(t, err, rate)
	}
	long := &Trace{Rows: []Row{{}, {At: MaxSpan - 1}}} // not a float
	same, err := long.Scale(1)
	require.NoError(t, err)
	require.Equal(t, long, same)
	require.Equal(t, seconds(0, 1, 1, 5), trace, "the original is untouched")
}

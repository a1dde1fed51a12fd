package mockprovider

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStation(t *testing.T) {
	s := station{slots: 1, places: 2}
	s.enter()
	require.False(t, s.hasSlot())
	for job := range uint32(2) {
		require.True(t, s.hasPlace())
		s.queue.push(job + 7)
	}
	require.False(t, s.hasPlace())
	for job := range uint32(2) {
		next, waits := s.leave()
		require.True(t, waits)
		require.Equal(t, job+7, next, "first in, first out")
		require.True(t, s.hasSlot(), "for the next to enter")
		s.enter()
	}
	_, waits := s.leave()
	require.False(t, waits)
	require.Zero(t, s.busy)
	require.True(t, s.hasSlot())

	unbounded := station{}
	for range 1000 {
		require.True(t, unbounded.hasSlot())
		unbounded.enter()
	}
	require.False(t, unbounded.hasPlace())
}

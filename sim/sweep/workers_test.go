package sweep

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
)

// Experiments with many clients run one at a time, on any number of cores, to limit
// memory.
func TestWorkersLeaveRoomInMemory(t *testing.T) {
	for clients, want := range map[int]int{0: 8, 1: 8, 1_000_000: 8, 2_000_000: 5, 6_000_000: 1, 10_000_000: 1, 50_000_000: 1} {
		s := Spec{Workers: 8, Scenario: metrics.Scenario{Clients: clients}}
		require.Equal(t, want, s.workers(), "%d clients", clients)
	}
}

package sim_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
)

// ctx never ends.
var ctx = context.Background()

const (
	ms    = time.Millisecond
	never = time.Duration(math.MaxInt64)
)

// minute is the plan of a short run in bins of 10 ms.
var minute = metrics.Plan{Horizon: time.Minute, Bin: 10 * ms}

func scan(t testing.TB, line, format string, to ...any) {
	t.Helper()
	_, err := fmt.Sscanf(line, format, to...)
	require.NoError(t, err, line)
}

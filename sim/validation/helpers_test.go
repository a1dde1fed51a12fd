package validation

import (
	"context"
	"math"
	"time"

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

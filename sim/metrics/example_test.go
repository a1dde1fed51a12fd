package metrics_test

import (
	"fmt"
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/sim/metrics"
)

func ExampleRecorder() {
	r := metrics.NewRecorder(metrics.Plan{Horizon: time.Minute, OneShot: true})
	r.CallBegan(0)
	r.AttemptSent(1, false)
	r.AttemptArrived(0)
	r.Replied(wire.OK, 2*time.Second)
	r.AttemptEnded(metrics.Answered)
	r.CallSettled(2*time.Second, metrics.Settlement{Succeeded: true, Useful: true})
	report := r.Finish(2*time.Second, 0, func(func(time.Duration)) {})

	values := report.Values()
	fmt.Println(values[metrics.SuccessRate], values[metrics.LatencyP50], report.Check())
	// Output: 1 2 <nil>
}

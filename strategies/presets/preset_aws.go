package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The AWS SDKs recognise throttling by the name of the error in the body, with any
// status. Each client has its own retry budget.

// throttled are the classes whose errors have names for throttling.
const throttled = strategies.Limits

// awsLegacy is botocore's legacy mode (1.43.67), boto3's default: five attempts,
// waits of U(0, 1)·2ⁿ s, retries by status or error name, no retry budget.
func awsLegacy(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{body: true, trusts: true},
		Layers: []strategies.Layer{layers.Retry{
			Backoff:     backoffs.FullJitter{Base: time.Second},
			MaxAttempts: 5,
			On: layers.Rules{
				Classes:  strategies.Unanswered,
				Statuses: []layers.Statuses{layers.Status(429), layers.Status(500), {First: 502, Last: 504}, layers.Status(509)},
				Also:     throttled,
				Marks:    layers.MarksIgnored, Replay: layers.ReplayNothing,
			},
			Hints: ignored,
		}},
	}
}

// awsRules are the failures that the standard mode retries: by error name, and four
// statuses.
var awsRules = layers.Rules{
	Classes:  strategies.Unanswered,
	Statuses: []layers.Statuses{layers.Status(500), {First: 502, Last: 504}},
	Also:     throttled,
	Marks:    layers.MarksIgnored, Replay: layers.ReplayNothing,
}

// awsStandard is botocore's standard mode (1.43.67): three attempts, waits of
// U(0, 1)·min(2ⁿ, 20) s, and a retry budget of 500 tokens, of which a retry takes 5,
// or 10 after a timeout.
func awsStandard(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{body: true, trusts: true},
		Layers: []strategies.Layer{
			layers.AWSBudget{Capacity: 500, Cost: 5, Other: strategies.ClassesOf(wire.Timeout), OtherCost: 10, Scope: strategies.PerClient},
			layers.Retry{Backoff: backoffs.FullJitter{Base: time.Second, Cap: 20 * time.Second}, MaxAttempts: 3, On: awsRules, Hints: ignored},
		},
	}
}

// awsStandard2026 is the standard mode since 2026 (aws-sdk-go-v2 v1.48.0,
// botocore with AWS_NEW_RETRIES_2026): the base is 50 ms, and 1 s after
// throttling; a retry costs 14, and 5 after throttling; x-amz-retry-after, in
// milliseconds, is used but may lengthen the wait by at most 5 s. After two 503s, the
// third attempt starts within 150 ms.
func awsStandard2026(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{body: true, trusts: true, hints: spelled(wire.HeaderMillis)},
		Layers: []strategies.Layer{
			layers.AWSBudget{Capacity: 500, Cost: 14, Other: throttled, OtherCost: 5, Scope: strategies.PerClient},
			layers.Retry{
				Backoff: backoffs.ByClass{
					Classes: throttled,
					Then:    backoffs.FullJitter{Base: time.Second, Cap: 20 * time.Second},
					Else:    backoffs.FullJitter{Base: 50 * time.Millisecond, Cap: 20 * time.Second},
				},
				MaxAttempts: 3,
				On:          awsRules,
				Hints:       layers.Hints{Use: layers.HintClamped, Slack: 5 * time.Second},
			},
		},
	}
}

// awsAdaptive is botocore's adaptive mode (1.43.67): the standard mode, with a rate
// limiter in each client that every attempt must pass.
func awsAdaptive(k Knowledge) strategies.Definition {
	d := awsStandard(k)
	d.Layers = append(d.Layers, layers.AWSAdaptive{Scope: strategies.PerClient})
	return d
}

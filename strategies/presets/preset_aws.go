package presets

import (
	"time"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// The AWS SDKs tell throttling by the names of errors, under whatever status; a
// reader of bodies finds them. Their budgets are each client's own.

// throttled are the classes that have names for throttling.
const throttled = strategies.Limits

// awsLegacy is botocore's legacy mode (1.43.67), boto3's default: five attempts
// after U(0, 1)·2ⁿ s, by status or name, without a budget.
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

// awsRules are what the standard mode retries: names, and four statuses.
var awsRules = layers.Rules{
	Classes:  strategies.Unanswered,
	Statuses: []layers.Statuses{layers.Status(500), {First: 502, Last: 504}},
	Also:     throttled,
	Marks:    layers.MarksIgnored, Replay: layers.ReplayNothing,
}

// awsStandard is botocore's standard mode (1.43.67): three attempts after U(0,
// 1)·min(2ⁿ, 20) s, with a quota of 500 from which a retry takes 5, and 10 after a
// timeout.
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
// milliseconds, moves the wait by 5 s at most. A storm of 503 sees the third
// attempt within 150 ms.
func awsStandard2026(Knowledge) strategies.Definition {
	return strategies.Definition{
		Reader: sdkReader{body: true, trusts: true, hears: spelled(wire.HeaderMillis)},
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

// awsAdaptive is botocore's adaptive mode (1.43.67): the standard one, whose every
// attempt passes a rate limiter of the client's own.
func awsAdaptive(k Knowledge) strategies.Definition {
	d := awsStandard(k)
	d.Layers = append(d.Layers, layers.AWSAdaptive{Scope: strategies.PerClient})
	return d
}

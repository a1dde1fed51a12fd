package scenarios

import (
	"reflect"
	"slices"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/layers"
)

// words are what files call the values of enumerations, from 0 up; those without
// a word are not for files.
var words = map[reflect.Type][]string{
	reflect.TypeFor[strategies.Scope](): scopeWords(),
	reflect.TypeFor[layers.HintUse]():   {"as_base", "for_base", "as_wait", "as_floor", "clamped", "drawn", "ignored"},
	reflect.TypeFor[layers.Beyond]():    {"back_off", "give_up", "clip"},
	reflect.TypeFor[layers.MarkUse]():   {"stop", "decide", "ignored"},
	reflect.TypeFor[layers.Replay]():    {"undelivered", "nothing", "all", "only"},
	reflect.TypeFor[wire.Class]():       classWords(),
	reflect.TypeFor[wire.Spelling]():    spellingWords[:],
	reflect.TypeFor[wire.Body]():        {"", "", "", "stream_error", "silent_end", "cut_body", "garbage", "wrong_type", "doubled"},

	reflect.TypeFor[mockprovider.Unit]():       {"requests", "input_tokens", "output_tokens", "all_tokens"},
	reflect.TypeFor[mockprovider.Moment]():     {"at_admission", "reserved", "at_completion"},
	reflect.TypeFor[mockprovider.Settlement](): {"as_served", "refunded", "produced", "whole"},
	reflect.TypeFor[mockprovider.Keep]():       {"none", "others", "all"},
	reflect.TypeFor[mockprovider.Order]():      {"fifo", "lifo", "adaptive_lifo", "shortest_first", "urgent_first"},
	reflect.TypeFor[mockprovider.CurveKind]():  {"linear", "hyperbolic", "excess"},
	reflect.TypeFor[faults.Stage]():            {"at_arrival", "after_head", "after_work"},
}

// writable are the words among them.
func writable(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(w string) bool { return w == "" })
}

func scopeWords() (names []string) {
	for s := range strategies.Scope(strategies.NumScopes) {
		names = append(names, s.String())
	}
	return names
}

func classWords() (names []string) {
	for c := range wire.Class(wire.NumClasses) {
		names = append(names, c.String())
	}
	return names
}

// choices are what there is to choose from where a field is an interface.
var choices = map[reflect.Type]func() []kind{
	reflect.TypeFor[strategies.Layer]():   func() []kind { return layerKinds },
	reflect.TypeFor[strategies.Backoff](): func() []kind { return backoffKinds },
	reflect.TypeFor[layers.Trip]():        func() []kind { return trips },

	reflect.TypeFor[mockprovider.Limit]():       func() []kind { return limitKinds },
	reflect.TypeFor[mockprovider.Disturbance](): answers,
}

// layers are the layers that a stack may have. What one program keeps for itself
// belongs to a client unless the file says otherwise; what exists because it is
// shared, such as a limit that all keep below, belongs to the fleet.
var layerKinds = []kind{
	// Loops.
	{"retry", layers.Retry{}},
	{"ladder", layers.Ladder{}},
	{"failover", layers.Failover{Scope: strategies.PerClient}},
	{"key_rotation", layers.KeyRotation{Scope: strategies.PerClient}},
	{"deployments", layers.Deployments{Scope: strategies.PerClient}},
	{"orbit", layers.Orbit{Scope: strategies.PerFleet}},
	{"worker_queue", layers.WorkerQueue{Scope: strategies.PerFleet}},
	{"hedge", layers.Hedge{Scope: strategies.PerClient}},
	{"shrink", layers.Shrink{}},
	{"recursive_semaphore", layers.RecursiveSemaphore{Scope: strategies.PerClient}},
	// Rates.
	{"token_bucket", layers.TokenBucket{Scope: strategies.PerFleet}},
	{"gcra", layers.GCRA{Scope: strategies.PerFleet}},
	{"sliding_log", layers.SlidingLog{Scope: strategies.PerFleet}},
	{"sliding_counter", layers.SlidingCounter{Scope: strategies.PerFleet}},
	{"min_interval", layers.MinInterval{Scope: strategies.PerClient}},
	{"daily_budget", layers.DailyBudget{Scope: strategies.PerFleet}},
	{"header_limit", layers.HeaderLimit{Scope: strategies.PerClient}},
	{"aws_adaptive", layers.AWSAdaptive{Scope: strategies.PerClient}},
	// How many at a time.
	{"concurrency", layers.Concurrency{Scope: strategies.PerFleet}},
	{"bulkhead", layers.Bulkhead{Scope: strategies.PerFleet}},
	{"aimd", layers.AIMD{Scope: strategies.PerClient}},
	{"vegas", layers.Vegas{Scope: strategies.PerClient}},
	{"gradient2", layers.Gradient2{Scope: strategies.PerClient}},
	{"bbr", layers.BBR{Scope: strategies.PerClient}},
	// Protection.
	{"breaker", layers.Breaker{Scope: strategies.PerFleet}},
	{"throttle", layers.Throttle{Scope: strategies.PerClient}},
	{"shedder", layers.Shedder{Scope: strategies.PerFleet}},
	{"cool_down", layers.CoolDown{Scope: strategies.PerFleet}},
	{"grpc_budget", layers.GRPCBudget{Scope: strategies.PerClient}},
	{"finagle_budget", layers.FinagleBudget{Scope: strategies.PerClient}},
	{"envoy_budget", layers.EnvoyBudget{Scope: strategies.PerFleet}},
	{"aws_budget", layers.AWSBudget{Scope: strategies.PerClient}},
	{"brooker_budget", layers.BrookerBudget{Scope: strategies.PerClient}},
	{"attempt_timeout", layers.AttemptTimeout{}},
	{"deadline", layers.Deadline{}},
	// Avoiding the request.
	{"cache", layers.Cache{Scope: strategies.PerFleet}},
	{"single_flight", layers.SingleFlight{Scope: strategies.PerFleet}},
	{"merge", layers.Merge{Scope: strategies.PerFleet}},
	{"time_shift", layers.TimeShift{}},
	{"busy_hours", layers.BusyHours{Scope: strategies.PerFleet}},
	// Watching.
	{"quality", layers.Quality{}},
	{"capacity_alarm", layers.CapacityAlarm{Scope: strategies.PerFleet}},
	{"class_alarm", layers.ClassAlarm{Scope: strategies.PerFleet}},
	{"latched_class", layers.LatchedClass{Scope: strategies.PerClient}},
}

// backoffKinds are how a loop may wait.
var backoffKinds = []kind{
	{"fixed", backoffs.Fixed{}},
	{"uniform", backoffs.Uniform{}},
	{"linear", backoffs.Linear{}},
	{"exponential", backoffs.Exponential{}},
	{"full_jitter", backoffs.FullJitter{}},
	{"equal_jitter", backoffs.EqualJitter{}},
	{"decorrelated_jitter", backoffs.DecorrelatedJitter{}},
	{"polly_jitter", backoffs.PollyJitter{}},
	{"memoryless", backoffs.Memoryless{}},
	{"proportional", backoffs.Proportional{Low: 100, High: 100}},
	{"capped", backoffs.Capped{}},
	{"by_class", backoffs.ByClass{}},
}

// trips are when a breaker opens besides after so many failures in a row.
var trips = []kind{
	{"time_window", layers.TimeWindow{}},
	{"count_window", layers.CountWindow{}},
	{"lifetime", layers.Lifetime{}},
}

package scenarios

import (
	"reflect"
	"slices"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// words are what files call the values of enumerations, from 0 up; those without
// a word are not for files.
var words = map[reflect.Type][]string{
	reflect.TypeFor[strategies.Scope]():   scopeWords(),
	reflect.TypeFor[strategies.HintUse](): {"as_base", "for_base", "as_wait", "as_floor", "clamped", "drawn", "ignored"},
	reflect.TypeFor[strategies.Beyond]():  {"back_off", "give_up", "clip"},
	reflect.TypeFor[strategies.MarkUse](): {"stop", "decide", "ignored"},
	reflect.TypeFor[strategies.Replay]():  {"undelivered", "nothing", "all", "only"},
	reflect.TypeFor[wire.Class]():         classWords(),
	reflect.TypeFor[wire.Spelling]():      spellingWords[:],
	reflect.TypeFor[wire.Body]():          {"", "", "", "stream_error", "silent_end", "cut_body", "garbage", "wrong_type", "doubled"},

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
	reflect.TypeFor[strategies.Layer]():   func() []kind { return layers },
	reflect.TypeFor[strategies.Backoff](): func() []kind { return backoffs },
	reflect.TypeFor[strategies.Trip]():    func() []kind { return trips },

	reflect.TypeFor[mockprovider.Limit]():       func() []kind { return limitKinds },
	reflect.TypeFor[mockprovider.Disturbance](): answers,
}

// layers are the layers that a stack may have. What one program keeps for itself
// belongs to a client unless the file says otherwise; what exists because it is
// shared, such as a limit that all keep below, belongs to the fleet.
var layers = []kind{
	// Loops.
	{"retry", strategies.Retry{}},
	{"ladder", strategies.Ladder{}},
	{"failover", strategies.Failover{Scope: strategies.PerClient}},
	{"key_rotation", strategies.KeyRotation{Scope: strategies.PerClient}},
	{"deployments", strategies.Deployments{Scope: strategies.PerClient}},
	{"orbit", strategies.Orbit{Scope: strategies.PerFleet}},
	{"worker_queue", strategies.WorkerQueue{Scope: strategies.PerFleet}},
	{"hedge", strategies.Hedge{Scope: strategies.PerClient}},
	{"shrink", strategies.Shrink{}},
	{"recursive_semaphore", strategies.RecursiveSemaphore{Scope: strategies.PerClient}},
	// Rates.
	{"token_bucket", strategies.TokenBucket{Scope: strategies.PerFleet}},
	{"gcra", strategies.GCRA{Scope: strategies.PerFleet}},
	{"sliding_log", strategies.SlidingLog{Scope: strategies.PerFleet}},
	{"sliding_counter", strategies.SlidingCounter{Scope: strategies.PerFleet}},
	{"min_interval", strategies.MinInterval{Scope: strategies.PerClient}},
	{"daily_budget", strategies.DailyBudget{Scope: strategies.PerFleet}},
	{"header_limit", strategies.HeaderLimit{Scope: strategies.PerClient}},
	{"aws_adaptive", strategies.AWSAdaptive{Scope: strategies.PerClient}},
	// How many at a time.
	{"concurrency", strategies.Concurrency{Scope: strategies.PerFleet}},
	{"bulkhead", strategies.Bulkhead{Scope: strategies.PerFleet}},
	{"aimd", strategies.AIMD{Scope: strategies.PerClient}},
	{"vegas", strategies.Vegas{Scope: strategies.PerClient}},
	{"gradient2", strategies.Gradient2{Scope: strategies.PerClient}},
	{"bbr", strategies.BBR{Scope: strategies.PerClient}},
	// Protection.
	{"breaker", strategies.Breaker{Scope: strategies.PerFleet}},
	{"throttle", strategies.Throttle{Scope: strategies.PerClient}},
	{"shedder", strategies.Shedder{Scope: strategies.PerFleet}},
	{"cool_down", strategies.CoolDown{Scope: strategies.PerFleet}},
	{"grpc_budget", strategies.GRPCBudget{Scope: strategies.PerClient}},
	{"finagle_budget", strategies.FinagleBudget{Scope: strategies.PerClient}},
	{"envoy_budget", strategies.EnvoyBudget{Scope: strategies.PerFleet}},
	{"aws_budget", strategies.AWSBudget{Scope: strategies.PerClient}},
	{"brooker_budget", strategies.BrookerBudget{Scope: strategies.PerClient}},
	{"attempt_timeout", strategies.AttemptTimeout{}},
	{"deadline", strategies.Deadline{}},
	// Avoiding the request.
	{"cache", strategies.Cache{Scope: strategies.PerFleet}},
	{"single_flight", strategies.SingleFlight{Scope: strategies.PerFleet}},
	{"merge", strategies.Merge{Scope: strategies.PerFleet}},
	{"time_shift", strategies.TimeShift{}},
	{"busy_hours", strategies.BusyHours{Scope: strategies.PerFleet}},
	// Watching.
	{"quality", strategies.Quality{}},
	{"capacity_alarm", strategies.CapacityAlarm{Scope: strategies.PerFleet}},
	{"class_alarm", strategies.ClassAlarm{Scope: strategies.PerFleet}},
	{"latched_class", strategies.LatchedClass{Scope: strategies.PerClient}},
}

// backoffs are how a loop may wait.
var backoffs = []kind{
	{"fixed", strategies.Fixed{}},
	{"uniform", strategies.Uniform{}},
	{"linear", strategies.Linear{}},
	{"exponential", strategies.Exponential{}},
	{"full_jitter", strategies.FullJitter{}},
	{"equal_jitter", strategies.EqualJitter{}},
	{"decorrelated_jitter", strategies.DecorrelatedJitter{}},
	{"polly_jitter", strategies.PollyJitter{}},
	{"memoryless", strategies.Memoryless{}},
	{"proportional", strategies.Proportional{Low: 100, High: 100}},
	{"capped", strategies.Capped{}},
	{"by_class", strategies.ByClass{}},
}

// trips are when a breaker opens besides after so many failures in a row.
var trips = []kind{
	{"time_window", strategies.TimeWindow{}},
	{"count_window", strategies.CountWindow{}},
	{"lifetime", strategies.Lifetime{}},
}

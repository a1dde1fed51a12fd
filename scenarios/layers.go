package scenarios

import (
	"reflect"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
)

// words are what files call the values of enumerations, from 0 up.
var words = map[reflect.Type][]string{
	reflect.TypeFor[strategies.Scope](): scopeWords(),
	reflect.TypeFor[wire.Class]():       classWords(),
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
}

// layers are the layers that a stack may have.
var layers = []kind{
	{"retry", strategies.Retry{}},
	{"breaker", strategies.Breaker{Scope: strategies.PerFleet}},
	{"token_bucket", strategies.TokenBucket{Scope: strategies.PerFleet}},
	{"concurrency", strategies.Concurrency{Scope: strategies.PerFleet}},
}

// backoffs are how a retry loop may wait.
var backoffs = []kind{
	{"fixed", strategies.Fixed{}},
	{"uniform", strategies.Uniform{}},
	{"exponential", strategies.Exponential{}},
	{"full_jitter", strategies.FullJitter{}},
	{"equal_jitter", strategies.EqualJitter{}},
	{"decorrelated_jitter", strategies.DecorrelatedJitter{}},
}

package layers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/backoffs"
	"herdlab/strategies/strategytest"
)

// What makes no sense is said when the stack is built: what is wrong, where, and
// what to write instead.
func TestMisconfiguredLayers(t *testing.T) {
	const s, fleet = time.Second, strategies.PerFleet
	two := []uint8{0, 1}
	for want, layer := range map[string]strategies.Layer{
		"gcra: rate must be positive, not 0 per 1s":                                                             GCRA{Per: s, Burst: 1, Scope: fleet},
		"gcra: burst must be at least 1, not 0":                                                                 GCRA{Rate: 1, Per: s, Scope: fleet},
		"gcra: a burst of 9223372036854775807 at 1 per 1s overflows; take a smaller burst":                      GCRA{Rate: 1, Per: s, Burst: math.MaxInt64, Scope: fleet},
		"gcra: what everyone shares needs a name":                                                               GCRA{Rate: 1, Per: s, Burst: 1, Scope: strategies.PerEveryone},
		"sliding log: rate must allow 1 to 1023 attempts per interval, not 0; for more, use sliding_counter":    SlidingLog{Length: s, Scope: fleet},
		"sliding log: rate must allow 1 to 1023 attempts per interval, not 1024; for more, use sliding_counter": SlidingLog{Limit: 1024, Length: s, Scope: fleet},
		"sliding log: the interval of rate must be positive, not 0s":                                            SlidingLog{Limit: 1, Scope: fleet},
		"sliding log: it cannot be shared per call; use client, fleet or everyone":                              SlidingLog{Limit: 1, Length: s},
		"sliding counter: rate must be positive, not 0 per 1s":                                                  SlidingCounter{Length: s, Scope: fleet},
		"sliding counter: a rate of 9223372036854775807 per 1s overflows; write it with a shorter interval":     SlidingCounter{Limit: math.MaxInt64, Length: s, Scope: fleet},
		"sliding counter: it cannot be shared per call; use client, fleet or everyone":                          SlidingCounter{Limit: 1, Length: s},
		"min interval: every must be positive, not 0s":                                                          MinInterval{Scope: fleet},
		"min interval: jitter must not be negative":                                                             MinInterval{Every: s, Jitter: -1, Scope: fleet},
		"min interval: what everyone shares needs a name":                                                       MinInterval{Every: s, Scope: strategies.PerEveryone},
		"worker queue: workers must not be negative; 0 means no bound":                                          WorkerQueue{Rate: 1, Per: s, Workers: -1, Scope: fleet},
		"worker queue: token bucket: rate must be positive, not 0 per 1s":                                       WorkerQueue{Per: s, Scope: fleet},
		"worker queue: retry: max_attempts must not be negative; 0 means no bound":                              WorkerQueue{Rate: 1, Per: s, MaxAttempts: -1, Scope: fleet},
		"daily budget: percent must be 1 to 100, not 101":                                                       DailyBudget{Quota: 1, Percent: 101, Scope: fleet},
		"daily budget: quota must be positive and not too large, not 0":                                         DailyBudget{Scope: fleet},
		"daily budget: 70 % of 1 is less than one attempt per day; take a larger quota or percent":              DailyBudget{Quota: 1, Scope: fleet},
		"daily budget: per must be positive and offset at least 0 and less than per, not 24h0m0s and 24h0m0s":   DailyBudget{Quota: 9, Offset: aDay, Scope: fleet},
		"daily budget: carry must not be negative; 0 means that nothing is saved":                               DailyBudget{Quota: 9, Carry: -1, Scope: fleet},
		"daily budget: it cannot be shared per call; use client, fleet or everyone":                             DailyBudget{Quota: 9},
		"recursive semaphore: permits must be at least 1, not 0":                                                RecursiveSemaphore{Retry: Retry{Backoff: backoffs.Fixed{}}, Scope: fleet},
		"recursive semaphore: what everyone shares needs a name":                                                RecursiveSemaphore{Retry: Retry{Backoff: backoffs.Fixed{}}, Permits: 1, Scope: strategies.PerEveryone},
		"recursive semaphore: retry: backoff is required; for retries without a wait use fixed with 0s":         RecursiveSemaphore{Permits: 1, Scope: fleet},
		"header limit: percent must be 0 to 99":                                                                 HeaderLimit{Percent: 100, Scope: fleet},
		"header limit: it cannot be shared per call; use client, fleet or everyone":                             HeaderLimit{},

		"aimd: initial, min and max must be 1 ≤ min ≤ initial ≤ max ≤ 1000000, not 5, 6 and 200":      AIMD{LimitRange: LimitRange{Initial: 5, Min: 6}, Scope: fleet},
		"aimd: initial, min and max must be 1 ≤ min ≤ initial ≤ max ≤ 1000000, not 5, 1 and 1000001":  AIMD{LimitRange: LimitRange{Initial: 5, Max: 1_000_001}, Scope: fleet},
		"aimd: initial, min and max must be 1 ≤ min ≤ initial ≤ max ≤ 1000000, not -5, 1 and 200":     AIMD{LimitRange: LimitRange{Initial: -5}, Scope: fleet},
		"aimd: increase must be 1 to 1000000, not -1":                                                 AIMD{Increase: -1, Scope: fleet},
		"aimd: decrease must be between 0 and 1, not 1":                                               AIMD{Decrease: 1, Scope: fleet},
		"aimd: decrease must be between 0 and 1, not NaN":                                             AIMD{Decrease: math.NaN(), Scope: fleet},
		"aimd: slow must not be negative, but is -1ns; 0 means that no success counts as a refusal":   AIMD{Slow: -1, Scope: fleet},
		"aimd: it cannot be shared per call; use client, fleet or everyone":                           AIMD{},
		"vegas: initial, min and max must be 1 ≤ min ≤ initial ≤ max ≤ 1000000, not 20, 1 and -1":     Vegas{LimitRange: LimitRange{Max: -1}, Scope: fleet},
		"vegas: smoothing must be above 0 and at most 1, not 2":                                       Vegas{Smoothing: 2, Scope: fleet},
		"vegas: what everyone shares needs a name":                                                    Vegas{Scope: strategies.PerEveryone},
		"gradient2: initial, min and max must be 1 ≤ min ≤ initial ≤ max ≤ 1000000, not 20, 20 and 5": Gradient2{LimitRange: LimitRange{Initial: 20, Min: 20, Max: 5}, Scope: fleet},
		"gradient2: tolerance must be 1 to 1000, not 0.5":                                             Gradient2{Tolerance: 0.5, Scope: fleet},
		"gradient2: queue must be 1 to 1000000, not -1":                                               Gradient2{Queue: -1, Scope: fleet},
		"gradient2: it cannot be shared per call; use client, fleet or everyone":                      Gradient2{},
		"bbr: initial, min and max must be 1 ≤ min ≤ initial ≤ max ≤ 1000000, not 1, 2 and 1000":      BBR{LimitRange: LimitRange{Initial: 1, Min: 2}, Scope: fleet},
		"bbr: window must be positive, not -1s":                                                       BBR{Window: -s, Scope: fleet},
		"bbr: it cannot be shared per call; use client, fleet or everyone":                            BBR{},
		"aws adaptive: it cannot be shared per call; use client, fleet or everyone":                   AWSAdaptive{},

		"ladder: rungs must have at least one entry: a model and its number of tries":                   Ladder{},
		"ladder: rung 1: tries must not be -1; write 1 to 1048576, or 0 for once":                       Ladder{Rungs: []Rung{{Tries: -1}}},
		"ladder: model 3 has two rungs; give one of them more tries":                                    Ladder{Rungs: []Rung{{Model: 3}, {Model: 3}}},
		"ladder: exponential: base must be positive, not 0s":                                            Ladder{Rungs: twoOneOne, Backoff: backoffs.Exponential{}},
		"ladder: 99 to 99 is not a range of HTTP statuses; write 100 to 999, the lower one first":       Ladder{Rungs: twoOneOne, On: Rules{Statuses: []Statuses{Status(99)}}},
		"failover: the list must have at least two entries":                                             Failover{Regions: []uint8{1}, Scope: fleet},
		"failover: number 1 is twice in the list; leave one out":                                        Failover{Regions: []uint8{1, 1}, Rounds: 1, Scope: fleet},
		"failover: rounds must not be negative; 0 means no bound":                                       Failover{Regions: two, Rounds: -1, Scope: fleet},
		"failover: backoff is required unless rounds is 1; for rounds without a wait use fixed with 0s": Failover{Regions: two, Scope: fleet},
		"failover: stay must not be negative, but is -1s":                                               Failover{Regions: two, Rounds: 1, Stay: -s, Scope: fleet},
		"failover: fixed: every and jitter must not be negative":                                        Failover{Regions: two, Backoff: backoffs.Fixed{Every: -1}, Scope: fleet},
		"failover: it cannot be shared per call; use client, fleet or everyone":                         Failover{Regions: two, Rounds: 1},
		"key rotation: the list must have at least two entries":                                         KeyRotation{Scope: fleet},
		"deployments: targets must have 1 to 256 entries, not 0":                                        Deployments{Scope: fleet},
		"deployments: max_attempts, cool_down and jitter must not be negative":                          Deployments{Targets: strategytest.Targets(2), Jitter: -1, Scope: fleet},
		"deployments: percent must be 1 to 100, and least and fails must not be negative":               Deployments{Targets: strategytest.Targets(2), Percent: 101, Scope: fleet},
		"deployments: full_jitter: base must be positive, not 0s":                                       Deployments{Targets: strategytest.Targets(2), Backoff: backoffs.FullJitter{}, Scope: fleet},
		"deployments: it cannot be shared per call; use client, fleet or everyone":                      Deployments{Targets: strategytest.Targets(2)},
		"hedge: after must be positive":                                                                 Hedge{Scope: fleet},
		"hedge: quantile must be at least 0 and below 1, not 1":                                         Hedge{After: s, Quantile: 1, Scope: fleet},
		"hedge: percent must be 1 to 800, or 0 for no bound":                                            Hedge{After: s, Percent: 801, Scope: fleet},
		"hedge: a race has 2 to 8 runners, not 9":                                                       Hedge{After: s, Attempts: 9, Scope: fleet},
		"hedge: it cannot be shared per call; use client, fleet or everyone":                            Hedge{After: s},

		"cache: ttl must be positive":                  Cache{Scope: fleet},
		"cache: entries must be 1 to 65536, not 65537": Cache{TTL: s, Entries: 65537, Scope: fleet},
		"cache: entries must be at most 512 with the scope client, not 513; use the scope fleet to keep more": Cache{TTL: s, Entries: 513, Scope: strategies.PerClient},
		"cache: it cannot be shared per call; use client, fleet or everyone":                                  Cache{TTL: s},
		"single flight: it cannot be shared per call; use client, fleet or everyone":                          SingleFlight{},
		"merge: size must be 2 to 1000, not 1":                                                                Merge{Size: 1, Window: s, Scope: fleet},
		"merge: window must be positive":                                                                      Merge{Size: 2, Scope: fleet},
		"merge: what everyone shares needs a name":                                                            Merge{Size: 2, Window: s, Scope: strategies.PerEveryone},
		"time shift: every, at and window must not be negative":                                               TimeShift{Window: -1},
		"time shift: at must be less than every, but is 25h0m0s with a period of 24h0m0s":                     TimeShift{Every: aDay, At: 25 * time.Hour},
		"time shift: every or window must be positive; otherwise it delays no call":                           TimeShift{},
		"busy hours: percent must be 1 to 100, and least and half_life must not be negative":                  BusyHours{Percent: 101, Scope: fleet},
		"busy hours: parts must be 2 to 512, not 1":                                                           BusyHours{Parts: 1, Scope: fleet},
		"busy hours: day must be at least 1 ns for each of its parts":                                         BusyHours{Day: 23, Scope: fleet},
		"busy hours: it cannot be shared per call; use client, fleet or everyone":                             BusyHours{},
		"shrink: context, output or pieces must be set, for example context: 0.5 to halve the context":        Shrink{},
		"shrink: context and output must be at least 0 and below 1, not 1 and 0":                              Shrink{Context: 1},
		"shrink: pieces must be 2 to 1000, or 0 for no split, not 1":                                          Shrink{Pieces: 1},
		"shrink: times must not be negative; 0 means once":                                                    Shrink{Pieces: 2, Times: -1},
		"shrink: uniform: low 2s and high 1s are not a range; use 0s ≤ low ≤ high":                            Shrink{Pieces: 2, Backoff: backoffs.Uniform{Low: 2 * s, High: s}},

		"quality: percent must be 0 to 100, not 101":                                           Quality{Percent: 101},
		"quality: accept must contain probabilities from 0 to 1":                               Quality{Accept: []float64{1.5}},
		"capacity alarm: after must be positive and least not negative, but they are 0s and 5": CapacityAlarm{Scope: fleet},
		"capacity alarm: it cannot be shared per call; use client, fleet or everyone":          CapacityAlarm{After: s},
		"class alarm: it cannot be shared per call; use client, fleet or everyone":             ClassAlarm{},
		"latched class: what everyone shares needs a name":                                     LatchedClass{Scope: strategies.PerEveryone},
	} {
		_, err := strategies.Compile(strategies.Definition{Name: "x", Layers: []strategies.Layer{layer}}, nil)
		require.EqualError(t, err, `strategy "x": `+want)
	}
}

// Those who share a thing with everyone must agree on what it is.
func TestWhatEveryoneSharesAgrees(t *testing.T) {
	for name, c := range map[string][2]strategies.Layer{
		"gcra":      {GCRA{Rate: 1, Per: 1, Burst: 1, Scope: strategies.PerEveryone, Name: "x"}, GCRA{Rate: 1, Per: 1, Burst: 2, Scope: strategies.PerEveryone, Name: "x"}},
		"aimd":      {AIMD{Scope: strategies.PerEveryone, Name: "x"}, AIMD{LimitRange: LimitRange{Initial: 5}, Scope: strategies.PerEveryone, Name: "x"}},
		"failover":  {Failover{Regions: []uint8{0, 1}, Rounds: 1, Scope: strategies.PerEveryone, Name: "x"}, Failover{Regions: []uint8{1, 0}, Rounds: 1, Scope: strategies.PerEveryone, Name: "x"}},
		"cache":     {Cache{TTL: 1, Scope: strategies.PerEveryone, Name: "x"}, Cache{TTL: 2, Scope: strategies.PerEveryone, Name: "x"}},
		"hedge":     {Hedge{After: 1, Scope: strategies.PerEveryone, Name: "x"}, Hedge{After: 2, Scope: strategies.PerEveryone, Name: "x"}},
		"merge":     {Merge{Size: 2, Window: 1, Scope: strategies.PerEveryone, Name: "x"}, Merge{Size: 3, Window: 1, Scope: strategies.PerEveryone, Name: "x"}},
		"class log": {CapacityAlarm{After: 1, Scope: strategies.PerEveryone, Name: "x"}, CapacityAlarm{After: 1, On: 1 << wire.Rate, Scope: strategies.PerEveryone, Name: "x"}},
	} {
		commons := strategies.NewSharedMemory()
		compile := func(l strategies.Layer) error {
			_, err := strategies.Compile(strategies.Definition{Name: "x", Layers: []strategies.Layer{l}}, commons)
			return err
		}
		require.NoError(t, compile(c[0]), name)
		require.NoError(t, compile(c[0]), name)
		require.ErrorContains(t, compile(c[1]), "but differ", name)
	}
}

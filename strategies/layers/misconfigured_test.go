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
		"gcra: the rate must be positive, not 0 per 1s":                                                          GCRA{Per: s, Burst: 1, Scope: fleet},
		"gcra: the burst must be at least 1, not 0":                                                              GCRA{Rate: 1, Per: s, Scope: fleet},
		"gcra: a burst of 9223372036854775807 at 1 per 1s overflows; take a smaller burst":                       GCRA{Rate: 1, Per: s, Burst: math.MaxInt64, Scope: fleet},
		"gcra: what everyone shares needs a name":                                                                GCRA{Rate: 1, Per: s, Burst: 1, Scope: strategies.PerEveryone},
		"sliding log: the limit must be 1 to 1023, not 0; a sliding counter takes larger ones":                   SlidingLog{Length: s, Scope: fleet},
		"sliding log: the limit must be 1 to 1023, not 1024; a sliding counter takes larger ones":                SlidingLog{Limit: 1024, Length: s, Scope: fleet},
		"sliding log: the interval must be positive, not 0s":                                                     SlidingLog{Limit: 1, Scope: fleet},
		"sliding log: it cannot be shared per call; use client, fleet or everyone":                               SlidingLog{Limit: 1, Length: s},
		"sliding counter: the limit must be positive, not 0 per 1s":                                              SlidingCounter{Length: s, Scope: fleet},
		"sliding counter: 9223372036854775807 per 1s overflows; take a shorter interval":                         SlidingCounter{Limit: math.MaxInt64, Length: s, Scope: fleet},
		"sliding counter: it cannot be shared per call; use client, fleet or everyone":                           SlidingCounter{Limit: 1, Length: s},
		"min interval: the interval must be positive, not 0s":                                                    MinInterval{Scope: fleet},
		"min interval: the jitter must not be negative":                                                          MinInterval{Every: s, Jitter: -1, Scope: fleet},
		"min interval: what everyone shares needs a name":                                                        MinInterval{Every: s, Scope: strategies.PerEveryone},
		"worker queue: the number of workers must not be negative; 0 means any number":                           WorkerQueue{Rate: 1, Per: s, Workers: -1, Scope: fleet},
		"worker queue: token bucket: the rate must be positive, not 0 per 1s":                                    WorkerQueue{Per: s, Scope: fleet},
		"worker queue: retry: max attempts must not be negative; 0 means no bound":                               WorkerQueue{Rate: 1, Per: s, MaxAttempts: -1, Scope: fleet},
		"daily budget: the share must be 1 to 100 percent, not 101":                                              DailyBudget{Quota: 1, Percent: 101, Scope: fleet},
		"daily budget: the quota must be positive and countable, not 0":                                          DailyBudget{Scope: fleet},
		"daily budget: 70 % of 1 is less than one attempt a day":                                                 DailyBudget{Quota: 1, Scope: fleet},
		"daily budget: a day of 24h0m0s cannot begin at 24h0m0s; it begins at 0 or later, and before it is over": DailyBudget{Quota: 9, Offset: aDay, Scope: fleet},
		"daily budget: what days save up must not be negative; 0 means nothing":                                  DailyBudget{Quota: 9, Carry: -1, Scope: fleet},
		"daily budget: it cannot be shared per call; use client, fleet or everyone":                              DailyBudget{Quota: 9},
		"recursive semaphore: permits must be at least 1, not 0":                                                 RecursiveSemaphore{Retry: Retry{Backoff: backoffs.Fixed{}}, Scope: fleet},
		"recursive semaphore: what everyone shares needs a name":                                                 RecursiveSemaphore{Retry: Retry{Backoff: backoffs.Fixed{}}, Permits: 1, Scope: strategies.PerEveryone},
		"recursive semaphore: retry: it needs a backoff; a fixed one of 0 retries at once":                       RecursiveSemaphore{Permits: 1, Scope: fleet},
		"header limit: the share left for others must be 0 to 99 percent":                                        HeaderLimit{Percent: 100, Scope: fleet},
		"header limit: it cannot be shared per call; use client, fleet or everyone":                              HeaderLimit{},

		"aimd: the limit must begin between its bounds, and those lie in 1 to 1000000; it begins at 5 between 6 and 200":     AIMD{LimitRange: LimitRange{Initial: 5, Min: 6}, Scope: fleet},
		"aimd: the limit must begin between its bounds, and those lie in 1 to 1000000; it begins at 5 between 1 and 1000001": AIMD{LimitRange: LimitRange{Initial: 5, Max: 1_000_001}, Scope: fleet},
		"aimd: the limit must begin between its bounds, and those lie in 1 to 1000000; it begins at -5 between 1 and 200":    AIMD{LimitRange: LimitRange{Initial: -5}, Scope: fleet},
		"aimd: increase must be 1 to 1000000, not -1":                                                                         AIMD{Increase: -1, Scope: fleet},
		"aimd: decrease must be between 0 and 1, not 1":                                                                       AIMD{Decrease: 1, Scope: fleet},
		"aimd: decrease must be between 0 and 1, not NaN":                                                                     AIMD{Decrease: math.NaN(), Scope: fleet},
		"aimd: slow must not be negative, but is -1ns; 0 means that no success counts as a refusal":                           AIMD{Slow: -1, Scope: fleet},
		"aimd: it cannot be shared per call; use client, fleet or everyone":                                                   AIMD{},
		"vegas: the limit must begin between its bounds, and those lie in 1 to 1000000; it begins at 20 between 1 and -1":     Vegas{LimitRange: LimitRange{Max: -1}, Scope: fleet},
		"vegas: the smoothing must lie between 0 and 1, not 2":                                                                Vegas{Smoothing: 2, Scope: fleet},
		"vegas: what everyone shares needs a name":                                                                            Vegas{Scope: strategies.PerEveryone},
		"gradient2: the limit must begin between its bounds, and those lie in 1 to 1000000; it begins at 20 between 20 and 5": Gradient2{LimitRange: LimitRange{Initial: 20, Min: 20, Max: 5}, Scope: fleet},
		"gradient2: the tolerance must be 1 to 1000, not 0.5":                                                                 Gradient2{Tolerance: 0.5, Scope: fleet},
		"gradient2: the queue must be 1 to 1000000, not -1":                                                                   Gradient2{Queue: -1, Scope: fleet},
		"gradient2: it cannot be shared per call; use client, fleet or everyone":                                              Gradient2{},
		"bbr: the limit must begin between its bounds, and those lie in 1 to 1000000; it begins at 1 between 2 and 1000":      BBR{LimitRange: LimitRange{Initial: 1, Min: 2}, Scope: fleet},
		"bbr: window must be positive, not -1s":                                                                               BBR{Window: -s, Scope: fleet},
		"bbr: it cannot be shared per call; use client, fleet or everyone":                                                    BBR{},
		"aws adaptive: it cannot be shared per call; use client, fleet or everyone":                                           AWSAdaptive{},

		"ladder: it needs at least one rung: a model and how often to try it":                                  Ladder{},
		"ladder: rung 1 cannot be tried -1 times; write 1 to 1048576, or 0 for once":                           Ladder{Rungs: []Rung{{Tries: -1}}},
		"ladder: model 3 has two rungs; give one of them more tries":                                           Ladder{Rungs: []Rung{{Model: 3}, {Model: 3}}},
		"ladder: exponential backoff: the base must be positive, not 0s":                                       Ladder{Rungs: twoOneOne, Backoff: backoffs.Exponential{}},
		"ladder: 99 to 99 is no range of HTTP statuses; write 100 to 999, the lower one first":                 Ladder{Rungs: twoOneOne, On: Rules{Statuses: []Statuses{Status(99)}}},
		"failover: there must be two places to go to, or more":                                                 Failover{Regions: []uint8{1}, Scope: fleet},
		"failover: number 1 is in the list twice":                                                              Failover{Regions: []uint8{1, 1}, Rounds: 1, Scope: fleet},
		"failover: the number of rounds must not be negative; 0 means no bound":                                Failover{Regions: two, Rounds: -1, Scope: fleet},
		"failover: more than one round needs a backoff between them; a fixed one of 0 begins the next at once": Failover{Regions: two, Scope: fleet},
		"failover: the stay must not be negative, but -1s":                                                     Failover{Regions: two, Rounds: 1, Stay: -s, Scope: fleet},
		"failover: fixed backoff: the wait and its jitter must not be negative":                                Failover{Regions: two, Backoff: backoffs.Fixed{Every: -1}, Scope: fleet},
		"failover: it cannot be shared per call; use client, fleet or everyone":                                Failover{Regions: two, Rounds: 1},
		"key rotation: there must be two places to go to, or more":                                             KeyRotation{Scope: fleet},
		"deployments: there must be 1 to 256 targets, not 0":                                                   Deployments{Scope: fleet},
		"deployments: attempts, cool-down and jitter must not be negative":                                     Deployments{Targets: strategytest.Targets(2), Jitter: -1, Scope: fleet},
		"deployments: 1 to 100 percent of the attempts may fail, of at least one":                              Deployments{Targets: strategytest.Targets(2), Percent: 101, Scope: fleet},
		"deployments: full jitter: the base must be positive, not 0s":                                          Deployments{Targets: strategytest.Targets(2), Backoff: backoffs.FullJitter{}, Scope: fleet},
		"deployments: it cannot be shared per call; use client, fleet or everyone":                             Deployments{Targets: strategytest.Targets(2)},
		"hedge: the time after which to hedge must be positive":                                                Hedge{Scope: fleet},
		"hedge: the quantile must lie between 0 and 1, not 1; 0 means none":                                    Hedge{After: s, Quantile: 1, Scope: fleet},
		"hedge: the bound on extra attempts must be 1 to 800 %, or 0 for none":                                 Hedge{After: s, Percent: 801, Scope: fleet},
		"hedge: a race has 2 to 8 runners, not 9":                                                              Hedge{After: s, Attempts: 9, Scope: fleet},
		"hedge: it cannot be shared per call; use client, fleet or everyone":                                   Hedge{After: s},

		"cache: answers must be good for a positive time":                                                               Cache{Scope: fleet},
		"cache: it keeps 1 to 65536 entries, not 65537":                                                                 Cache{TTL: s, Entries: 65537, Scope: fleet},
		"cache: each client keeps at most 512 entries, not 513; share it per fleet to keep more":                        Cache{TTL: s, Entries: 513, Scope: strategies.PerClient},
		"cache: it cannot be shared per call; use client, fleet or everyone":                                            Cache{TTL: s},
		"single flight: it cannot be shared per call; use client, fleet or everyone":                                    SingleFlight{},
		"merge: 2 to 1000 calls make one request, not 1":                                                                Merge{Size: 1, Window: s, Scope: fleet},
		"merge: the first must wait for the others for a positive time":                                                 Merge{Size: 2, Scope: fleet},
		"merge: what everyone shares needs a name":                                                                      Merge{Size: 2, Window: s, Scope: strategies.PerEveryone},
		"time shift: period, time and window must not be negative":                                                      TimeShift{Window: -1},
		"time shift: the time 25h0m0s lies outside its period of 24h0m0s":                                               TimeShift{Every: aDay, At: 25 * time.Hour},
		"time shift: it needs a period or a window; without them it moves nothing":                                      TimeShift{},
		"busy hours: 1 to 100 percent of at least one attempt make an hour busy, and days are remembered, not foreseen": BusyHours{Percent: 101, Scope: fleet},
		"busy hours: a day has 2 to 512 hours, not 1":                                                                   BusyHours{Parts: 1, Scope: fleet},
		"busy hours: the day is too short for its hours":                                                                BusyHours{Day: 23, Scope: fleet},
		"busy hours: it cannot be shared per call; use client, fleet or everyone":                                       BusyHours{},
		"shrink: it must trim the context, cap the output or split the input; 0.5 halves what it is given for":          Shrink{},
		"shrink: what is left must lie between 0 and 1, not 1 of the context and 0 of the output":                       Shrink{Context: 1},
		"shrink: a document is split into 2 to 1000 pieces, not 1":                                                      Shrink{Pieces: 1},
		"shrink: how often to shrink must not be negative; 0 means once":                                                Shrink{Pieces: 2, Times: -1},
		"shrink: uniform backoff: 2s to 1s is not a range of waits":                                                     Shrink{Pieces: 2, Backoff: backoffs.Uniform{Low: 2 * s, High: s}},

		"quality: 0 to 100 percent of an output can be asked for, not 101":              Quality{Percent: 101},
		"quality: the chance that an answer is good enough must lie between 0 and 1":    Quality{Accept: []float64{1.5}},
		"capacity alarm: it needs a positive time and number of attempts, not 0s and 5": CapacityAlarm{Scope: fleet},
		"capacity alarm: it cannot be shared per call; use client, fleet or everyone":   CapacityAlarm{After: s},
		"class alarm: it cannot be shared per call; use client, fleet or everyone":      ClassAlarm{},
		"latched class: what everyone shares needs a name":                              LatchedClass{Scope: strategies.PerEveryone},
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

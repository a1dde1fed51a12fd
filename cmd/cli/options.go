package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"herdlab/scenarios"
	"herdlab/sim"
	"herdlab/sim/metrics/format"
	"herdlab/sim/sweep"
	"herdlab/sim/verdict"
)

// maxSeeds bounds --seeds, because the values of every seed are kept.
const maxSeeds = 100_000

// maxRate bounds --rate: at a million times the rate, a day takes 0.1 s.
const maxRate = 1e6

// compareOptions are the flags of compare as they were typed.
type compareOptions struct {
	seeds      int
	first      uint64
	objective  string
	minSuccess string
	maxPeak    float64
	minDiff    string
	maxSeeds   int
	only       []string
	wide, json bool
	out        string
	noPictures bool
	trace      string
	rate       float64
	from, to   time.Duration
	colour     string
	workers    int
	given      func(flag string) bool // whether the command line has the flag
}

func (o *compareOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.IntVar(&o.seeds, "seeds", 20, "run each strategy with `N` seeds")
	f.Uint64Var(&o.first, "seed", 1, "the `FIRST` of these seeds")
	f.StringVar(&o.objective, "objective", verdict.ByDrain.String(), "the `METRIC` that decides, or several in order: "+strings.Join(verdict.ObjectiveNames(), ", ")+". For fleets whose calls keep coming, drain is recovery, and the default is latency when there is no fault")
	f.StringVar(&o.minSuccess, "min-success", "99.9%", "a winner answers at least `SHARE` of the calls")
	f.Float64Var(&o.maxPeak, "max-peak", verdict.DefaultMaxPeak, "a winner's herd peak is at most `X` × capacity")
	f.StringVar(&o.minDiff, "min-difference", "1%", "a winner is better than every other strategy by more than `SHARE`")
	f.IntVar(&o.maxSeeds, "max-seeds", 60, "add seeds, up to `N`, for strategies that cannot be told apart")
	f.StringSliceVar(&o.only, "only", nil, "compare only the strategies `NAME,NAME`")
	f.StringVar(&o.trace, "trace", "", "`FILE` of calls, for a scenario that replays them: Azure CSV, Mooncake JSONL, or t, prompt_tokens, output_tokens as CSV or JSONL")
	f.Float64Var(&o.rate, "rate", 1, "replay the trace `X` times as fast")
	f.DurationVar(&o.from, "from", 0, "skip the calls of the trace before `TIME`, such as 20m")
	f.DurationVar(&o.to, "to", 0, "skip the calls of the trace from `TIME` on")
	f.BoolVar(&o.wide, "wide", false, "also print every metric with its 95 % interval")
	f.BoolVar(&o.json, "json", false, "print the result as JSON, and nothing else, on stdout")
	f.StringVar(&o.out, "out", "", "write the pictures to `DIR` (default herdlab-out/<scenario>)")
	f.BoolVar(&o.noPictures, "no-pictures", false, "draw no pictures")
	f.StringVar(&o.colour, "color", "auto", "`WHEN` to use colours: auto, always, never")
	f.IntVar(&o.workers, "workers", 0, "run `N` experiments at a time; 0 for one on each core")
}

// validate reports an error if an option is invalid, whatever the scenario.
func (o *compareOptions) validate() error {
	switch {
	case o.seeds < 1 || o.seeds > maxSeeds:
		return fmt.Errorf("--seeds is %d; it must be from 1 to %s", o.seeds, format.Number(maxSeeds))
	case o.first > math.MaxUint64-uint64(o.seeds-1):
		return fmt.Errorf("--seed is %d; with %d seeds from there the last one exceeds 64 bits", o.first, o.seeds)
	case !(o.maxPeak > 0) || math.IsInf(o.maxPeak, 0):
		return fmt.Errorf("--max-peak is %v; it must be a positive multiple of capacity", o.maxPeak)
	case o.maxSeeds < 0 || o.maxSeeds > maxSeeds:
		return fmt.Errorf("--max-seeds is %d; it must be from 0 to %s", o.maxSeeds, format.Number(maxSeeds))
	case o.workers < 0:
		return fmt.Errorf("--workers is %d; it must be 0, for one on each core, or more", o.workers)
	case !(o.rate > 0) || o.rate > maxRate:
		return fmt.Errorf("--rate is %v; it must be positive and at most %s: 2 is twice as fast", o.rate, format.Fixed(maxRate, 0))
	case o.given("out") && o.out == "":
		return errors.New("--out is empty; name a folder, or leave it out for herdlab-out/<scenario>")
	case o.given("trace") && o.trace == "":
		return errors.New("--trace is empty; name a file of calls")
	case o.given("only") && !slices.ContainsFunc(o.only, func(s string) bool { return strings.TrimSpace(s) != "" }):
		return errors.New("--only is empty; name strategies of the scenario, or leave it out to compare all")
	case o.from < 0:
		return fmt.Errorf("--from is %v; it must not be negative", o.from)
	case o.to < 0 || o.to > 0 && o.to <= o.from:
		return fmt.Errorf("--to is %v; it must come after --from, which is %v", o.to, o.from)
	case o.trace == "" && (o.rate != 1 || o.from != 0 || o.to != 0):
		return fmt.Errorf("--rate, --from and --to need a trace; name one with --trace")
	}
	return nil
}

// rules returns the rules of the verdict.
func (o *compareOptions) rules() (r verdict.Rules, err error) {
	if o.given("objective") {
		if r.Objectives, err = verdict.ParseObjectives(o.objective); err != nil {
			return r, fmt.Errorf("--objective: %w", err)
		}
	}
	if r.MinSuccess, err = share(o.minSuccess); err != nil {
		return r, fmt.Errorf("--min-success: %w", err)
	}
	if r.MinDifference, err = share(o.minDiff); err != nil {
		return r, fmt.Errorf("--min-difference: %w", err)
	}
	r.MaxPeak = o.maxPeak
	return r, nil
}

// share reads a share such as 99.9% or 0.999, which is above 0 and up to 1.
func share(text string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	if digits = strings.TrimSpace(digits); percent {
		digits += "e-2" // and not a division, which would round
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("%q is no share of the whole; write 99.9%% or 0.999", text)
	}
	return x, nil
}

// narrow removes from a comparison the strategies that --only does not name. The
// order of the comparison stays. Without --only it does nothing.
func (o *compareOptions) narrow(spec *sweep.Spec) error {
	if len(o.only) == 0 {
		return nil
	}
	wanted := make(map[string]bool)
	for _, name := range o.only {
		wanted[strings.TrimSpace(name)] = true
	}
	var names []string
	var chosen []int
	for i, s := range spec.Strategies {
		names = append(names, s.Name)
		if wanted[s.Name] {
			chosen = append(chosen, i)
			delete(wanted, s.Name)
		}
	}
	for _, name := range o.only { // in the order of the command line
		name = strings.TrimSpace(name)
		if !wanted[name] {
			continue
		}
		if near := scenarios.Nearest(name, names); near != "" {
			return fmt.Errorf("--only: the scenario has no strategy %q; did you mean %s?", name, near)
		}
		return fmt.Errorf("--only: the scenario has no strategy %q; it has %s", name, strings.Join(names, ", "))
	}
	all := *spec
	spec.Strategies = nil
	for _, i := range chosen {
		spec.Strategies = append(spec.Strategies, all.Strategies[i])
	}
	spec.New = func(strategy int, seed uint64) (*sim.Experiment, error) { return all.New(chosen[strategy], seed) }
	return nil
}

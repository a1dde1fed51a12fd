package scenarios_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/scenarios"
	"herdlab/sim/metrics"
	"herdlab/sim/traffic"
)

// run runs one experiment; the report has passed the conservation laws.
func run(t *testing.T, s *scenarios.Scenario, strategy int, seed uint64) *metrics.Report {
	t.Helper()
	x, err := s.Experiment(strategy, seed)
	require.NoError(t, err)
	r, err := x.Run(context.Background())
	require.NoError(t, err)
	return r
}

func TestLibrary(t *testing.T) {
	list := scenarios.List()
	require.Equal(t, "second-peak", list[0].Name)
	files, err := filepath.Glob("library/*.yaml")
	require.NoError(t, err)
	require.Len(t, list, len(files), "every file is listed")
	for _, l := range list {
		s, err := scenarios.Builtin(l.Name)
		require.NoError(t, err)
		require.Equal(t, l.Name, s.Name(), "the file and the scenario have one name")
		require.Equal(t, l.Title, s.Title())
		require.LessOrEqual(t, len(l.Summary), 80)
		src, err := os.ReadFile("library/" + l.Name + ".yaml")
		require.NoError(t, err)
		require.Equal(t, string(src), s.Source())
		sum := sha256.Sum256(src)
		require.Equal(t, hex.EncodeToString(sum[:]), s.SHA256())
	}
	_, err = scenarios.Builtin("secondpeak")
	require.ErrorContains(t, err, `did you mean "second-peak"?`)
	_, err = scenarios.Builtin("nothing of the kind")
	require.ErrorContains(t, err, "herdlab scenarios lists them")
}

// The starter file runs without changes and has leaders, and its strategies are
// one of each kind.
func TestStarter(t *testing.T) {
	s, err := scenarios.Parse("starter.yaml", scenarios.Starter())
	require.NoError(t, err)
	require.Equal(t, []string{"naive", "fixed-30s", "full-jitter", "breaker+full-jitter", "token-bucket", "full-jitter-by-status"}, names(s))
	r := compared(t, s, 1, 8)
	require.NotEmpty(t, r.Verdict.Leaders)
	var out []string
	for _, d := range r.Verdict.Disqualified {
		out = append(out, d.Strategy)
	}
	for _, u := range r.Verdict.Undecided { // it loses some calls in a thousand
		out = append(out, u.Strategy)
	}
	require.Equal(t, []string{"naive", "full-jitter-by-status"}, out)
	for _, x := range r.Results {
		require.Zero(t, *x.Estimate(metrics.PendingCalls).Mean, "%s: the horizon is long enough", x.Strategy)
		require.Zero(t, x.Estimate(metrics.RecoveryTime).Never, x.Strategy)
		require.Equal(t, x.Strategy == "full-jitter-by-status", *x.Estimate(metrics.SilentLosses).Mean > 0, "by status, a 14003 is taken for success")
	}
}

func TestDescribe(t *testing.T) {
	s, err := scenarios.Builtin("second-peak")
	require.NoError(t, err)
	require.Equal(t, metrics.Plan{
		Bin: time.Second, FaultEnd: 300 * time.Second, Horizon: time.Hour, Capacity: 3, OneShot: true,
		Service: 2 * time.Second, Clients: 60,
		Faults: []metrics.FaultSpan{{To: 300 * time.Second, Refuses: true}},
	}, s.Plan())
	require.Equal(t, metrics.Scenario{
		Name: "second-peak", Title: "Second peak of a thundering herd after an outage", SHA256: s.SHA256(), Text: s.Source(),
		Clients: 60, Capacity: 3, Faults: []metrics.Span{{Name: "outage", From: 0, To: 300}},
		OneShot: true, Bin: 1, Horizon: 3600,
	}, s.Describe())
	require.False(t, s.NeedsTrace())
	require.ErrorContains(t, s.Replay(&traffic.Trace{Name: "x"}), "its own traffic")
	_, err = s.Experiment(13, 1)
	require.ErrorContains(t, err, "there is no strategy with index 13")
	_, err = s.Experiment(-1, 1)
	require.Error(t, err)
}

// TestExperimentsAreFresh runs the same experiment twice, with another one between:
// a run leaves no state in its scenario.
func TestExperimentsAreFresh(t *testing.T) {
	s, err := scenarios.Builtin("second-peak")
	require.NoError(t, err)
	for i, c := range s.Strategies() {
		if c.Name == "naive" {
			continue
		}
		first := run(t, s, i, 7)
		other := run(t, s, i, 8)
		require.True(t, reflect.DeepEqual(first, run(t, s, i, 7)), c.Name)
		require.False(t, reflect.DeepEqual(first, other), "%s: the start of jobs depends on the seed", c.Name)
	}
}

// TestFleetReachesTheProvider checks that keys, accounts, patience and traffic of a
// file have their effect in a run.
func TestFleetReachesTheProvider(t *testing.T) {
	parse := func(fleet, provider string) *scenarios.Scenario {
		src := strings.Replace(valid, "  traffic: {one_shot: {within: 1ms}}", "  "+fleet, 1)
		src = strings.Replace(src, "  capacity: {slots: 2, service: 2s}", "  "+provider, 1)
		src = strings.Replace(src, "faults:\n  - outage: {from: 0s, to: 10s}\n", "", 1)
		s, err := scenarios.Parse("x.yaml", []byte(src))
		require.NoError(t, err)
		return s
	}
	const oneShot = "traffic: {one_shot: {within: 0s}}\n  "

	r := run(t, parse(oneShot+"key: 7", "auth: {reject_keys: [7]}"), 0, 1)
	require.EqualValues(t, 3, r.Truth.Replies[wire.Auth], "a rejected key is refused and not retried")

	const window = "limits: [{window: {limit: 1/min, per: account, reply: 14003, retry_after: exact}}]"
	r = run(t, parse(oneShot+"account: shared", window), 0, 1)
	require.NotZero(t, r.Truth.Replies[wire.Rate])
	require.GreaterOrEqual(t, r.End, 2*time.Minute, "three calls need three windows")
	r = run(t, parse(oneShot+"account: per_client", window), 0, 1)
	require.Zero(t, r.Truth.Replies[wire.Rate])

	const slow = "capacity: {service: 10s}"
	r = run(t, parse(oneShot+"patience: 9s", slow), 0, 1)
	require.EqualValues(t, 3, r.Belief.Cancelled)
	r = run(t, parse(oneShot+"network: {up: 1s, down: 2s}", slow), 0, 1)
	require.Equal(t, 13*time.Second, r.End)

	r = run(t, parse("traffic: {closed: {start: 1s, think: 5s, calls: 2}}", slow), 0, 1)
	require.EqualValues(t, 6, r.Belief.Calls)
	require.Equal(t, 26*time.Second, r.End, "1 + 10 + 5 + 10")

	s := parse("tokens: {output: 50}\n  traffic: {open: {rate: 2/s, until: 500s}}", "capacity: {slots: 100, service: {first_token: 1s, per_output_token: 20ms}}")
	require.Equal(t, 50.0, s.Plan().Capacity, "100 slots of 2 s")
	r = run(t, s, 0, 1)
	require.InDelta(t, 1000, r.Belief.Calls, 5*31.7, "Poisson: five standard deviations")
	require.Equal(t, 2*time.Second*time.Duration(r.Belief.Calls), r.Truth.SlotTime.Duration())
}

// TestReaders checks that a reader of the file replaces the strategy's own.
func TestReaders(t *testing.T) {
	src := strings.Replace(valid, "[full-jitter]", "[full-jitter, {name: full-jitter, reader: status}, status-only, {name: status-only, reader: body}]", 1)
	src = strings.Replace(src, "{slots: 2, service: 2s}", "{slots: 2, service: 2s, full: 14003}", 1)
	s, err := scenarios.Parse("x.yaml", []byte(src))
	require.NoError(t, err)
	require.Equal(t, []string{"full-jitter", "full-jitter-by-status", "status-only", "status-only-by-body"}, names(s))
	lost := func(i int) (n uint64) {
		for seed := range 20 {
			n += run(t, s, i, uint64(seed)).Belief.Lost
		}
		return n
	}
	require.Zero(t, lost(0))
	require.NotZero(t, lost(1))
	require.NotZero(t, lost(2))
	require.Zero(t, lost(3))
}

// TestUnknowable checks the error for a strategy that needs the provider's capacity
// if that is unbounded.
func TestUnknowable(t *testing.T) {
	src := with(t, "  capacity", "  capacity: {service: 2s}")
	src = strings.Replace(src, "[full-jitter]", "[full-jitter, token-bucket]", 1)
	p := problems(t, src)
	require.Len(t, p, 1)
	require.Equal(t, [2]int{13, 27}, [2]int{p[0].Line, p[0].Column})
	require.Contains(t, p[0].Message, "neither slots nor limits")
}

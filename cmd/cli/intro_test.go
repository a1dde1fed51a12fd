package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/sim/metrics"
)

// More than three faults are counted, as in the pictures.
func TestSettingCountsFaults(t *testing.T) {
	t.Parallel()
	x := metrics.Scenario{Clients: 2, Faults: make([]metrics.Span, 3)}
	for i := range x.Faults {
		x.Faults[i] = metrics.Span{Name: "outage", From: float64(10 * i), To: float64(10*i) + 0.5}
	}
	three := "2 clients; outage from 0 to 0.5 s; outage from 10 to 10.5 s; outage from 20 to 20.5 s; "
	assert.Equal(t, three+"capacity unbounded.", setting(&x))
	x.Faults = append(x.Faults, x.Faults[0])
	assert.Equal(t, three+"1 more fault; capacity unbounded.", setting(&x))
	x.Faults = append(x.Faults, x.Faults[0])
	assert.Equal(t, three+"2 more faults; capacity unbounded.", setting(&x))
}

// Several fleets are named: the metrics are about all of them.
func TestSettingNamesFleets(t *testing.T) {
	t.Parallel()
	x := metrics.Scenario{Clients: 1030, Fleets: []metrics.Fleet{{Name: "interactive", Clients: 30}, {Name: "batch", Clients: 1000, Strategy: "naive"}}}
	assert.Equal(t, "1,030 clients in 2 fleets counted together (30 interactive; 1,000 batch, always naive); capacity unbounded.", setting(&x))
	x.Fleets = append(x.Fleets, x.Fleets...)
	assert.Contains(t, setting(&x), "in 4 fleets counted together (30 interactive; 1,000 batch, always naive; 30 interactive; 1 more)")
}

func TestMethodHasUnits(t *testing.T) {
	t.Parallel()
	r := handMade()
	for bin, want := range map[float64]string{1e-9: "; 1 ns bins.", 1e-6: "; 1 µs bins.", 1e-3: "; 1 ms bins.", 1: "; 1 s bins.", 600: "; 10 min bins."} {
		r.Scenario.Bin = bin
		assert.True(t, strings.HasSuffix(method(r), want), method(r))
	}
	assert.Equal(t, "per 1 ms", per(1e-3))
	assert.Equal(t, "per s", per(1))
	r.Seeds = make([]uint64, 4000)
	assert.Contains(t, method(r), " × 4,000 seeds (")
}

// The introduction warns of a trace that ends before the outage, whatever made it
// short, and names the part that was replayed.
func TestTraceThatEndsBeforeTheOutage(t *testing.T) {
	inEmptyDir(t)
	write(t, "calls.csv", "t,prompt_tokens,output_tokens\n0,10,5\n100,10,5\n200,10,5\n1500,10,5\n2000,10,5\n")
	write(t, "one.csv", "t,prompt_tokens,output_tokens\n0,10,5\n")
	head := func(trace string, args ...string) string {
		args = append([]string{"compare", "trace-replay", "--trace", trace, "--seeds", "1", "--only", "full-jitter", "--no-pictures"}, args...)
		got := herdlab(args...)
		require.Equal(t, exitOK, got.code, got.err)
		above, _, _ := strings.Cut(got.out, "────")
		return strings.Join(strings.Fields(above), " ")
	}
	const missed = "The trace ends at "
	assert.NotContains(t, head("calls.csv"), missed)
	assert.NotContains(t, head("calls.csv", "--to", "1501s"), missed) // the last call arrives as the outage begins
	assert.Contains(t, head("calls.csv", "--to", "300s"), missed+"3:20, before the outage at 25:00: no new call arrives during it.")
	assert.Contains(t, head("calls.csv", "--rate", "10"), missed+"3:20, before the outage at 25:00")
	assert.Contains(t, head("one.csv"), missed+"0 s, before the outage at 25:00")
	cut := head("calls.csv", "--from", "100s", "--to", "300s")
	assert.Contains(t, cut, "replaying 2 calls of calls.csv from 100 to 300 s (replayed from 0)")
	assert.Contains(t, cut, missed+"1:40, ")
	assert.Contains(t, head("calls.csv", "--from", "1500s"), "calls.csv from 25:00 (replayed from 0)")
}

// Without a fault, the default objective gives a verdict; the objective drain is
// undefined, and the output names those that are not.
func TestNoFault(t *testing.T) {
	inEmptyDir(t)
	const yaml = "herdlab: 1\nname: quiet\ntitle: No fault\nhorizon: 10m\n" +
		"fleet:\n  clients: 5\n  traffic:\n    open: {rate: 60/min, until: 2m}\n" +
		"provider:\n  capacity: {slots: 4, service: {exponential: 1s}}\nstrategies: [fixed-30s, full-jitter]\n"
	judged := func(args ...string) string {
		got := herdlabIn(t.Context(), yaml, append([]string{"compare", "-", "--seeds", "8", "--no-pictures"}, args...)...)
		require.Equal(t, exitOK, got.code, got.err)
		return strings.Join(strings.Fields(got.out), " ")
	}
	assert.Contains(t, judged(), " wins (no fault, so judged by p99 latency): ")
	assert.Contains(t, judged("--objective", "drain"), "No strategy wins on recovery time: it is undefined in this scenario; choose peak, attempts, latency or success.")
	assert.Contains(t, judged("--objective", "latency"), " wins on p99 latency: ")
}

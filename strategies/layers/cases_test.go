package layers_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/strategies"
	"herdlab/strategies/presets"
)

// fieldCase is a case of the field as a law for strategies: what it is about, and
// what became of all that is of that kind.
type fieldCase struct {
	// name is what the library of scenarios calls it, law what holds.
	name, law string
	// about names the strategies and layers that the case tests.
	about  []string
	trials []trial
	// apart are those that it concerns and that are not tried, and why.
	apart map[string]string
}

// trial is one strategy tried by the law of a case.
type trial struct {
	// of names the tested strategy or layer, how its settings if there are several.
	of, how string
	// holds returns what is wrong.
	holds func(t *testing.T) error
	// breaks says why the law does not hold: because it is the mistake that the
	// case is about, or because that is not what the strategy is for. It must not
	// hold then.
	breaks string
}

// fieldCases are the cases of the field that concern a client.
func fieldCases(t *testing.T) []fieldCase {
	return []fieldCase{
		layersMultiply(t),
		jitterBelowAReset(t),
		wrongUnits(t),
		overflows(t),
		cancelledWaiters(t),
		permanentFailures(t),
		onePhase(t),
		lostProbes(t),
		rightPopulation(t),
		retryAfterZoo(t),
		midStream(t),
		oneLimitForAll(t),
		othersMistakes(t),
		neitherHealth(t),
		peopleFirst(t),
		oneOverload(t),
		jitterAtTheCap(t),
	}
}

// Every case of the field holds for everything of ours of the kind that it is
// about, but for the mistakes that are there to be shown. Nothing is left out: the
// kinds are found out from the layers (ofKind), and those from the source.
func TestFieldCases(t *testing.T) {
	for _, c := range fieldCases(t) {
		t.Run(c.name, func(t *testing.T) {
			tried := map[string]bool{}
			names := map[string]bool{}
			for _, x := range c.trials {
				name := strings.TrimSpace(x.of + " " + x.how)
				require.False(t, names[name], "%s is there twice", name)
				names[name], tried[x.of] = true, true
				t.Run(name, func(t *testing.T) {
					if err := x.holds(t); x.breaks == "" {
						require.NoError(t, err, c.law)
					} else {
						require.Error(t, err, "it holds now, although: %s", x.breaks)
					}
				})
			}
			for name, why := range c.apart {
				require.False(t, tried[name], "%s is both tried and not, because %s", name, why)
				require.NotEmpty(t, why)
				tried[name] = true
			}
			require.Equal(t, slices.Compact(slices.Sorted(slices.Values(c.about))), slices.Sorted(maps.Keys(tried)),
				"the names the case is about, and the names it tests or excludes")
			known, err := filepath.Glob(fmt.Sprintf("../../scenarios/library/%s*.yaml", c.name))
			require.NoError(t, err)
			require.NotEmpty(t, known, "there is no scenario of the case")
			t.Logf("%d of %d concerned, tried in %d ways: %s", len(tried)-len(c.apart), len(tried), len(c.trials), c.law)
		})
	}
}

// layer is a trial of a layer.
func layer(l strategies.Layer, how string, holds func(*testing.T) error) trial {
	return trial{of: typeName(l), how: how, holds: holds}
}

// but is the trial with the reason why the law does not hold.
func (x trial) but(why string) trial {
	x.breaks = why
	return x
}

// wrong is an error if there is something wrong.
func wrong(is bool, format string, args ...any) error {
	if is {
		return fmt.Errorf(format, args...)
	}
	return nil
}

// sixSlots is what clients know of the provider of a case: six slots of two seconds.
var sixSlots = presets.Knowledge{Rate: 6, Per: 2 * time.Second, Concurrency: 6}

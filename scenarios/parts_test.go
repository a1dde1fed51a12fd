package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"herdlab/strategies"
)

// tempo is an enumeration, and stepped a backoff with settings, that another module
// could have.
type tempo uint8

func (tempo) Names() [][2]string {
	return [][2]string{{"slow", "twice the wait"}, {"brisk", "the wait itself"}}
}

type stepped struct {
	Wait  time.Duration `required:"2s" about:"The wait before each retry."`
	Tempo tempo         `about:"How the wait is stretched."`
	Least int           `key:"at_first" unit:"retries" most:"9" default:"0" about:"How many retries wait for nothing."`
}

func (s stepped) Delay(*strategies.Call, strategies.Purpose, int64, time.Duration) (base, jitter time.Duration) {
	if s.Tempo == 0 {
		return 2 * s.Wait, 0
	}
	return s.Wait, 0
}

// A kind of another module is read, listed and described by its tags alone.
func TestKindsOfOthers(t *testing.T) {
	f := &Format{backoffs: []Kind{{Name: "stepped", Summary: "A wait in steps.", Prototype: stepped{Tempo: 1}}}}
	const file = "herdlab: 1\nname: x\ntitle: X\nhorizon: 1m\nfleet: {clients: 1, traffic: {one_shot: {within: 0s}}}\nprovider: {capacity: {slots: 1, service: 1s}}\n" +
		"strategies: [{name: mine, stack: [retry: {max_attempts: 2, backoff: {stepped: {%s}}}]}]\n"
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(f.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("x.json", doc))
	schema, err := c.Compile("x.json")
	require.NoError(t, err)
	for settings, want := range map[string]string{
		"wait: 3s, tempo: slow, at_first: 2": "",
		"wait: 3s":                           "",
		"tempo: brisk":                       "stepped needs the key wait, such as wait: 2s",
		"wait: 3s, tempo: brsk":              `unknown tempo "brsk"; did you mean "brisk"?`,
		"wait: 3s, least: 2":                 `unknown key "least" in stepped`,
		"wait: 3s, at_first: 10":             "expected a whole number from 0 to 9",
	} {
		src := fmt.Appendf(nil, file, settings)
		_, err := f.Parse("x.yaml", src)
		if want == "" {
			require.NoError(t, err, settings)
			require.NoError(t, schema.Validate(asJSON(t, src)), settings)
			continue
		}
		require.ErrorContains(t, err, want, settings)
		require.Error(t, schema.Validate(asJSON(t, src)), settings)
	}
	keys := strings.Join(strings.Fields(f.Keys()), " ")
	for _, part := range []string{
		"stepped A wait in steps. wait The wait before each retry. (a duration; required, such as 2s) tempo How the wait is stretched. (slow | brisk; default brisk)",
		"at_first How many retries wait for nothing. (a whole number: retries, at most 9; default 0)",
		"Words of tempo slow twice the wait brisk the wait itself",
	} {
		require.True(t, strings.Contains(keys, part), part)
	}
	require.False(t, strings.Contains(Keys(), "stepped"))
}

package dialect

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// TestFill compares fill with strings.Replacer.
func TestFill(t *testing.T) {
	c := Context{Model: "{limit}-large", InputTokens: 4_000_000_000}
	r := wire.Reply{Limit: 60, Remaining: -3}
	twin := strings.NewReplacer("{model}", c.Model, "{limit}", "60", "{remaining}", "-3", "{used}", "63", "{input}", "4000000000")
	parts := []string{"{model}", "{limit}", "{remaining}", "{used}", "{input}", "{other}", "{", "}", "{}", "model", "Rate of ", "{Model}", "é"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var text string
		for range rng.IntN(8) {
			text += parts[rng.IntN(len(parts))]
		}
		p := template{Text: text}
		require.Equal(t, twin.Replace(text), p.fill(&c, &r), text)
	}
	p := template{Text: "Slow down[: limit {limit}]. {model}"}
	require.Equal(t, "Slow down: limit 60. "+c.Model, p.fill(&c, &r))
	r.Limit = 0
	require.Equal(t, "Slow down. "+c.Model, p.fill(&c, &r))
	own := template{Text: "{model}: use [1, 5]"}
	require.Equal(t, c.Model+": use [1, 5]", own.fill(&c, &r), "brackets without a name to fill in are part of the text")
	c.Model = "quota-exceeded-busy"
	require.Equal(t, "Slow down. the model", p.fill(&c, &r), "a name must not add keywords")
}

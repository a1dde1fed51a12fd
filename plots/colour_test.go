package plots

import (
	"image/color"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/strategies/presets"
)

func TestEveryBuiltinHasItsOwnColour(t *testing.T) {
	owner := map[color.RGBA]string{}
	for _, b := range presets.Builtins() {
		c := Colour(b.Name)
		require.Empty(t, owner[c], "%s has the colour of another strategy", b.Name)
		owner[c] = b.Name
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		c := Colour(name)
		require.Contains(t, []string{"", name}, owner[c], "%q has the colour of a built-in strategy", name)
		require.Equal(t, c, Colour(name))
		require.Equal(t, uint8(255), c.A)
	})
}

// TestContrast: each colour, including the lightest shade of a name that is not
// in the table, has a contrast with white of at least 1.6 (WCAG 2.2), and each
// colour of text one of at least 4.5.
func TestContrast(t *testing.T) {
	luminance := func(c color.RGBA) float64 {
		linear := func(v uint8) float64 {
			x := float64(v) / 255
			if x <= 0.04045 {
				return x / 12.92
			}
			return math.Pow((x+0.055)/1.055, 2.4)
		}
		return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
	}
	contrast := func(c color.RGBA) float64 { return (luminance(white) + 0.05) / (luminance(c) + 0.05) }
	for _, c := range colours {
		require.GreaterOrEqual(t, contrast(c.colour), 1.6, c.strategy)
	}
	for _, c := range others {
		require.GreaterOrEqual(t, contrast(mix(c, white, 0.35)), 1.6)
	}
	for _, c := range []color.RGBA{black, grey, red, green} {
		require.GreaterOrEqual(t, contrast(c), 4.5)
	}
}

package validation

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The mathematics of the closed forms, against published digits: what the
// simulator is compared with must itself be right.

func TestPublishedMM1(t *testing.T) {
	for _, c := range [][]float64{ // ρ, L, Lq, W, p50, p99, P(N ≥ 10)
		{0.5, 1, 0.5, 2, 1.386294, 9.210340, 0.000977},
		{0.7, 2.333333, 1.633333, 3.333333, 2.310491, 15.350567, 0.028248},
		{0.8, 4, 3.2, 5, 3.465736, 23.025851, 0.107374},
		{0.9, 9, 8.1, 10, 6.931472, 46.051702, 0.348678},
	} {
		rho := c[0]
		assert.InDeltaSlice(t, c[1:], []float64{
			rho / (1 - rho), rho * rho / (1 - rho), 1 / (1 - rho), math.Ln2 / (1 - rho), math.Log(100) / (1 - rho), math.Pow(rho, 10),
		}, 1e-6)
	}
	for cv, wq := range map[float64]float64{0: 2, 0.3: 2.18, 1: 4, 2: 10} { // M/G/1 at ρ = 0.8
		assert.InDelta(t, wq, pollaczek(0.8, 1, cv)-1, 1e-6)
	}
}

// pollaczek is the mean time in an M/G/1 system, by Pollaczek and Khinchine.
func pollaczek(rho, service, cv float64) float64 {
	return service * (1 + rho*(1+cv*cv)/(2*(1-rho)))
}

func TestPublishedErlang(t *testing.T) {
	for _, c := range [][]float64{ // c, a, B, C, Wq, Lq, P(Wq > 1), p99
		{2, 1.6, 0.329897, 0.711111, 1.777778, 2.844444, 0.476672, 10.660609},
		{5, 2.5, 0.069731, 0.130371, 0.052149, 0.130371, 0.010702, 1.027121},
		{5, 4, 0.199067, 0.554113, 0.554113, 2.216450, 0.203847, 4.014783},
		{6, 4.8, 0.176780, 0.517772, 0.431477, 2.071088, 0.155950, 3.289125},
		{10, 5, 0.018385, 0.036105, 0.007221, 0.036105, 0.000243, 0.256771},
		{10, 8, 0.121661, 0.409180, 0.204590, 1.636721, 0.055377, 1.855785},
		{20, 16, 0.064411, 0.256078, 0.064019, 1.024311, 0.004690, 0.810724},
		{100, 80, 0.003992, 0.019646, 0.000982, 0.078586, 0, 0.033766},
	} {
		t.Run(fmt.Sprintf("c=%g a=%g", c[0], c[1]), func(t *testing.T) {
			n, a := c[0], c[1]
			b := erlangB(int(n), a)
			delay := b / (1 - a/n*(1-b))
			assert.InDeltaSlice(t, c[2:], []float64{
				b, delay, delay / (n - a), a * delay / (n - a), delay * math.Exp(a-n), math.Log(delay/0.01) / (n - a),
			}, 1e-6)
		})
	}
	for _, c := range []struct{ slots, load, loss float64 }{
		{5, 5, 0.284868}, {5, 10, 0.563952}, {6, 6, 0.264922}, {6, 12, 0.556089}, {10, 20, 0.537963},
		{20, 10, 0.001869}, {20, 25, 0.279890}, {20, 40, 0.521307},
	} {
		require.InDelta(t, c.loss, erlangB(int(c.slots), c.load), 1e-6)
	}
}

func TestPublishedMMcK(t *testing.T) {
	for _, c := range []struct {
		slots, k          int
		load              float64
		block, l, wait, x float64
	}{
		{1, 5, 0.9, 0.126023, 2.194782, 1.790286, 0.786580}, {1, 5, 2, 0.507937, 4.095238, 3.161290, 0.984127},
		{5, 15, 4.5, 0.034949, 7.072861, 0.628667, 4.342729}, {5, 15, 6, 0.182512, 11.264586, 1.296585, 4.904929},
		{6, 26, 6, 0.042062, 14.580553, 1.536794, 5.747631}, {10, 30, 12, 0.168637, 25.285667, 1.534560, 9.976353},
	} {
		block, l, lq := finiteRoom(c.slots, c.k, c.load)
		x := c.load * (1 - block)
		assert.InDeltaSlice(t, []float64{c.block, c.l, c.wait, c.x}, []float64{block, l, lq / x, x}, 1e-6)
	}
}

// Two classes on a pool of 100 units, of one and of ten.
func TestPublishedKaufmanRoberts(t *testing.T) {
	for _, c := range []struct{ light, heavy, blockLight, blockHeavy float64 }{
		{40, 2, 0.001540, 0.025783}, {50, 2, 0.004538, 0.068510}, {50, 3, 0.012155, 0.152791},
		{60, 4, 0.034251, 0.346839}, {80, 4, 0.072445, 0.588933}, {120, 6, 0.222125, 0.942185},
	} {
		light, heavy := kaufmanRoberts(100, c.light, 1, c.heavy, 10)
		assert.InDeltaSlice(t, []float64{c.blockLight, c.blockHeavy}, []float64{light, heavy}, 1e-6, "%g+%g", c.light, c.heavy)
	}
}

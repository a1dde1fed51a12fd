package limits

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// specimens has one limit of each kind, small enough to be reached. A new kind is
// added here, and the laws below apply to it.
var specimens = []mockprovider.Limit{
	Window{Limit: 3, Length: 20 * time.Second, Terms: perAccount},
	Joint{Limit: 3, Length: 20 * time.Second, Terms: perAccount},
	SlidingLog{Limit: 3, Length: 20 * time.Second, Terms: perAccount},
	SlidingCounter{Limit: 3, Length: 20 * time.Second, Terms: perAccount},
	TokenBucket{Limit: 3, Length: 20 * time.Second, Burst: 2, Terms: perAccount},
	GCRA{Interval: 7 * time.Second, Tolerance: 14 * time.Second, Terms: perAccount},
	LeakyBucket{Limit: 3, Length: 20 * time.Second, Size: 2, Terms: perAccount},
	Semaphore{Limit: 3, Terms: perAccount},
	Quota{Limit: 3, Every: 20 * time.Second, Terms: perAccount},
	Ramp{Base: 3, Length: 20 * time.Second, Growth: 100, Terms: perAccount},
	Penalty{Limit: 3, Length: 20 * time.Second, Block: 25 * time.Second, Terms: perAccount},
	Sliced{Limit: 4, Length: 20 * time.Second, Slices: 2, Terms: perAccount},
	Only{Limit: Window{Limit: 3, Length: 20 * time.Second, Terms: perAccount}},
	Tiered{{Match: mockprovider.Match{Accounts: mockprovider.Just(0)}, Limit: Semaphore{Limit: 2, Terms: perAccount}}, {Limit: Window{Limit: 3, Length: 20 * time.Second, Terms: perAccount}}},
}

var perAccount = mockprovider.Terms{Per: mockprovider.Account}

// Every type with a method Gate has a specimen.
func TestEveryLimitHasASpecimen(t *testing.T) {
	known := map[string]bool{}
	for _, l := range specimens {
		known[strings.TrimPrefix(fmt.Sprintf("%T", l), "limits.")] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Gate" || strings.HasSuffix(file, "_test.go") {
				continue
			}
			name, ok := fn.Recv.List[0].Type.(*ast.Ident)
			require.True(t, ok, file)
			require.True(t, known[name.Name], "%s: add a %s to specimens", file, name.Name)
		}
	}
}

// The laws of all limits. A refusal has a reason. With the time until admission,
// the gate refuses before and admits then; a limit that is Unpredictable states
// none. A request that is undone leaves no trace, and a forgotten account begins
// anew.
func TestLawsOfLimits(t *testing.T) {
	space := mockprovider.Space{Accounts: 2}
	for _, l := range specimens {
		t.Run(fmt.Sprintf("%T", l), func(t *testing.T) {
			require.NoError(t, l.Validate())
			require.Positive(t, l.Counters(space))
			r, other := wire.Request{Account: 0}, wire.Request{Account: 1}
			now := time.Second
			fill := func(g mockprovider.Gate) (n int) {
				for g.Take(now, &r) {
					n++
					require.Less(t, n, 100)
				}
				return n
			}
			gate := l.Gate(space)
			require.True(t, gate.Take(now, &r))
			gate.Undo(now, &r)
			n := fill(gate)
			require.Equal(t, fill(l.Gate(space)), n, "what is undone is not counted")
			require.True(t, gate.Take(now, &other), "accounts are counted apart")

			v := gate.Refuse(now, &r)
			require.NotEqual(t, wire.OK, v.Class)
			require.GreaterOrEqual(t, v.Limit, v.Remaining)
			ready, known := v.Admission.After()
			if _, blind := l.(mockprovider.Unpredictable); blind {
				require.False(t, known)
			}
			if known {
				require.False(t, gate.Take(now+ready-1, &r))
				require.True(t, gate.Take(now+ready, &r))
			}
			gate.(mockprovider.Forgetter).Forget(0)
			require.True(t, gate.Take(now+ready, &r))

			_, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{l}, Space: space}, draw.New(1))
			require.NoError(t, err)
		})
	}
}

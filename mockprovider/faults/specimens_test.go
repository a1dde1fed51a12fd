package faults

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
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// specimens has one fault of each kind. A new kind is added here, and the laws
// below apply to it.
var specimens = []mockprovider.Disturbance{
	Refuse{},
	Errors{When: AfterWork},
	Expiry{},
	MaskedPermission{},
	Silence{When: AfterWork},
	Stall{Tokens: 2},
	Unreachable{After: time.Second},
	Reset{When: AfterHead},
	Spoil{Body: wire.TruncatedBody, Tokens: 2},
	Latency{Factor: 2},
	Brownout{Percent: 50},
	LimitCut{Percent: 50},
	Skew{Ahead: time.Minute},
	Script{Answers: []mockprovider.Disturbance{Refuse{}, nil}},
}

// Every type with a method Hooks has a specimen.
func TestEveryFaultHasASpecimen(t *testing.T) {
	known := map[string]bool{}
	for _, d := range specimens {
		known[strings.TrimPrefix(fmt.Sprintf("%T", d), "faults.")] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Hooks" || strings.HasSuffix(file, "_test.go") {
				continue
			}
			name, ok := fn.Recv.List[0].Type.(*ast.Ident)
			require.True(t, ok, file)
			require.True(t, known[name.Name], "%s: add a %s to specimens", file, name.Name)
		}
	}
}

// The laws of all faults. Every ticket ends once. Before and after the fault the
// provider answers as one that never had it.
func TestLawsOfFaults(t *testing.T) {
	for _, d := range specimens {
		t.Run(fmt.Sprintf("%T", d), func(t *testing.T) {
			require.NoError(t, d.Validate())
			require.NotEmpty(t, d.Name())
			f := mockprovider.Fault{From: time.Hour, To: 2 * time.Hour, Does: d}
			p, err := mockprovider.New(mockprovider.Config{
				Limits:   []mockprovider.Limit{limits.Window{Limit: 100, Length: time.Minute}},
				Capacity: mockprovider.Capacity{Slots: 10, Service: mockprovider.Service{First: draw.Const(time.Second), PerToken: time.Second}},
				Faults:   []mockprovider.Fault{f},
			}, draw.New(1))
			require.NoError(t, err)
			for i, at := range []time.Duration{0, time.Hour + time.Minute, 3 * time.Hour} {
				for _, stream := range []bool{false, true} {
					in := wire.Input{Kind: wire.Arrive, Request: wire.Request{Call: 1, Attempt: 1, Stream: stream, Demand: wire.Demand{OutputTokens: 5}}}
					var ends []wire.Effect
					for _, e := range p.Step(at, &in, nil) {
						switch e.Kind {
						case wire.Head:
						case wire.Started:
							ends = append(ends, p.Step(at+e.After, &wire.Input{Kind: wire.Done, Job: e.Job}, nil)...)
						default:
							ends = append(ends, e)
						}
					}
					require.Len(t, ends, 1)
					if i != 1 {
						require.Equal(t, wire.Reply{Status: 200, Tokens: 5, Hint: wire.Hint{Value: wire.NoHint}}, ends[0].Reply)
					}
					at += time.Minute
				}
			}
			require.Zero(t, p.Busy())
		})
	}
}

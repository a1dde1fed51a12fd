package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
	"herdlab/sim/metrics"
	"herdlab/strategies"
)

// ended is how a run of the program ended.
type ended struct {
	code     int
	out, err string
}

// herdlab runs the program with nobody at the terminal.
func herdlab(args ...string) ended { return herdlabIn(context.Background(), "", args...) }

func herdlabIn(ctx context.Context, stdin string, args ...string) ended {
	var out, err bytes.Buffer
	code := run(ctx, args, strings.NewReader(stdin), &out, &err, func(string) string { return "" })
	return ended{code, out.String(), err.String()}
}

// inEmptyDir moves the test to an empty directory and returns a function that
// lists the files there.
func inEmptyDir(t *testing.T) (files func() []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	return func() (all []string) {
		require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && path != "." {
				all = append(all, path)
			}
			return err
		}))
		return all
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

// quick is a comparison that takes a moment.
var quick = []string{"compare", "--seeds", "3", "--only", "fixed-30s,full-jitter,five-tries,breaker+full-jitter"}

func with(args ...string) []string { return append(append([]string{}, quick...), args...) }

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"", "compare", "init", "scenarios", "strategies", "version"} {
		args := []string{"--help"}
		name := "help.txt"
		if verb != "" {
			args, name = []string{verb, "--help"}, "help-"+verb+".txt"
		}
		got := herdlab(args...)
		assert.Equal(t, exitOK, got.code)
		assert.Empty(t, got.err)
		golden(t, name, got.out)
	}
}

func TestCompare(t *testing.T) {
	files := inEmptyDir(t)
	got := herdlab(quick...)
	assert.Equal(t, exitOK, got.code)
	assert.Empty(t, got.err, "nobody looks at stderr, so there is no progress")
	isPage(t, got.out)
	assert.Contains(t, got.out, "second-peak")
	assert.Contains(t, got.out, "wins on drain time")
	pictures := 0
	for _, f := range files() {
		if ext := filepath.Ext(f); ext == ".png" {
			assert.Contains(t, got.out, f)
			pictures++
		} else if ext == ".svg" {
			pictures++
		}
	}
	assert.Positive(t, pictures)
	assert.Equal(t, filepath.Join("herdlab-out", "second-peak"), files()[1])
}

func TestCompareWide(t *testing.T) {
	files := inEmptyDir(t)
	got := herdlab(with("--wide", "--no-pictures")...)
	assert.Equal(t, exitOK, got.code)
	isPage(t, got.out)
	assert.Contains(t, got.out, "95 % interval")
	assert.Empty(t, files())
}

func TestCompareJSON(t *testing.T) {
	files := inEmptyDir(t)
	got := herdlab(with("--json", "--out", "pictures", "--seed", "5", "--objective", "peak", "--max-peak", "2")...)
	assert.Equal(t, exitOK, got.code)
	r, err := metrics.ReadResult(strings.NewReader(got.out))
	require.NoError(t, err)
	assert.Equal(t, []uint64{5, 6, 7}, r.Seeds)
	assert.True(t, r.Complete)
	assert.Equal(t, "herdlab", r.Tool.Name)
	assert.NotEmpty(t, r.Tool.Version)
	assert.Equal(t, "peak", r.Verdict.Objective)
	assert.Equal(t, 2.0, r.Verdict.MaxPeak)
	var names []string
	for _, s := range r.Results {
		names = append(names, s.Strategy)
	}
	// The scenario's order, not that of --only.
	assert.Equal(t, []string{"fixed-30s", "full-jitter", "five-tries", "breaker+full-jitter"}, names)
	for _, f := range files()[1:] {
		assert.Contains(t, got.err, f, "where the pictures are is no JSON, so it goes to stderr")
	}
}

// The founding experiment's five tries all fail before the outage ends; that
// is a matter of arithmetic (1 + 2 + 4 + 8 s and four jitters of half a second
// at most) and must read so.
func TestCompareSaysNever(t *testing.T) {
	inEmptyDir(t)
	got := herdlab(with("--no-pictures")...)
	for line := range strings.Lines(got.out) {
		if strings.HasPrefix(line, "✗ five-tries") {
			assert.Equal(t, []string{"0", "%", "5", "×", "0", "never", "–"}, strings.Fields(line)[2:9])
			return
		}
	}
	t.Fatal("five-tries is not disqualified")
}

func TestCompareATrace(t *testing.T) {
	files := inEmptyDir(t)
	write(t, "calls.csv", "t,prompt_tokens,output_tokens\n"+strings.Repeat("0,10,5\n", 5)+strings.Repeat("100,10,5\n", 7)+"200,10,5\n")
	rows := func(args ...string) int {
		args = append([]string{"compare", "trace-replay", "--trace", "calls.csv", "--seeds", "1", "--only", "full-jitter", "--json", "--no-pictures"}, args...)
		got := herdlab(args...)
		require.Equal(t, exitOK, got.code, got.err)
		r, err := metrics.ReadResult(strings.NewReader(got.out))
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(r.Scenario.Input.Name, "calls.csv"))
		calls := r.Results[0].Figure(metrics.Calls)
		assert.Equal(t, float64(r.Scenario.Input.Rows), *calls.Mean, "every row is a call")
		return r.Scenario.Input.Rows
	}
	assert.Equal(t, 13, rows())
	assert.Equal(t, 5, rows("--to", "100s"))
	assert.Equal(t, 8, rows("--from", "100s"))
	assert.Equal(t, 7, rows("--from", "100s", "--to", "200s", "--rate", "2"))
	assert.Equal(t, []string{"calls.csv"}, files())
}

func TestCompareAFileAndStdin(t *testing.T) {
	files := inEmptyDir(t)
	s, err := scenarios.Builtin("second-peak")
	require.NoError(t, err)
	write(t, "mine.yaml", s.Source())
	args := with("--no-pictures", "--json")
	builtin := herdlab(args...)
	file := herdlab(append(args, "mine.yaml")...)
	stdin := herdlabIn(context.Background(), s.Source(), append(args, "-")...)
	assert.Equal(t, exitOK, file.code, file.err)
	assert.Equal(t, builtin.out, file.out)
	assert.Equal(t, builtin.out, stdin.out)
	assert.Equal(t, []string{"mine.yaml"}, files())
}

func TestInitIsAScenario(t *testing.T) {
	files := inEmptyDir(t)
	got := herdlab("init")
	assert.Equal(t, exitOK, got.code)
	assert.Empty(t, got.err)
	compared := herdlabIn(context.Background(), got.out, "compare", "-", "--seeds", "1", "--no-pictures")
	assert.Equal(t, exitOK, compared.code, compared.err)
	isPage(t, compared.out)
	assert.Empty(t, files())
}

func TestLists(t *testing.T) {
	t.Parallel()
	got := herdlab("strategies")
	assert.Equal(t, exitOK, got.code)
	isPage(t, got.out)
	at := 0
	for _, b := range strategies.Builtins() {
		i := strings.Index("\n"+got.out[at:], "\n"+b.Name+" ")
		require.GreaterOrEqual(t, i, 0, b.Name)
		at += i
	}
	got = herdlab("scenarios")
	assert.Equal(t, exitOK, got.code)
	isPage(t, got.out)
	for _, l := range scenarios.List() {
		assert.Contains(t, "\n"+got.out, "\n"+l.Name+" ")
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	got := herdlab("version")
	assert.Equal(t, exitOK, got.code)
	assert.Regexp(t, `^herdlab v\S+ go\S+ \w+/\w+\n$`, got.out)
}

func TestCompletionKnowsScenarios(t *testing.T) {
	t.Parallel()
	got := herdlab("__complete", "compare", "")
	assert.Equal(t, exitOK, got.code)
	assert.Contains(t, got.out, "second-peak\n")
}

// What is wrong with the command line or a file is said on stderr, with what
// was meant if that can be guessed; nothing is printed, nothing is written,
// and the exit code is 2.
func TestInvalid(t *testing.T) {
	files := inEmptyDir(t)
	write(t, "bad.yaml", "herdlab: 1\nname: bad\ntitel: misspelt\n")
	write(t, "bad.csv", "t,prompt_tokens,output_tokens\n0,1,1\n1,x,1\n")
	write(t, "good.csv", "t,prompt_tokens,output_tokens\n0,1,1\n")
	before := files()
	for _, x := range []struct {
		args string
		says []string
	}{
		{"comapre", []string{`unknown command "comapre"`, "compare"}},
		{"compare --sedes 3", []string{"unknown flag: --sedes; did you mean --seeds?"}},
		{"compare --seeds x", []string{`invalid argument "x" for "--seeds" flag: invalid syntax`}},
		{"compare --from 5", []string{"--from", "missing unit"}},
		{"compare a b", []string{"at most 1 arg"}},
		{"init x", []string{"unknown command"}},
		{"compare --seeds 0", []string{"--seeds is 0", "from 1"}},
		{"compare --seeds 999999999", []string{"--seeds", "100,000"}},
		{"compare --seed 18446744073709551615 --seeds 2", []string{"--seed", "64 bits"}},
		{"compare --max-peak 0", []string{"--max-peak"}},
		{"compare --max-peak NaN", []string{"--max-peak"}},
		{"compare --max-peak Inf", []string{"--max-peak"}},
		{"compare --workers -1", []string{"--workers"}},
		{"compare --objective fastest", []string{"--objective", "fastest", "drain, peak, attempts, latency, success"}},
		{"compare --color sometimes", []string{"--color", "auto, always or never"}},
		{"compare --only niave", []string{`no strategy "niave"`, "did you mean naive?"}},
		{"compare --only naive,zzz", []string{`no strategy "zzz"`, "it has naive, "}},
		{"compare secnd-peak", []string{`"secnd-peak"`, "did you mean second-peak?"}},
		{"compare nothing-like-it.yaml", []string{"no scenario and no file", "second-peak, "}},
		{"compare .", []string{"directory"}},
		{"compare bad.yaml", []string{"bad.yaml:3:1: ", "titel: misspelt", "title", "nothing was run"}},
		{"compare trace-replay", []string{"--trace"}},
		{"compare --trace good.csv", []string{"second-peak", "--trace"}},
		{"compare --rate 2", []string{"--trace"}},
		{"compare --from 3s", []string{"--trace"}},
		{"compare trace-replay --trace missing.csv", []string{"missing.csv"}},
		{"compare trace-replay --trace bad.csv", []string{"bad.csv:3: ", "nothing was run"}},
		{"compare trace-replay --trace bad.yaml", []string{"bad.yaml:1: "}},
		{"compare trace-replay --trace good.csv --rate 0", []string{"--rate"}},
		{"compare trace-replay --trace good.csv --rate NaN", []string{"--rate"}},
		{"compare trace-replay --trace good.csv --from -3s", []string{"--from"}},
		{"compare trace-replay --trace good.csv --from 3s --to 2s", []string{"--to", "3s"}},
		{"compare trace-replay --trace good.csv --from 3s", []string{"good.csv", "--from"}},
	} {
		got := herdlab(strings.Fields(x.args)...)
		assert.Equal(t, exitInvalid, got.code, x.args)
		assert.Empty(t, got.out, x.args)
		for _, s := range x.says {
			assert.Contains(t, got.err, s, x.args)
		}
		assert.True(t, strings.HasSuffix(got.err, "\n"), x.args)
		assert.Equal(t, before, files(), x.args)
	}
	for _, hostile := range []string{"", "\x00", strings.Repeat("[", 1000), strings.Repeat("a: 1\n", 1<<19), "a: &a [*a]"} {
		got := herdlabIn(context.Background(), hostile, "compare", "-")
		assert.Equal(t, exitInvalid, got.code)
		assert.Empty(t, got.out)
		assert.Contains(t, got.err, "stdin")
		assert.Equal(t, before, files())
	}
}

// Problems begin with file:line:column, so that editors jump to them.
func TestProblemsBeginWithTheirPlace(t *testing.T) {
	inEmptyDir(t)
	write(t, "bad.yaml", "herdlab: 1\nname: bad\ntitel: misspelt\n")
	got := herdlab("compare", "bad.yaml")
	assert.True(t, strings.HasPrefix(got.err, "bad.yaml:"), got.err)
}

// A picture that cannot be written costs nobody the result.
func TestOutCannotBeMade(t *testing.T) {
	inEmptyDir(t)
	write(t, "file", "")
	got := herdlab(with("--out", filepath.Join("file", "pictures"))...)
	assert.Equal(t, exitInternal, got.code)
	isPage(t, got.out)
	assert.Contains(t, got.out, "wins on")
	assert.Contains(t, got.err, "file")
}

// broken is a stdout that fails.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestBrokenStdout(t *testing.T) {
	inEmptyDir(t)
	for _, x := range []struct {
		err  error
		code int
		says string
	}{
		{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, exitOK, ""}, // its reader has had enough
		{errors.New("no space left on device"), exitInternal, "no space left on device"},
	} {
		for _, args := range [][]string{with("--no-pictures"), with("--no-pictures", "--json"), {"init"}, {"strategies"}, {"version"}} {
			var stderr strings.Builder
			code := run(context.Background(), args, strings.NewReader(""), broken{x.err}, &stderr, os.Getenv)
			assert.Equal(t, x.code, code, args)
			assert.Contains(t, stderr.String(), x.says, args)
			if x.says == "" {
				assert.Empty(t, stderr.String(), args)
			}
		}
	}
}

// endless has a strategy that is done at once and one that takes for ever.
const endless = `herdlab: 1
name: endless
title: One strategy is done at once and the other never
about: For interrupts.
horizon: 200h
bin: 60s
fleet: {clients: 60, traffic: {one_shot: {within: 1ms}}}
provider: {capacity: {slots: 6, queue: 0, service: 2s, full: 503}, refusal_time: 50ms}
faults: [outage: {from: 0s, to: 199h, reply: 503}]
strategies: [five-tries, naive]
`

func TestInterrupt(t *testing.T) {
	files := inEmptyDir(t)
	for _, asJSON := range []bool{false, true} {
		args := []string{"compare", "-", "--seeds", "1", "--out", "pictures"}
		if asJSON {
			args = append(args, "--json")
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		got := herdlabIn(ctx, endless, args...)
		cancel()
		assert.Equal(t, exitInterrupted, got.code)
		assert.Contains(t, got.err, "interrupted; 1 of 2 strategies are complete")
		assert.NotEmpty(t, files(), "pictures of what is complete")
		require.NoError(t, os.RemoveAll("pictures"))
		if asJSON {
			r, err := metrics.ReadResult(strings.NewReader(got.out))
			require.NoError(t, err)
			assert.False(t, r.Complete)
			require.Len(t, r.Results, 1)
			assert.Equal(t, "five-tries", r.Results[0].Strategy)
			continue
		}
		isPage(t, got.out)
		assert.Contains(t, got.out, "five-tries")
		assert.NotContains(t, got.out, "naive")
	}
}

func TestInterruptAtOnce(t *testing.T) {
	files := inEmptyDir(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := herdlabIn(ctx, "", quick...)
	assert.Equal(t, exitInterrupted, got.code)
	assert.Empty(t, got.out)
	assert.Contains(t, got.err, "interrupted; 0 of 4 strategies are complete")
	got = herdlabIn(ctx, "", with("--json")...)
	assert.Equal(t, exitInterrupted, got.code)
	r, err := metrics.ReadResult(strings.NewReader(got.out))
	require.NoError(t, err)
	assert.False(t, r.Complete)
	assert.Empty(t, r.Results)
	assert.Empty(t, files())
}

// Law 1: the same bytes of everything for any number of cores and workers,
// again and again.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first map[string]string
	for _, cores := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(cores)
		for range 2 {
			files := inEmptyDir(t)
			all := map[string]string{}
			got := herdlab(with("--wide")...)
			require.Equal(t, exitOK, got.code, got.err)
			all["stdout"], all["stderr"] = got.out, got.err
			all["json"] = herdlab(with("--json", "--no-pictures")...).out
			for _, f := range files() {
				if text, err := os.ReadFile(f); err == nil {
					all[f] = string(text)
				}
			}
			if first == nil {
				first = all
			}
			require.Len(t, all, len(first))
			for name, text := range first {
				assert.True(t, text == all[name], "%s differs with GOMAXPROCS=%d", name, cores)
			}
		}
	}
}

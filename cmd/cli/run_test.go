package cli

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/scenarios"
	"herdlab/sim/metrics"
	"herdlab/sim/sweep"
	"herdlab/strategies/presets"
)

// ended is the exit code and the output of a run of the program.
type ended struct {
	code     int
	out, err string
}

// herdlab runs the program without a terminal.
func herdlab(args ...string) ended { return herdlabIn(context.Background(), "", args...) }

func herdlabIn(ctx context.Context, stdin string, args ...string) ended {
	var out, err bytes.Buffer
	code := Run(ctx, Config{Args: append([]string{}, args...), Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &err, Getenv: func(string) string { return "" }})
	return ended{code, out.String(), err.String()}
}

// titleOf returns the title of a built-in scenario.
func titleOf(t *testing.T, name string) string {
	t.Helper()
	s, err := scenarios.Builtin(name)
	require.NoError(t, err)
	return s.Title()
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

// quick is a comparison that takes little time.
var quick = []string{"compare", "--seeds", "3", "--only", "fixed-30s,full-jitter,five-tries,breaker+full-jitter"}

func with(args ...string) []string { return append(append([]string{}, quick...), args...) }

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"", "check", "compare", "init", "scenarios", "serve", "strategies", "version"} {
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
	assert.Empty(t, got.err, "stderr is no terminal, so there is no progress")
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

// A program that imports the packages gets the results that the command prints.
func TestCompareRunsTheSpec(t *testing.T) {
	inEmptyDir(t)
	s, err := scenarios.Builtin("second-peak")
	require.NoError(t, err)
	spec := s.Spec(5, 2)
	spec.Tool, spec.MaxSeeds, spec.Confirm = metrics.Tool{Name: "herdlab", Version: toolVersion()}, 60, true
	spec.Rules.MinSuccess, spec.Rules.MaxPeak, spec.Rules.MinDifference = 0.999, 5, 0.01
	r, err := sweep.Compare(context.Background(), spec)
	require.NoError(t, err)
	require.NoError(t, Explain(r))
	var want bytes.Buffer
	require.NoError(t, r.WriteJSON(&want))
	got := herdlab("compare", "--seed", "5", "--seeds", "2", "--json", "--no-pictures")
	assert.Equal(t, want.String(), got.out)
}

// The five tries of the reference experiment all fail before the outage ends, by
// arithmetic (1 + 2 + 4 + 8 s and four jitters of half a second at most). The output
// is "never".
func TestComparePrintsNever(t *testing.T) {
	inEmptyDir(t)
	got := herdlab(with("--no-pictures")...)
	for line := range strings.Lines(got.out) {
		if strings.HasPrefix(line, "✗ five-tries") {
			assert.Equal(t, []string{"0", "%", "5", "×", "0", "×", "never"}, strings.Fields(line)[2:9])
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
		calls := r.Results[0].Estimate(metrics.Calls)
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

// A list has each name once, in order, with its whole description, on a page.
func TestLists(t *testing.T) {
	t.Parallel()
	var names, about []string
	for _, b := range presets.All() {
		names, about = append(names, b.Name), append(about, b.Summary)
	}
	isList(t, herdlab("strategies"), names, about)
	names, about = nil, nil
	for _, l := range scenarios.List() {
		names, about = append(names, l.Name), append(about, l.Title)
	}
	isList(t, herdlab("scenarios"), names, about)
}

func isList(t *testing.T, got ended, names, about []string) {
	t.Helper()
	assert.Equal(t, exitOK, got.code)
	isPage(t, got.out)
	rest := strings.Join(strings.Fields(got.out), " ")
	for i, name := range names {
		_, after, found := strings.Cut(rest, name+" "+strings.Join(strings.Fields(about[i]), " "))
		require.True(t, found, "%s is not there after %s", name, names[max(0, i-1)])
		rest = after
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	got := herdlab("version")
	assert.Equal(t, exitOK, got.code)
	assert.Regexp(t, `^herdlab v\S+ go\S+ \w+/\w+\n$`, got.out)
}

func TestCompletionListsScenarios(t *testing.T) {
	t.Parallel()
	got := herdlab("__complete", "compare", "")
	assert.Equal(t, exitOK, got.code)
	assert.Contains(t, got.out, "second-peak\n")
}

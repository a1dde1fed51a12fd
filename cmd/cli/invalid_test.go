package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Errors of the command line and of files are printed on stderr, with a suggestion if
// there is one; nothing is printed on stdout, nothing is written, and the exit code is
// 2.
func TestInvalid(t *testing.T) {
	files := inEmptyDir(t)
	write(t, "bad.yaml", "herdlab: 1\nname: bad\ntitel: misspelt\n")
	write(t, "bad.csv", "t,prompt_tokens,output_tokens\n0,1,1\n1,x,1\n")
	write(t, "good.csv", "t,prompt_tokens,output_tokens\n0,1,1\n")
	before := files()
	for _, x := range []struct {
		args   string
		stderr []string
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
		{"compare retry-storm --max-peak 3", []string{"--max-peak", "no bound", "slots"}},
		{"compare --min-success 0", []string{"--min-success", "99.9%"}},
		{"compare --min-success 101%", []string{"--min-success", "99.9%"}},
		{"compare --min-difference x", []string{"--min-difference", `"x"`}},
		{"compare --objective peak,fastest", []string{"--objective", "fastest"}},
		{"compare --max-seeds -1", []string{"--max-seeds"}},
		{"compare --workers -1", []string{"--workers"}},
		{"compare --objective fastest", []string{"--objective", "fastest", "drain, peak, attempts, latency, success"}},
		{"compare --color sometimes", []string{"--color", "auto, always or never"}},
		{"compare --only niave", []string{`no strategy "niave"`, "did you mean naive?"}},
		{"compare --only naive,zzz", []string{`no strategy "zzz"`, "it has naive, "}},
		{"compare secnd-peak", []string{`"secnd-peak"`, "did you mean second-peak?"}},
		{"compare nothing-like-it.yaml", []string{"no scenario and no file", "herdlab scenarios lists"}},
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
		{"compare trace-replay --trace good.csv --rate 1e308", []string{"--rate is 1e+308", "at most 1,000,000"}},
		{"compare --only=", []string{"--only is empty"}},
		{"compare --only=,", []string{"--only is empty"}},
		{"compare --out=", []string{"--out is empty"}},
		{"compare --trace=", []string{"--trace is empty"}},
	} {
		got := herdlab(strings.Fields(x.args)...)
		assert.Equal(t, exitInvalid, got.code, x.args)
		assert.Empty(t, got.out, x.args)
		for _, s := range x.stderr {
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

// Problems begin with file:line:column, which editors understand.
func TestProblemsBeginWithTheirPlace(t *testing.T) {
	inEmptyDir(t)
	write(t, "bad.yaml", "herdlab: 1\nname: bad\ntitel: misspelt\n")
	got := herdlab("compare", "bad.yaml")
	assert.True(t, strings.HasPrefix(got.err, "bad.yaml:"), got.err)
}

// The result is printed even if the pictures cannot be written.
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
		err    error
		code   int
		stderr string
	}{
		{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, exitOK, ""}, // its reader closed it
		{errors.New("no space left on device"), exitInternal, "no space left on device"},
	} {
		for _, args := range [][]string{with("--no-pictures"), with("--no-pictures", "--json"), {"init"}, {"strategies"}, {"version"}} {
			var stderr strings.Builder
			code := Run(context.Background(), Config{Args: args, Stdin: strings.NewReader(""), Stdout: broken{x.err}, Stderr: &stderr})
			assert.Equal(t, x.code, code, args)
			assert.Contains(t, stderr.String(), x.stderr, args)
			if x.stderr == "" {
				assert.Empty(t, stderr.String(), args)
			}
		}
	}
}

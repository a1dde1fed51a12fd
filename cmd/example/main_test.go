package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/cmd/cli"
	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/serve"
	"herdlab/strategies"
	"herdlab/strategies/layers"
	"herdlab/strategies/live"
)

// run runs a command of this program, which must end with exit code 0, and returns its
// output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Run(t.Context(), cli.Config{Parts: parts(), Args: args, Stdout: &stdout, Stderr: &stderr})
	require.Zero(t, code, stderr.String())
	return stdout.String()
}

func TestCompare(t *testing.T) {
	page := run(t, "compare", "testdata/own.yaml", "--seeds", "2", "--no-pictures")
	text := strings.Join(strings.Fields(page), " ")
	require.Contains(t, text, "6 strategies × 2 seeds")
	require.Contains(t, text, "partial outage from 60 to 180 s")
	require.Contains(t, text, "recovery time after the partial outage", "the verdict")
}

// The expectations of the scenario are met: each scope of the truce has its own memory.
func TestCheck(t *testing.T) {
	require.Contains(t, run(t, "check", "testdata/own.yaml"), "5 expectations in 1 scenario.")
}

func TestLists(t *testing.T) {
	require.Contains(t, run(t, "strategies"), "\nStrategies of this program\nspread  wait")
	keys, schema := run(t, "scenarios", "--keys"), run(t, "scenarios", "--schema")
	for _, part := range []string{"spread", "truce", "metronome", "fibonacci", "gap", "every_nth", "acme"} {
		require.Contains(t, keys, part)
		require.Contains(t, schema, `"`+part+`"`)
	}
}

// The server answers in the new dialect, with the new limit, and accepts the new fault.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan int)
	go func() {
		args := []string{"serve", "testdata/own.yaml", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--admin-token", "secret"}
		ended <- cli.Run(ctx, cli.Config{Parts: parts(), Args: args, Stdout: in, Stderr: io.Discard})
	}()
	text := make([]byte, 1<<16)
	n, err := out.Read(text)
	require.NoError(t, err)
	host := regexp.MustCompile(`H=(http://\S+)`).FindSubmatch(text[:n])
	admin := regexp.MustCompile(`Live page   (http://[^/]+)/`).FindSubmatch(text[:n])
	require.NotNil(t, host, string(text[:n]))
	require.Contains(t, string(text[:n]), "curl $H/acme/v1/generate")

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	post := func(url, key, body string) string {
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+key)
		resp, err := client.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(answer)
	}
	const question = `{"model":"demo","messages":[{"role":"user","content":"Hello"}]}`
	answers := make(chan string)
	for range 2 { // at the same time, so that one of them violates the gap
		go func() { answers <- post(string(host[1])+"/acme/v1/generate", "sk-you", question) }()
	}
	both := <-answers + <-answers
	require.Contains(t, both, `"result":{`)
	require.Regexp(t, `\{"status":4290,"detail":"slow down","wait":\d`, both)

	require.Contains(t, post(string(admin[1])+"/faults", "secret", `{"every_nth": {"n": 1}}`), `"id"`)
	require.Contains(t, post(string(host[1])+"/acme/v1/generate", "sk-you", question), `"status":`)
	stop()
	require.Equal(t, 130, <-ended)
}

// The layers and the backoff decide in production as in the simulator: the retries of a
// refused request wait, and the metronome spaces requests.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := acme()
		provider := serve.Must(serve.Config{
			Provider: mockprovider.Config{Limits: []mockprovider.Limit{Gap{Every: time.Second}}},
			Dialects: []dialect.Dialect{own},
		})
		_, err := provider.Inject(mockprovider.Fault{To: 10 * time.Second, Does: EveryNth{N: 1}})
		require.NoError(t, err)
		transport := live.Must(live.Config{
			Base: provider.Client().Transport, CustomDialect: &own,
			Strategy: strategies.Definition{Name: "own", Layers: []strategies.Layer{
				layers.Retry{Backoff: Fibonacci{Base: time.Second, Cap: 5 * time.Second}},
				Truce{Failures: 3, For: 5 * time.Second, Scope: strategies.PerFleet},
				Metronome{Every: 2 * time.Second, Scope: strategies.PerFleet},
			}},
		})
		defer transport.Close()
		client, begin := &http.Client{Transport: transport}, time.Now()
		for range 5 {
			r, err := http.NewRequest(http.MethodPost, "http://api.example.com/acme/v1/generate", strings.NewReader(`{"model":"demo","messages":[{"role":"user","content":"Hello"}]}`))
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer sk-you")
			resp, err := client.Do(r)
			require.NoError(t, err)
			answer, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Contains(t, string(answer), `"result":{`)
		}
		require.GreaterOrEqual(t, time.Since(begin), 10*time.Second+4*2*time.Second-2*time.Second, "the outage, and four beats after it")
	})
}

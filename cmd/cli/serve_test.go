package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/sim/traffic"
)

// pipe is a stdout that a test reads while the command runs.
type pipe struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *pipe) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// serving runs serve until stop is called, which returns the exit code.
func serving(t *testing.T, args ...string) (out, stderr *pipe, stop func() int) {
	t.Helper()
	out, stderr = &pipe{}, &pipe{}
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int, 1)
	go func() {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
		code <- Run(ctx, Config{Args: args, Stdin: strings.NewReader(""), Stdout: out, Stderr: stderr})
	}()
	stop = sync.OnceValue(func() int { cancel(); return <-code })
	t.Cleanup(func() { stop() })
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "An interrupt") || len(code) > 0 }, 10*time.Second, time.Millisecond, stderr)
	return out, stderr, stop
}

var (
	curls  = regexp.MustCompile(`(?s)curl \$H(\S+) \\\s+-H '(\S+): ([^']+)' \\\s+-d '([^']+)'`)
	hosts  = regexp.MustCompile(`H=(http://\S+)`)
	tokens = regexp.MustCompile(`Live page   (http://[^/]+)/#(\S+)`)
)

// The printed examples work: each curl gets an answer, the token opens the admin API,
// and the access log is a trace.
func TestServe(t *testing.T) {
	inEmptyDir(t)
	out, stderr, stop := serving(t, "--all", "--time-scale", "1000", "--access-log", "calls.jsonl", "--seed", "7")
	text := out.String()
	isPage(t, text)
	require.Contains(t, text, "Seed 7, 1000 × real time")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	base := hosts.FindStringSubmatch(text)[1]
	all := curls.FindAllStringSubmatch(text, -1)
	require.Len(t, all, len(dialect.All()), "one for each dialect")
	for i, m := range all {
		r, err := http.NewRequest(http.MethodPost, base+m[1], strings.NewReader(m[4]))
		require.NoError(t, err)
		r.Header.Set(m[2], m[3])
		resp, err := client.Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 200, resp.StatusCode, "%s\n%s", m[0], body)
		assert.Contains(t, string(body), "herd ", m[0])
		d := dialect.All()[i]
		assert.Contains(t, text, d.Title+"  "+base+basePath(&d)+"\n")
	}

	m := tokens.FindStringSubmatch(text)
	ask := func(method, path, body string) (status int, answer map[string]any) {
		r, err := http.NewRequest(method, m[1]+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+m[2])
		resp, err := client.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
		return resp.StatusCode, answer
	}
	status, state := ask("GET", "/state", "")
	require.Equal(t, 200, status)
	require.EqualValues(t, len(all), state["counters"].(map[string]any)["arrivals"])
	status, _ = ask("POST", "/faults", `{"outage": {"from": "0s", "to": "1h", "reply": "503"}}`)
	require.Equal(t, 200, status)
	status, answer := ask("POST", "/faults", `{"outgae": {}}`)
	require.Equal(t, 400, status)
	require.Contains(t, answer["error"], "outage", "what was meant")
	var presets [][2]json.RawMessage
	page, err := client.Get(m[1])
	require.NoError(t, err)
	html, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	list := regexp.MustCompile(`(?s)const PRESETS = (\[.*?\n\]);`).FindSubmatch(html)
	require.NoError(t, json.Unmarshal(list[1], &presets))
	own := regexp.MustCompile(`<textarea id="fault-text"[^>]*>([^<]*)<`).FindSubmatch(html)
	for _, p := range append(presets, [2]json.RawMessage{nil, own[1]}) {
		status, answer := ask("POST", "/faults?check=1", string(p[1]))
		require.Equal(t, 200, status, "the page's %s: %v", p, answer)
	}
	status, _ = ask("POST", "/limits", `[{"window": {"limit": "1/min"}}]`)
	require.Equal(t, 200, status)

	require.Equal(t, exitInterrupted, stop())
	require.Contains(t, stderr.String(), "finishing 0 requests")
	log, err := os.Open("calls.jsonl")
	require.NoError(t, err)
	defer log.Close()
	trace, err := traffic.ReadTrace("calls.jsonl", log)
	require.NoError(t, err)
	require.Len(t, trace.Rows, len(all))
	for _, row := range trace.Rows {
		require.NotZero(t, row.Demand.InputTokens)
		require.NotZero(t, row.Demand.OutputTokens)
	}
	written, err := os.ReadFile("calls.jsonl")
	require.NoError(t, err)
	require.NotContains(t, string(written), dialect.ExampleKey, "no secrets in logs")
	require.NotContains(t, out.String()+stderr.String(), "panic")
}

// A scenario's provider is served with its limits.
func TestServeScenario(t *testing.T) {
	inEmptyDir(t)
	out, _, stop := serving(t, "p14003", "--key", "sk-team=5/1", "--tenants", "0")
	text := out.String()
	require.True(t, strings.HasPrefix(text, "p14003: "+titleOf(t, "p14003")+"\n"), text)
	isPage(t, text)
	require.Less(t, strings.Count(text, "\n"), 48, "it fits on a screen")
	require.Len(t, curls.FindAllString(text, -1), len(shownDialects))
	for _, d := range dialect.All() {
		require.Contains(t, text, hosts.FindStringSubmatch(text)[1]+basePath(&d)+"\n", d.Title)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for key, want := range map[string]int{"sk-team": 200, "sk-other": 401} {
		r, err := http.NewRequest(http.MethodPost, hosts.FindStringSubmatch(text)[1]+"/v1/chat/completions", strings.NewReader(`{"model":"demo","messages":[{"role":"user","content":"Hello"}]}`))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+key)
		resp, err := client.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, resp.StatusCode, key)
	}
	require.Equal(t, exitInterrupted, stop())
}

// try sends the n-th request that serve prints.
func try(t *testing.T, printed string, n int) (status int, body string) {
	t.Helper()
	m := curls.FindAllStringSubmatch(printed, -1)[n]
	r, err := http.NewRequest(http.MethodPost, hosts.FindStringSubmatch(printed)[1]+m[1], strings.NewReader(m[4]))
	require.NoError(t, err)
	r.Header.Set(m[2], m[3])
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

// The dialect that a scenario describes is printed first, and requests in it are
// answered in that dialect.
func TestServeOwnDialect(t *testing.T) {
	inEmptyDir(t)
	out, _, stop := serving(t, "own-gateway")
	text := out.String()
	isPage(t, text)
	require.Len(t, curls.FindAllString(text, -1), len(shownDialects))
	require.Contains(t, text, "Our gateway, the scenario's dialect  http://")
	require.Contains(t, text, "curl $H/llm/v2/generate \\\n")
	require.Less(t, strings.Index(text, "Our gateway"), strings.Index(text, "OpenAI  http"))
	for range 120 {
		status, body := try(t, text, 0)
		require.Equal(t, 200, status)
		require.Contains(t, body, `{"errno":0,"errmsg":"ok","result":{`)
	}
	status, body := try(t, text, 0)
	require.Equal(t, 200, status)
	require.Regexp(t, `^\{"errno":45009,"errmsg":"the quota of this minute is used up","wait_ms":\d{5},"quota":120,"left":0\}$`, body)
	status, body = try(t, text, 1)
	require.Equal(t, 429, status, "and in OpenAI's words")
	require.Contains(t, body, "rate_limit_exceeded")
	require.Equal(t, exitInterrupted, stop())
}

// Serve prints an example in the dialect of the scenario, and the names of its models
// and regions.
func TestServePrintsTheNamesOfTheScenario(t *testing.T) {
	inEmptyDir(t)
	long := strings.Repeat("long-name-", 6)
	write(t, "my.yaml", `herdlab: 1
name: my
title: Mine
horizon: 1m
fleet: {clients: 1, traffic: {closed: {think: 1s}}}
provider:
  dialect: zhipu
  models: {`+long+`: {capacity: {slots: 3, service: 10ms}}, light: {capacity: {slots: 4, queue: 5, service: 10ms}}}
  regions: {us: {}, eu: {scale: 0.5}}
strategies: [naive]
`)
	out, _, stop := serving(t, "my.yaml")
	text := out.String()
	isPage(t, text)
	require.Contains(t, text, "Models: "+long+", light\nRegions, by the header X-Herdlab-Region: us, eu\n")
	require.Contains(t, text, "\nZhipu GLM, the scenario's dialect  http://")
	require.Regexp(t, `(?s)Zhipu.*OpenAI.*Anthropic.*Codybuddy`, text)
	for n := range shownDialects {
		status, body := try(t, text, n)
		require.Equal(t, 200, status, body)
		require.Contains(t, body, `"model":"`+long+`"`)
	}
	require.Equal(t, exitInterrupted, stop())
}

func TestServeInvalid(t *testing.T) {
	files := inEmptyDir(t)
	write(t, "bad.yaml", "herdlab: 1\nname: bad\ntitel: misspelt\n")
	before := files()
	for args, want := range map[string]string{
		"nonsense":                           "there is no scenario and no file",
		"bad.yaml":                           "titel: misspelt",
		"--time-scale 0":                     "--time-scale is 0",
		"--time-scale 1e9":                   "TimeScale is 1e+09",
		"--tenants -1":                       "--tenants is -1",
		"--tenants 99999999":                 "1048576 at most",
		"--key sk":                           "write KEY=ACCOUNT",
		"--key sk=x":                         "is not an account",
		"--key sk=1/300":                     "is not an account",
		"--key =1":                           "key 1 is empty",
		"--key a=1 --key a=2":                "key 2 is listed twice",
		"--listen nowhere":                   "--listen: ",
		"--listen 127.0.0.1:0 --admin 1:2:3": "--admin: ",
		"--access-log missing/calls.jsonl":   "--access-log: ",
		"--max-connections -1":               "MaxConnections is -1",
		"--grace -1s":                        "Grace is -1",
		"p14003 second-peak":                 "accepts at most 1 arg",
		"--seed -1":                          "--seed",
	} {
		got := herdlab(append([]string{"serve"}, strings.Fields(args)...)...)
		assert.Equal(t, exitInvalid, got.code, args)
		assert.Empty(t, got.out, args)
		assert.Contains(t, got.err, want, args)
		assert.Equal(t, before, files(), args)
	}
}

package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
)

// listening serves on a loopback port until stop is called, which returns the result of
// Serve.
func listening(t *testing.T, cfg Config) (s *Server, url string, stop func() error) {
	t.Helper()
	s, err := New(cfg)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- s.Serve(ctx, l) }()
	stop = func() error { cancel(); return <-over }
	return s, "http://" + l.Addr().String(), stop
}

func client(t *testing.T) *http.Client {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// isHarness asserts that a reply is from the harness.
func isHarness(t *testing.T, a answer, status int) {
	t.Helper()
	require.Equal(t, status, a.StatusCode, a.body)
	require.Equal(t, OriginHarness, a.Header.Get(OriginHeader))
}

// say sends some bytes over a new connection.
func say(t *testing.T, url, text string) answer {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	return answer{Response: resp}
}

// The replies with which the harness protects itself are marked.
func TestProtection(t *testing.T) {
	s, url, stop := listening(t, Config{Provider: quick(), MaxBody: 1000})
	c := client(t)
	post := func(body string) *http.Request {
		r := chat(t.Context(), t, url, false)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), -1
		return r
	}
	isHarness(t, ask(t, c, post(strings.Repeat("x", 1001))), http.StatusRequestEntityTooLarge)
	require.Equal(t, http.StatusBadRequest, ask(t, c, post(strings.Repeat("x", 1000))).StatusCode, "a reply of the dialect")
	large := chat(t.Context(), t, url, false)
	large.Header.Set("X-Large", strings.Repeat("x", maxHeader))
	isHarness(t, ask(t, c, large), http.StatusRequestHeaderFieldsTooLarge)
	lost := ask(t, c, httpGet(t, url+"/v9/nothing"))
	isHarness(t, lost, http.StatusNotFound)
	require.Contains(t, lost.body, url+"/openai", "base URLs are listed")
	require.Contains(t, lost.body, "POST /v1/messages")
	isHarness(t, say(t, url, "POST /v1/chat/completions HTTP/1.1\r\nHost: herd\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), http.StatusBadRequest)
	for sent, status := range map[string]int{
		"longer than the preface of HTTP/2\r\n\r\n":                           http.StatusBadRequest, // net/http waits for the rest of a shorter one
		"GET /v1/models HTTP/1.1\r\n\r\n":                                     http.StatusBadRequest, // no host
		"GET /v1/models HTTP/9.9\r\nHost: herd\r\n\r\n":                       http.StatusHTTPVersionNotSupported,
		"POST /v1/models HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: x\r\n\r\n": http.StatusNotImplemented,
		"GET /" + strings.Repeat("x", 2*hardHeader) + " HTTP/1.1\r\n\r\n":     http.StatusRequestHeaderFieldsTooLarge,
	} {
		isHarness(t, say(t, url, sent), status)
	}
	require.EqualValues(t, 8, s.State().HarnessRefusals)
	require.Zero(t, s.State().Counters.Arrivals, "nothing reached the provider")
	require.EqualValues(t, 2, s.State().Counters.Unread, "the malformed request and the unknown path")
	require.NoError(t, stop())
}

func TestMaxInFlight(t *testing.T) {
	s, url, stop := listening(t, Config{Provider: quick(), MaxInFlight: 1})
	c := client(t)
	first := make(chan answer, 1)
	go func() { first <- ask(t, c, chat(context.Background(), t, url, false)) }()
	require.Eventually(t, func() bool { return s.State().InFlight == 1 }, 5*time.Second, time.Millisecond)
	isHarness(t, ask(t, c, chat(t.Context(), t, url, false)), http.StatusServiceUnavailable)
	require.Equal(t, http.StatusOK, (<-first).StatusCode)
	require.NoError(t, stop())
}

func TestMaxConnections(t *testing.T) {
	s, url, stop := listening(t, Config{Provider: quick(), MaxConnections: 2})
	c := client(t)
	var idle []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(t, err)
		idle = append(idle, conn)
	}
	require.Eventually(t, func() bool { return s.State().Connections == 2 }, 5*time.Second, time.Millisecond)
	full := ask(t, c, chat(t.Context(), t, url, false))
	isHarness(t, full, http.StatusServiceUnavailable)
	require.Equal(t, "too many connections\n", full.body)
	require.NotZero(t, s.State().HarnessRefusals)
	for _, conn := range idle {
		require.NoError(t, conn.Close())
	}
	require.Eventually(t, func() bool { return s.State().Connections == 0 }, 5*time.Second, time.Millisecond)
	require.Equal(t, http.StatusOK, ask(t, c, chat(t.Context(), t, url, false)).StatusCode)
	require.NoError(t, stop())
}

func httpGet(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	return r
}

// When the context ends, accepted requests finish, with their streams, and requests
// without an answer are closed at once.
func TestGracefulShutdown(t *testing.T) {
	p := quick()
	p.Faults = []mockprovider.Fault{{To: mockprovider.Forever, Where: mockprovider.Match{Accounts: mockprovider.Just(1)}, Does: faults.Silence{}}}
	s, url, stop := listening(t, Config{Provider: p, Keys: []Key{{Secret: "sk-secret"}, {Secret: "sk-hole", Account: 1}}, OutputTokens: 30})
	c := client(t)
	r := chat(context.Background(), t, url, true)
	resp, err := c.Do(r)
	require.NoError(t, err)
	hole := chat(context.Background(), t, url, false)
	hole.Header.Set("Authorization", "Bearer sk-hole")
	lost := make(chan error, 1)
	go func() {
		resp, err := c.Do(hole)
		if err == nil {
			err = resp.Body.Close()
		}
		lost <- err
	}()
	require.Eventually(t, func() bool { return s.State().Counters.Dropped == 1 }, 5*time.Second, time.Millisecond)
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Contains(t, string(text), "[DONE]")
	require.ErrorIs(t, <-lost, io.EOF)
	require.NoError(t, <-ended)
	_, err = c.Do(chat(t.Context(), t, url, false))
	require.Error(t, err, "it accepts no connections")
	require.Zero(t, s.State().InFlight)
}

// HTTP/2 without TLS works, which some SDKs require.
func TestUnencryptedHTTP2(t *testing.T) {
	_, url, stop := listening(t, Config{Provider: quick()})
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	c := &http.Client{Transport: tr}
	a := ask(t, c, chat(t.Context(), t, url, true))
	require.Equal(t, 2, a.ProtoMajor)
	require.Contains(t, a.body, "[DONE]")
	c.CloseIdleConnections()
	require.NoError(t, stop())
}

// Clients that send half a request, or read slowly, do not delay others.
func TestSlowClients(t *testing.T) {
	_, url, stop := listening(t, Config{Provider: quick()})
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: herd\r\nAuthorization: Bearer k\r\nContent-Length: 100\r\n\r\nhalf")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, ask(t, client(t), chat(t.Context(), t, url, false)).StatusCode)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, OriginHarness, resp.Header.Get(OriginHeader))
	require.NoError(t, resp.Body.Close())
	require.NoError(t, stop())
}

// The connection of a client that does not read is closed after a timeout.
func TestClientThatDoesNotRead(t *testing.T) {
	s, url, stop := listening(t, Config{OutputTokens: 4000})
	s.writeTimeout = 50 * time.Millisecond
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	body := `{"model":"` + strings.Repeat("m", 4000) + `","stream":true,"messages":[{"role":"user","content":"hi"}]}` // each frame repeats it
	_, err = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: herd\r\nAuthorization: Bearer k\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.State().Counters.Arrivals == 1 && s.inFlight.Load() == 0 }, 10*time.Second, time.Millisecond)
	require.NoError(t, stop())
}

// Models and regions have names, and limits and faults distinguish them.
func TestModelsAndRegions(t *testing.T) {
	p := mockprovider.Config{
		Models: make([]mockprovider.ModelConfig, 2), Regions: make([]mockprovider.RegionConfig, 2),
		Faults: []mockprovider.Fault{
			{To: mockprovider.Forever, Where: mockprovider.Match{Models: mockprovider.Just(1)}, Does: faults.Refuse{}},
			{To: mockprovider.Forever, Where: mockprovider.Match{Regions: mockprovider.Just(1)}, Does: faults.Errors{}},
		},
	}
	s := Must(Config{Provider: p, Models: []string{"demo", "large"}, Regions: []string{"eu", "us"}})
	send := func(model, region string) int {
		r := chat(t.Context(), t, "http://herd", false)
		r.Body = io.NopCloser(strings.NewReader(`{"model":"` + model + `","messages":[{"role":"user","content":"hi"}]}`))
		r.Header.Set(RegionHeader, region)
		return ask(t, s.Client(), r).StatusCode
	}
	require.Equal(t, 200, send("demo", ""))
	require.Equal(t, 503, send("large", "eu"))
	require.Equal(t, 500, send("demo", "us"))
	require.Equal(t, 200, send("unknown", ""), "the first of each")
	list := httpGet(t, "http://herd/v1/models")
	list.Header.Set("Authorization", "Bearer sk-any")
	require.Contains(t, ask(t, s.Client(), list).body, `"large"`)
	_, err := New(Config{Provider: p, Models: []string{"one"}})
	require.ErrorContains(t, err, "1 names of models, but the provider has 2")
}

// A list of models requires a valid key, in every dialect that has such a list.
func TestModelsRequireKey(t *testing.T) {
	s := Must(Config{Keys: []Key{{Secret: "sk-team"}}, Tenants: -1})
	lists := 0
	for _, d := range dialect.All() {
		for _, route := range d.Routes() {
			path, list := strings.CutPrefix(route, "GET ")
			if !list {
				continue
			}
			lists++
			for _, key := range []string{"", "sk-other", "sk-team"} {
				r := httpGet(t, "http://herd/"+d.Name+path)
				r.Header.Set("Authorization", "Bearer "+key)
				r.Header.Set("api-key", key)
				r.Header.Set("x-api-key", key)
				r.Header.Set("x-goog-api-key", key)
				a := ask(t, s.Client(), r)
				read := d.ParseReply(&dialect.RawReply{Status: a.StatusCode, Header: a.Header.Get, Body: []byte(a.body)}, dialect.ReadContext{})
				if key == "sk-team" {
					require.Equal(t, 200, a.StatusCode, d.Name)
					require.Contains(t, a.body, "herdlab-large", d.Name)
				} else {
					require.Equal(t, wire.Auth, read.Shown, "%s: %s", d.Name, a.body)
				}
			}
		}
	}
	require.Greater(t, lists, 9)
}

// Anthropic reports input and output tokens separately, on success and on refusal, if a
// limit counts only one of them.
func TestWhichTokens(t *testing.T) {
	limit := func(unit mockprovider.Unit) mockprovider.Limit {
		return limits.Window{Limit: 14, Length: time.Minute, Terms: mockprovider.Terms{Charge: mockprovider.Charge{Count: unit}}}
	}
	told := func(limits ...mockprovider.Limit) (names []string) {
		s := Must(Config{Provider: mockprovider.Config{Limits: limits, ReportedLimit: 1}})
		for _, status := range []int{200, 429} {
			r := chat(t.Context(), t, "http://herd/anthropic", false)
			r.URL.Path = "/anthropic/v1/messages"
			a := ask(t, s.Client(), r)
			require.Equal(t, status, a.StatusCode)
			names = names[:0]
			for _, name := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
				if a.Header.Get("anthropic-ratelimit-"+name+"-limit") == "14" && a.Header.Get("anthropic-ratelimit-"+name+"-reset") != "" {
					names = append(names, name)
				}
			}
		}
		return names
	}
	require.Equal(t, []string{"tokens", "input-tokens"}, told(limit(mockprovider.InputTokens)))
	require.Equal(t, []string{"tokens"}, told(limit(mockprovider.AllTokens)))
	require.Equal(t, []string{"tokens"}, told(limit(mockprovider.InputTokens), limit(mockprovider.OutputTokens)), "undetermined")
	require.Equal(t, dialect.OutputTokens, tokensOf([]mockprovider.Limit{limit(mockprovider.OutputTokens), limit(mockprovider.Requests)}))
}

// Client addresses are distinguished, too.
func TestAddresses(t *testing.T) {
	p := mockprovider.Config{Limits: []mockprovider.Limit{limits.Window{Limit: 1, Length: time.Hour, Terms: mockprovider.Terms{Per: mockprovider.Address}}}}
	s := Must(Config{Provider: p})
	for _, x := range []struct {
		host   string
		status int
	}{{"10.0.0.1", 200}, {"10.0.0.1", 429}, {"10.0.0.2", 200}, {"::1", 200}, {"::1", 429}} {
		c := http.Client{Transport: s.RoundTripperFrom(x.host)}
		require.Equal(t, x.status, ask(t, &c, chat(t.Context(), t, "http://herd", false)).StatusCode, "%+v", x)
	}
}

package browser

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/serve"
	"herdlab/scenarios"
)

const token = "a-token-of-the-test"

// chromium returns the path of the browser.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	path, err := exec.LookPath("chromium")
	require.NoError(t, err, "install Chromium, or set CHROMIUM to its path")
	return path
}

// tab opens a new browser.
func tab(t *testing.T, width int) context.Context {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(width, 1000))
	browser, done := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(done)
	page, closed := chromedp.NewContext(browser)
	t.Cleanup(closed)
	page, late := context.WithTimeout(page, time.Minute)
	t.Cleanup(late)
	return page
}

// start serves a provider and its admin page and returns their URLs.
func start(t *testing.T) (api, admin string) {
	t.Helper()
	s, err := serve.New(serve.Config{Provider: serve.Default(), Title: "A test", OutputTokens: 5, Parser: scenarios.Words{}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	var urls []string
	for _, run := range []func(net.Listener) error{
		func(l net.Listener) error { return s.Serve(ctx, l) },
		func(l net.Listener) error { return s.ServeAdmin(ctx, l, token) },
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		urls = append(urls, "http://"+l.Addr().String())
		done := make(chan error, 1)
		go func() { done <- run(l) }()
		t.Cleanup(func() { stop(); <-done })
	}
	return urls[0], urls[1]
}

// ask sends n requests and returns the number of replies by status.
func ask(t *testing.T, api string, n int) map[int]int {
	t.Helper()
	got := map[int]int{}
	for range n {
		req, err := http.NewRequest(http.MethodPost, api+"/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":2}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer sk-page")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		got[resp.StatusCode]++
	}
	return got
}

// until waits until an expression is true on the page.
func until(t *testing.T, page context.Context, expression string, args ...any) {
	t.Helper()
	_, err := chromedp.Run(page, chromedp.Poll[bool](fmt.Sprintf(expression, args...), chromedp.WithPollingTimeout(20*time.Second)))
	require.NoError(t, err, expression)
}

func do(t *testing.T, page context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	require.NoError(t, chromedp.Do(page, steps...))
}

// The page shows requests, injects faults and ends them.
func TestPage(t *testing.T) {
	api, admin := start(t)
	page := tab(t, 1200)
	var foreign []string
	require.NoError(t, chromedp.Listen(page, func(e any) {
		if r, ok := e.(*network.EventRequestWillBeSent); ok && !strings.HasPrefix(r.Request.URL, admin) && !strings.HasPrefix(r.Request.URL, "data:") {
			foreign = append(foreign, r.Request.URL)
		}
	}))
	console := chromedp.Console(page)

	do(t, page, chromedp.Navigate(admin+"/#"+token), chromedp.WaitVisible("#app"), chromedp.WaitVisible("#no-decisions"), chromedp.WaitVisible("#no-faults"))
	until(t, page, `document.querySelector("#title").textContent === "A test"`)

	require.Equal(t, map[int]int{200: 5}, ask(t, api, 5))
	until(t, page, `document.querySelectorAll("#decisions tbody tr").length === 5`)
	until(t, page, `Number(document.querySelector("#offered").textContent) > 0`)
	until(t, page, `document.querySelectorAll("#load rect").length > 0`)

	// The first preset is an outage.
	do(t, page, chromedp.Click("#presets button"))
	until(t, page, `document.querySelector("#faults").textContent.includes("outage")`)
	require.Equal(t, map[int]int{503: 3}, ask(t, api, 3))
	until(t, page, `document.querySelector("#reasons").textContent.includes("overloaded")`)
	do(t, page, chromedp.Click("#only"))
	until(t, page, `document.querySelectorAll("#decisions tbody tr").length === 3`)

	// End it.
	do(t, page, chromedp.Click("#faults button"), chromedp.WaitVisible("#no-faults"))
	require.Equal(t, map[int]int{200: 2}, ask(t, api, 2))

	// A custom fault, first an invalid one.
	write := func(text string) {
		do(t, page, chromedp.SetValue("#fault-text", text), chromedp.Click("#inject"))
	}
	do(t, page, chromedp.Click("#own summary"), chromedp.WaitVisible("#inject"))
	write(`{"outrage": {"from": "0s", "to": "30s"}}`)
	until(t, page, `document.querySelector("#fault-error").textContent.includes("outage")`) // the suggestion
	write(`{"errors": {"from": "0s", "to": "30s", "class": "quota"}}`)
	until(t, page, `document.querySelector("#faults").textContent.includes("errors")`)
	require.Equal(t, map[int]int{429: 1}, ask(t, api, 1))

	require.Empty(t, foreign, "the page sends requests only to its own server")
	_ = chromedp.Cancel(page)
	for m := range console {
		// The browser logs each preset that is invalid for the provider.
		if text := fmt.Sprint(m); !strings.Contains(text, "400 (Bad Request)") {
			require.NotContains(t, []string{"error", "assert"}, fmt.Sprint(m.Type), text)
		}
	}
}

// Without the token, the page shows only the form for it.
func TestToken(t *testing.T) {
	_, admin := start(t)
	page := tab(t, 400)
	do(t, page, chromedp.Navigate(admin+"/#wrong"))
	until(t, page, `document.querySelector("#denied").textContent !== "" && document.querySelector("#app").hidden`)
	do(t, page, chromedp.SetValue("#token", token))
	until(t, page, `document.querySelector("#token").value === "%s"`, token)
	do(t, page, chromedp.Click("#ask button"))
	until(t, page, `!document.querySelector("#app").hidden && document.querySelector("#ask").hidden`)
	// On a narrow screen nothing is wider than the screen.
	until(t, page, `document.documentElement.scrollWidth <= document.documentElement.clientWidth`)
}

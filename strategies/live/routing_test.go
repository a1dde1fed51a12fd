package live

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/strategies"
	"herdlab/strategies/layers"
)

// A request goes to the model, key and region that the strategy selects.
func TestRouting(t *testing.T) {
	there, err := url.Parse("https://eu.herd.test/base/")
	require.NoError(t, err)
	var seen []string
	p := &provider{}
	p.respond = func(_ int, r *http.Request) (*http.Response, error) {
		seen = append(seen, r.URL.String()+" "+r.Header.Get("Authorization")+" "+p.bodies[len(p.bodies)-1])
		return jsonResponse(503, `{}`)
	}
	target := wire.Target{}
	script := strategies.Script(func(s *strategies.Session) error {
		s.Send()
		s.Call().Target = target
		s.Send()
		return strategies.ErrGaveUp
	})
	cfg := configOf(script)
	cfg.Models, cfg.Keys, cfg.Regions = []string{"m", `li"ght`}, []string{"secret", "other"}, []*url.URL{nil, there}
	target = wire.Target{Model: 1, Region: 1, Key: 1}
	withTransport(t, p, cfg, func(tr *Transport) {
		_, _, err := post(context.Background(), tr, chatRequest)
		require.NoError(t, err)
		require.Equal(t, []string{
			"http://herd.test/v1/chat/completions Bearer secret " + chatRequest,
			"https://eu.herd.test/base/v1/chat/completions Bearer other " + strings.Replace(chatRequest, `"m"`, `"li\"ght"`, 1),
		}, seen)
	})
	target = wire.Target{Model: 2}
	withTransport(t, &provider{respond: p.respond}, cfg, func(tr *Transport) {
		_, _, err := post(context.Background(), tr, chatRequest)
		require.ErrorContains(t, err, "selects model 2, but the Config lists only 2")
	})
}

func TestSplice(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"a":1, "k" : [1,{"k":2}] ,"b":"k"}`, `{"a":1, "k" : 9 ,"b":"k"}`},
		{`{"a":{"k":1}}`, ""}, {`{}`, ""}, {`[1]`, ""}, {`{"a":`, ""}, {``, ""},
	} {
		got, ok := splice([]byte(c.body), []byte("9"), "k")
		require.Equal(t, c.want != "", ok, c.body)
		if c.want == "" {
			c.want = c.body
		}
		require.Equal(t, c.want, string(got), c.body)
	}
	got, ok := splice([]byte(`{"k":1,"a":{"b":2, "k":3}}`), []byte("9"), "a", "k")
	require.True(t, ok)
	require.Equal(t, `{"k":1,"a":{"b":2, "k":9}}`, string(got))
	_, ok = splice([]byte(`{"a":[{"k":3}],"k":1}`), []byte("9"), "a", "k")
	require.False(t, ok)
}

// A lower output limit of the strategy replaces the limit in the request, in each
// dialect; all other bytes, and requests without a limit, are unchanged.
func TestShrink(t *testing.T) {
	halves := layers.Shrink{Output: 0.5, Times: 2}
	for path, c := range map[string]struct{ body, key string }{
		"v1/chat/completions":                             {`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":100}`, `"max_tokens":`},
		"v1/chat/completions?newer":                       {`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_completion_tokens":100}`, `"max_completion_tokens":`},
		"v1/responses":                                    {`{"model":"m","input":"hi","max_output_tokens":100}`, `"max_output_tokens":`},
		"v1/messages":                                     {`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":100}`, `"max_tokens":`},
		"v1beta/models/m:generateContent":                 {`{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":100}}`, `"maxOutputTokens":`},
		"model/m/converse":                                {`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"inferenceConfig":{"maxTokens":100}}`, `"maxTokens":`},
		"v1/chat/completions?without":                     {`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `none`},
		"api/v1/services/aigc/text-generation/generation": {`{"model":"m","input":{"prompt":"hi"},"parameters":{"max_tokens":100}}`, `"max_tokens":`},
	} {
		t.Run(path, func(t *testing.T) {
			p := &provider{respond: func(int, *http.Request) (*http.Response, error) { return jsonResponse(503, `{}`) }}
			withTransport(t, p, configOf(halves), func(tr *Transport) {
				req, err := http.NewRequest(http.MethodPost, "http://herd.test/"+path, strings.NewReader(c.body))
				require.NoError(t, err)
				resp, err := tr.RoundTrip(req)
				require.NoError(t, err)
				resp.Body.Close()
				var want []string
				for _, most := range []string{"100", "50", "25"} {
					want = append(want, strings.Replace(c.body, c.key+"100", c.key+most, 1))
				}
				require.Equal(t, want, p.bodies)
			})
		})
	}
}

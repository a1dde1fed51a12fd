package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
)

// Headers of the harness take effect. An invalid value is refused by the harness, in
// the form of the dialect, and the request does not reach the provider.
func TestHarnessHeaders(t *testing.T) {
	p := quick()
	p.Regions = make([]mockprovider.RegionConfig, 2)
	for _, c := range []struct{ header, value, says string }{
		{OutputHeader, "3", ""},
		{OutputHeader, "0", ""},
		{OutputHeader, "500", ""},
		{OutputHeader, "-4", `X-Herdlab-Output-Tokens is \"-4\"; it must be a whole number from 0 to 500`},
		{OutputHeader, "501", "from 0 to 500"},
		{OutputHeader, "3.5", "from 0 to 500"},
		{OutputHeader, "99999999999999999999", "from 0 to 500"},
		{OutputHeader, strings.Repeat("x", 500), `xx\"; it must be a whole`},
		{CallHeader, "18446744073709551615", ""},
		{CallHeader, "18446744073709551616", "X-Herdlab-Call is"},
		{CallHeader, "a", "X-Herdlab-Call is"},
		{AttemptHeader, "2", ""},
		{AttemptHeader, "0", "from 1 to 4294967295"},
		{AttemptHeader, "4294967296", "from 1 to 4294967295"},
		{RegionHeader, "eu", ""},
		{RegionHeader, "mars", "the regions are us, eu"},
		{"X-Stainless-Retry-Count", "-1", ""}, // set by SDKs, and ignored if invalid
	} {
		s := Must(Config{Provider: p, MaxTokens: 500, Regions: []string{"us", "eu"}, Dialects: []dialect.Dialect{gateway.Dialect()}})
		for _, path := range []string{"/openai/v1/chat/completions", "/own/v1/chat/completions"} {
			r := chat(t.Context(), t, "http://herd", false)
			r.URL.Path = path
			r.Header.Set(c.header, c.value)
			a := ask(t, s.Client(), r)
			require.True(t, json.Valid([]byte(a.body)), a.body)
			if c.says == "" {
				require.Equal(t, 200, a.StatusCode, a.body)
				require.Contains(t, a.body, `"finish_reason"`)
				continue
			}
			require.Equal(t, OriginHarness, a.Header.Get(OriginHeader))
			require.Contains(t, a.body, c.says)
			if strings.HasPrefix(path, "/own") {
				require.Equal(t, http.StatusOK, a.StatusCode)
				require.Contains(t, a.body, `"errno":14000`)
			} else {
				require.Equal(t, http.StatusBadRequest, a.StatusCode)
				require.Contains(t, a.body, `"type":"invalid_request_error"`)
			}
			require.Zero(t, s.State().Counters.Arrivals)
			require.Contains(t, s.Decisions(1)[0].Why, c.header)
		}
	}
	_, err := New(Config{OutputTokens: 501, MaxTokens: 500})
	require.ErrorContains(t, err, "OutputTokens is 501; an answer has at most MaxTokens, which is 500")
	r := chat(t.Context(), t, "http://herd", false)
	r.Header.Set(RegionHeader, "eu")
	require.Contains(t, ask(t, Must(Config{}).Client(), r).body, "this provider has no named regions")
}

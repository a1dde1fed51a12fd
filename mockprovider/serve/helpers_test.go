package serve

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"herdlab/mockprovider"
	"herdlab/sim/draw"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(slowEnv); address != "" {
		slowClients(address)
		return
	}
	goleak.VerifyTestMain(m)
}

// quick returns a provider whose answers of five tokens take 100 ms to the first token
// and 10 ms per token.
func quick() mockprovider.Config {
	return mockprovider.Config{Capacity: mockprovider.Capacity{
		Service: mockprovider.Service{First: draw.Const(100 * time.Millisecond), PerToken: 10 * time.Millisecond},
	}}
}

// chat returns a request for an answer of five tokens.
func chat(ctx context.Context, t testing.TB, url string, stream bool) *http.Request {
	t.Helper()
	body := `{"model":"demo","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`
	if stream {
		body = strings.Replace(body, "{", `{"stream":true,`, 1)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer sk-secret")
	return r
}

// answer is a completely read response.
type answer struct {
	*http.Response
	body string
	err  error // of reading the body
}

func ask(t testing.TB, c *http.Client, r *http.Request) answer {
	t.Helper()
	resp, err := c.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp, string(text), err}
}

// withFault returns a provider with one fault that does not end.
func withFault(does mockprovider.Disturbance) mockprovider.Config {
	p := quick()
	p.Faults = []mockprovider.Fault{{To: mockprovider.Forever, Does: does}}
	return p
}

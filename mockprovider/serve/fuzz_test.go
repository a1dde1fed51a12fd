package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider/dialect"
)

// The server answers any input with a valid status, without a panic; invalid requests
// are refused in the form of the dialect.
func FuzzHandler(f *testing.F) {
	f.Add("POST", "/v1/chat/completions", "", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, "Bearer k", "3", "9")
	f.Add("POST", "/anthropic/v1/messages", "beta=true", `{"model":"m","max_tokens":9,"stream":true,"messages":[]}`, "", "", "")
	f.Add("GET", "/v1beta/models/x:streamGenerateContent", "key=1&alt=sse", "{", "Bearer", "-1", "99999999999999999999")
	for i := range dialect.All() {
		d := dialect.All()[i]
		for _, r := range d.Routes() {
			method, path, _ := strings.Cut(r, " ")
			f.Add(method, strings.ReplaceAll(path, "{model}", "m"), "", `{"model":7}`, "Bearer k", "1", "1")
			f.Add(method, "/"+d.Name+path, "", `[]`, "k", "", "")
		}
	}
	// All durations are 0, so the clock need not advance.
	s := Must(Config{Clock: clockwork.NewFakeClock(), Tenants: 5, Addresses: 5})
	f.Fuzz(func(t *testing.T, method, path, query, body, key, call, attempt string) {
		r, err := http.NewRequest(method, "http://herd/", strings.NewReader(body))
		if err != nil {
			return
		}
		r.URL.Path, r.URL.RawQuery = path, query
		r.RemoteAddr = path
		r.Header.Set("Authorization", key)
		r.Header.Set(CallHeader, call)
		r.Header.Set(AttemptHeader, attempt)
		r.Header.Set(OutputHeader, attempt)
		r.Header.Set("Idempotency-Key", call)
		r.Header.Set("X-Stainless-Retry-Count", attempt)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code < 200 {
			t.Fatalf("%d for %s %s %q: %s", w.Code, method, path, body, w.Body)
		}
		if st := s.State(); st.InFlight != 0 || st.Counters.Arrivals != st.Counters.Replies.sum() {
			t.Fatalf("a request is lost: %+v", st)
		}
	})
}

func (b ByClass) sum() (n uint64) {
	for _, x := range b {
		n += x
	}
	return n
}

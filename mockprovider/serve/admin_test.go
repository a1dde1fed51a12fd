package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
)

// testParser parses outages of a number of seconds, and windows.
type testParser struct{}

func (testParser) Fault(text []byte) (mockprovider.Fault, error) {
	var w struct{ Outage float64 }
	if err := json.Unmarshal(text, &w); err != nil {
		return mockprovider.Fault{}, err
	}
	return faults.Outage(0, time.Duration(w.Outage*float64(time.Second)), mockprovider.Refusal{}), nil
}

func (testParser) Limits(text []byte) ([]mockprovider.Limit, error) {
	var w struct{ Window int32 }
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, err
	}
	if w.Window < 0 {
		return nil, errors.New("no such window")
	}
	return []mockprovider.Limit{limits.Window{Limit: w.Window, Length: time.Minute, Terms: mockprovider.Terms{Per: mockprovider.Account}}}, nil
}

// admin sends a request to the admin API and returns status and body.
func admin(t testing.TB, h http.Handler, method, path, token, body string) (status int, said map[string]any, text string) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	_ = json.Unmarshal(w.Body.Bytes(), &said)
	return w.Code, said, w.Body.String()
}

// Slots and places are the current sums over all models and regions.
func TestStateSlotsAndPlaces(t *testing.T) {
	of := func(slots, queue int) mockprovider.ModelConfig {
		return mockprovider.ModelConfig{Capacity: &mockprovider.Capacity{Slots: slots, Queue: queue}}
	}
	p := mockprovider.Config{
		Models:  []mockprovider.ModelConfig{of(3, 0), of(4, 5)},
		Regions: []mockprovider.RegionConfig{{}, {Scale: 0.5}},
	}
	s := Must(Config{Provider: p})
	room := func() (slots any, places int) {
		st := s.State()
		if st.Slots == nil {
			return nil, st.Places
		}
		return *st.Slots, st.Places
	}
	slots, places := room()
	require.Equal(t, 3+4+2+2, slots)
	require.Equal(t, 5+3, places)
	for percent, want := range map[int32]int{0: 0, 50: 2 + 2 + 1 + 1} {
		_, err := s.Inject(mockprovider.Fault{To: mockprovider.Forever, Does: faults.Brownout{Percent: percent}})
		require.NoError(t, err)
		slots, _ = room()
		require.Equal(t, want, slots, "%d %%", percent)
		s.ClearAll()
	}
	p.Models[0].Capacity.Slots = 0
	s = Must(Config{Provider: p})
	slots, places = room()
	require.Nil(t, slots, "unlimited")
	require.Equal(t, 8, places)
}

// The admin API shows the state, injects faults, and ends them.
func TestAdmin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Must(Config{Provider: quick(), Parser: testParser{}, Title: "quick"})
		h := s.Admin("secret")
		do := func(method, path, body string, status int) map[string]any {
			t.Helper()
			got, said, text := admin(t, h, method, path, "secret", body)
			require.Equal(t, status, got, text)
			return said
		}
		state := do("GET", "/state", "", 200)
		require.Equal(t, "quick", state["title"])
		require.Empty(t, state["faults"])
		require.NotNil(t, state["faults"], "an empty list, and not null")

		require.Equal(t, 200, ask(t, s.Client(), chat(t.Context(), t, "http://herd", false)).StatusCode)
		require.EqualValues(t, 0, do("POST", "/faults", `{"outage": 60}`, 200)["id"])
		refused := ask(t, s.Client(), chat(t.Context(), t, "http://herd", false))
		require.Equal(t, 503, refused.StatusCode)

		list := do("GET", "/decisions?refused=1", "", 200)["decisions"].([]any)
		require.Len(t, list, 1)
		d := list[0].(map[string]any)
		require.Equal(t, refused.Header.Get("X-Request-Id"), d["id"], "the client can ask: why was I refused?")
		require.Equal(t, "overloaded", d["class"])
		require.Contains(t, d["why"], "out of service; a fault is active")
		require.Len(t, do("GET", "/decisions?id="+refused.Header.Get("X-Request-Id"), "", 200)["decisions"], 1)
		require.Len(t, do("GET", "/decisions?class=ok", "", 200)["decisions"], 1)
		require.Len(t, do("GET", "/decisions?n=1", "", 200)["decisions"], 1)
		require.Empty(t, do("GET", "/decisions?tenant=nobody", "", 200)["decisions"])

		faults := do("GET", "/state", "", 200)["faults"].([]any)
		require.Len(t, faults, 1)
		require.Equal(t, true, faults[0].(map[string]any)["active"])
		do("DELETE", "/faults/0", "", 200)
		do("DELETE", "/faults/0", "", 404)
		require.Equal(t, 200, ask(t, s.Client(), chat(t.Context(), t, "http://herd", false)).StatusCode)

		do("POST", "/faults", `{"outage": 60}`, 200)
		do("DELETE", "/faults", "", 200)
		require.Empty(t, do("GET", "/state", "", 200)["faults"])
		do("POST", "/faults?check=1", `{"outage": 60}`, 200)
		do("POST", "/faults?check=1", `{"outage": 0}`, 400)
		require.Empty(t, do("GET", "/state", "", 200)["faults"], "check=1 injects nothing")

		counters := do("GET", "/counters", "", 200)
		require.EqualValues(t, 3, counters["arrivals"])
		require.Equal(t, map[string]any{"ok": 2.0, "overloaded": 1.0}, counters["replies"])
		require.EqualValues(t, 10, counters["output_tokens"])

		do("POST", "/limits", `{"window": 1}`, 200)
		require.Equal(t, 200, ask(t, s.Client(), chat(t.Context(), t, "http://herd", false)).StatusCode)
		require.Equal(t, 429, ask(t, s.Client(), chat(t.Context(), t, "http://herd", false)).StatusCode)
		do("POST", "/limits", `{"window": -1}`, 400)
		do("POST", "/limits", `{"window": 0}`, 400)
		require.Equal(t, 429, ask(t, s.Client(), chat(t.Context(), t, "http://herd", false)).StatusCode, "unchanged")
		do("POST", "/reset", "", 200)
		require.Equal(t, 200, ask(t, s.Client(), chat(t.Context(), t, "http://herd", false)).StatusCode)
		require.EqualValues(t, 1, do("GET", "/counters", "", 200)["arrivals"])

		bins := do("GET", "/series", "", 200)
		require.EqualValues(t, 1, bins["bin"])
		require.NotEmpty(t, bins["bins"])

		for _, bad := range []string{"", "{", "[]", `{"outage": "x"}`, strings.Repeat("x", maxAdmin+1)} {
			got, said, _ := admin(t, h, "POST", "/faults", "secret", bad)
			require.Contains(t, []int{400, 413}, got)
			require.NotEmpty(t, said["error"])
		}
		require.NotEmpty(t, do("GET", "/decisions?n=x", "", 400)["error"])
		require.Contains(t, do("GET", "/decisions?n=1025", "", 400)["error"], "from 0 to 1024")
		require.Contains(t, do("GET", "/decisions?class=nonsense", "", 400)["error"], "there are ok, rate, ")
		require.Contains(t, do("GET", "/decisions?n=1&refuse=1", "", 400)["error"], `unknown parameter "refuse"; there are n, refused, tenant, class, id`)
		require.Contains(t, do("POST", "/faults?chek=1", `{"outage": 60}`, 400)["error"], `unknown parameter "chek"; there are check`)
		require.Contains(t, do("GET", "/nothing", "", 404)["error"], "GET /state")
		require.Contains(t, do("PUT", "/faults", "", 404)["error"], "POST /faults")

		status, _, text := admin(t, h, "GET", "/metrics", "secret", "")
		require.Equal(t, 200, status)
		require.Contains(t, text, "herdlab_arrivals_total 7", "a reset of the provider does not reset metrics")
		require.Contains(t, text, `herdlab_replies_total{class="overloaded"} 1`)
		require.Contains(t, text, `herdlab_wait_seconds_bucket{class="ok",le="0.3"} 4`)
	})
}

// Everything but the page requires the token, and the page contains no data.
func TestAdminToken(t *testing.T) {
	s := Must(Config{Provider: quick()})
	h := s.Admin("secret")
	for _, path := range []string{"/state", "/metrics", "/nothing", "/faults"} {
		for _, token := range []string{"", "Secret", "secret ", "s", strings.Repeat("secret", 100)} {
			status, said, text := admin(t, h, "GET", path, token, "")
			require.Equal(t, 401, status, "%s %q", path, token)
			require.Contains(t, said["error"], "token")
			require.NotContains(t, text, "quick")
		}
	}
	r := httptest.NewRequest("GET", "/state", nil)
	r.Header.Set("Authorization", "secret") // no bearer
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(t, 401, w.Code)
	status, _, text := admin(t, h, "GET", "/", "", "")
	require.Equal(t, 200, status)
	require.Contains(t, text, "<title>herdlab serve</title>")
	require.NotContains(t, strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "://", "no external resources")
	require.NotEqual(t, NewToken(), NewToken())
	require.Greater(t, len(NewToken()), 20)
	require.Panics(t, func() { s.Admin("") })
	status, said, _ := admin(t, h, "POST", "/faults", "secret", "{}")
	require.Equal(t, 501, status)
	require.Contains(t, said["error"], "Go")
}

// No request makes the admin API panic.
func FuzzAdmin(f *testing.F) {
	for _, seed := range [][3]string{
		{"POST", "/faults", `{"outage": 60}`}, {"DELETE", "/faults/1", ""}, {"GET", "/decisions?n=1&refused=1", ""},
		{"POST", "/limits", `{"window": 3}`}, {"POST", "/reset", ""}, {"GET", "/%zz", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := Must(Config{Provider: quick(), Parser: testParser{}})
	h := s.Admin("secret")
	f.Fuzz(func(t *testing.T, method, path, body string) {
		r, err := http.NewRequest(method, "http://admin/"+strings.TrimPrefix(path, "/"), strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Authorization", "Bearer secret")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%d for %s %s %q: %s", w.Code, method, path, body, w.Body)
		}
	})
}

// Every class and every kind of end has an explanation.
func TestExplain(t *testing.T) {
	for c := range wire.Class(wire.NumClasses) {
		d := decision{class: c}
		d.end.Reply = wire.Reply{Class: c, Shown: c, Hint: wire.Hint{Value: 2 * time.Second}, Limit: 5}
		require.NotEmpty(t, d.explain(), c)
		if c != wire.OK {
			require.Contains(t, d.explain(), "retry after 2s")
		}
	}
	for b := wire.StreamError; b < wire.NumBodies; b++ {
		require.NotEmpty(t, bodyTexts[b])
	}
	for _, k := range []wire.EffectKind{wire.Dropped, wire.LostConnection} {
		require.Contains(t, (&decision{end: wire.Effect{Kind: k}}).explain(), "a fault")
	}
}

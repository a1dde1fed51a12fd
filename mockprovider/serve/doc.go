// Package serve runs a mockprovider.Provider over HTTP: as an http.Handler, as an
// http.RoundTripper within a process, and as a server. The provider decides and the
// dialects write the replies; this package adds a clock, connections, an admin API
// and a live page. With the same requests at the same times, its replies are those of
// the simulated provider, byte for byte.
//
// Most users need three names: [Config], whose zero value is a provider without
// limits; [New], which returns a [Server]; and [Server.Client], an http.Client of it
// without sockets. [NewTestServer] is a server with a URL, for tests that need sockets.
//
// # In a test
//
// A Server on the real clock, within testing/synctest, runs hours of faults against a
// production client in milliseconds:
//
//	synctest.Test(t, func(t *testing.T) {
//		provider := serve.Must(serve.Config{Provider: serve.Default()})
//		client := mycode.NewClient(mycode.WithHTTPClient(provider.Client()))
//		provider.Inject(mockprovider.Outage(time.Hour, 2*time.Hour, mockprovider.Refusal{}))
//		…
//	})
//
// Without synctest, Config.Clock can be a fake clock.
//
// # Requests
//
// The path of a request selects its dialect; if several dialects have the same path,
// /NAME before it selects one. The API key selects the account: a key of the
// configuration has its own, any other key gets one of a bounded number, and a request
// without a key is refused. The remote IP is the client's address. The length of the
// prompt is estimated; the answer has Config.OutputTokens, unless max_tokens is less.
// Some headers set what a client of a real provider cannot: X-Herdlab-Call and
// X-Herdlab-Attempt, which random draws depend on, X-Herdlab-Region and
// X-Herdlab-Output-Tokens. An invalid value is an error.
//
// The harness itself refuses what exceeds its own limits, and what has an unknown path,
// region or number. These replies have the header X-Herdlab-Origin: harness, which
// distinguishes them from the provider's.
//
// # The admin API
//
// Admin answers with JSON on a separate port. It requires Authorization: Bearer TOKEN.
// Errors are {"error": "…"}.
//
//	GET    /            the live page, which requests the token
//	GET    /metrics     for Prometheus
//	GET    /state       a State
//	GET    /counters    its Counters
//	GET    /series      a SeriesState: the events of the last bins
//	GET    /decisions   {"decisions": […]}: the last ones, newest first, with the reason
//	                    ?n=50 &refused=1 &tenant= &class= &id=
//	GET    /faults      a list of FaultState
//	POST   /faults      {"outage": {"from": "0s", "to": "30s"}}: a fault in the format of
//	                    scenario files, with times from now; returns {"id": 3}
//	                    ?check=1 only checks it
//	DELETE /faults/3    ends that fault, DELETE /faults all of them
//	POST   /limits      [{"window": {"limit": "60/min"}}]: other limits, and a reset
//	POST   /reset       time 0, limits unused, counters 0
//
// # The access log
//
// Config.AccessLog receives an Access as a line of JSON for each request that has
// ended, and also for requests that did not reach the provider, which are marked. Such
// a file is also a recorded trace.
package serve

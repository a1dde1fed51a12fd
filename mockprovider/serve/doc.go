// Package serve lets a mockprovider.Provider answer over HTTP: as an
// http.Handler, as an http.RoundTripper within a process, and as a server.
//
// The provider decides, the dialects write; this package brings a clock, the
// connections, and whoever they are of. Given the same requests at the same
// times its replies are those of the simulated provider, byte by byte.
//
// # In a test
//
// A Server on the real clock, within testing/synctest, lets a production client
// meet hours of trouble in milliseconds:
//
//	synctest.Test(t, func(t *testing.T) {
//		provider := serve.Must(serve.Config{Provider: serve.Default()})
//		client := mycode.NewClient(mycode.WithHTTPClient(provider.Client()))
//		provider.Inject(mockprovider.Outage(time.Hour, 2*time.Hour, mockprovider.Refusal{}))
//		…
//	})
//
// Outside a bubble, Config.Clock takes a fake clock, and NewTestServer gives
// sockets where a client insists on them.
//
// # Requests
//
// A request is in the dialect whose path it has; /NAME before the path says
// which, where several have the same. Its API key is its account: keys of the
// configuration have theirs, any other key gets one of a bounded number, and a
// request without a key is not let in. Its remote IP is its address. The prompt's
// length is estimated; the answer has Config.OutputTokens, if max_tokens does not
// cap it. Some headers say what a client of a real provider cannot:
// X-Herdlab-Call and X-Herdlab-Attempt, for draws that belong to them,
// X-Herdlab-Region and X-Herdlab-Output-Tokens. What they cannot mean is an error.
//
// What the harness refuses, for its own protection or because there is no such
// path, region or number, has the header X-Herdlab-Origin: harness, so that nobody
// takes it for the provider's.
//
// # The admin API
//
// Admin answers JSON on a port of its own to whoever sends Authorization: Bearer
// TOKEN. Errors are {"error": "what is wrong"}.
//
//	GET    /            the live page; it asks for the token
//	GET    /metrics     for Prometheus
//	GET    /state       a State
//	GET    /counters    its Counters
//	GET    /series      a SeriesState: what happened in each of the last bins
//	GET    /decisions   {"decisions": […]}: the last ones, newest first; why was I refused?
//	                    ?n=50 &refused=1 &tenant= &class= &id=
//	GET    /faults      a list of FaultState
//	POST   /faults      {"outage": {"from": "0s", "to": "30s"}}: a fault as scenario
//	                    files spell it, its times from now; answers {"id": 3}
//	                    ?check=1 only says whether it would do
//	DELETE /faults/3    ends that fault, DELETE /faults all of them
//	POST   /limits      [{"window": {"limit": "60/min"}}]: other limits; a reset
//	POST   /reset       time 0, limits whole, nothing counted
//
// # The access log
//
// Config.AccessLog gets an Access as a line of JSON for each request for an answer
// that has ended, also for those that never reached the provider: they say so. Such
// a file is also a recorded trace.
package serve

package serve

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/sim/draw"
)

// Server is a provider that answers over HTTP. It is an http.Handler and safe for
// concurrent use. It has no goroutines of its own and need not be stopped.
type Server struct {
	cfg            Config // SetLimits changes Provider, under configMu
	invalidAccount uint32 // an account that fails authentication
	dialects       []dialect.Dialect
	models         []string
	metrics        *metrics
	accessLog      accessLog
	started        clock // of the access log; a reset does not change it
	run            atomic.Pointer[providerRun]
	writeTimeout   time.Duration // for clients that do not read
	pool           sync.Pool     // of *responder

	inFlight    atomic.Int64
	connections atomic.Int64
	closing     chan struct{} // closed by Close
	closeOnce   sync.Once

	configMu sync.Mutex // held by Reset and SetLimits
}

// providerRun is a run of the provider from a start or reset to the next. A request
// ends in the run in which it arrived.
type providerRun struct {
	driver     *driver
	tenants    *tenants
	addresses  *lru[string]
	requests   atomic.Uint64
	dates      dates
	startedAt  time.Duration  // on the clock of the log
	faultTexts map[int]string // injected faults as JSON; under the driver's lock
	// Properties of the provider:
	capacity   float64
	tokenLimit bool // successful replies contain a token limit
	tokens     dialect.Tokens
}

// New returns a Server. Its time begins now.
func New(cfg Config) (*Server, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	s := &Server{cfg: cfg, dialects: append(dialect.All(), cfg.Dialects...), closing: make(chan struct{}), writeTimeout: writeTime, models: cfg.Models, accessLog: accessLog{out: cfg.AccessLog, errorLog: cfg.ErrorLog}}
	if len(s.models) == 0 {
		s.models = []string{"herdlab-large"}
	}
	s.invalidAccount = uint32(cfg.Provider.Accounts)
	s.metrics = newMetrics(s)
	s.started = s.newClock()
	if err := s.Reset(); err != nil {
		return nil, err
	}
	return s, nil
}

// Must is like New and panics on an error.
func Must(cfg Config) *Server {
	s, err := New(cfg)
	if err != nil {
		panic(err)
	}
	return s
}

func (s *Server) newClock() clock {
	now := s.cfg.Clock.Now()
	shows := now
	if !s.cfg.Epoch.IsZero() {
		shows = s.cfg.Epoch
	}
	// Rounded up to whole seconds, because dates have no fractions; a clock that is
	// slow would make clients return too early.
	return clock{Clock: s.cfg.Clock, start: now, scale: s.cfg.TimeScale, epoch: shows.Add(time.Second - 1).Unix()}
}

// Reset starts a new run of the provider: its time is 0, its limits are unused, its
// faults are those of the configuration, and all counters are 0. Requests in flight
// end in the old run.
func (s *Server) Reset() error {
	s.configMu.Lock()
	defer s.configMu.Unlock()
	return s.reset()
}

func (s *Server) reset() error {
	cfg := s.cfg.Provider
	p, err := mockprovider.New(cfg, draw.New(s.cfg.Seed).For(1))
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	w := &providerRun{
		startedAt: s.started.now(), addresses: newLRU[string](s.cfg.Addresses, nil), faultTexts: make(map[int]string),
		capacity: accountCapacity(cfg, s.cfg.OutputTokens), tokens: tokensOf(cfg.Limits),
	}
	if cfg.ReportedLimit > 0 {
		w.tokenLimit = unitOf(cfg.Limits[cfg.ReportedLimit-1]) != mockprovider.Requests
	}
	for i := range s.dialects {
		p.SetForms(uint8(i+1), s.dialects[i].Forms())
	}
	w.driver = newDriver(p, len(cfg.Limits), s.newClock(), s.metrics)
	w.tenants = newTenants(s.cfg.Keys, s.cfg.Tenants, w.driver.forget)
	s.run.Store(w)
	return nil
}

// SetLimits replaces the limits and starts a new run, as Reset does.
func (s *Server) SetLimits(limits []mockprovider.Limit) error {
	s.configMu.Lock()
	defer s.configMu.Unlock()
	before := s.cfg.Provider
	s.cfg.Provider.Limits = limits
	if before.ReportedLimit > len(limits) {
		s.cfg.Provider.ReportedLimit = 0
	}
	err := s.reset()
	if err != nil {
		s.cfg.Provider = before
	}
	return err
}

// Close closes the connections of all requests that will never be answered, now and
// later.
func (s *Server) Close() { s.closeOnce.Do(func() { close(s.closing) }) }

// RoundTripper returns a transport to the server in this process, without sockets,
// for any URL. It works in testing/synctest, where time is virtual.
func (s *Server) RoundTripper() http.RoundTripper { return s.RoundTripperFrom("127.0.0.1") }

// RoundTripperFrom is like RoundTripper, for a client with the given IP address or
// host name.
func (s *Server) RoundTripperFrom(host string) http.RoundTripper {
	return &localTransport{handler: s, address: net.JoinHostPort(host, "1")}
}

// Client returns a client of the server in this process.
func (s *Server) Client() *http.Client { return &http.Client{Transport: s.RoundTripper()} }

// indexOf returns the index of a name, 0 if it is unknown.
func indexOf(names []string, name string) uint8 {
	return uint8(max(0, slices.Index(names, name)))
}

// requestID returns the ID of the n-th request.
func requestID(seed, n uint64) string {
	bits := draw.New(seed).For(math.MaxUint64).Bits(n)
	id := make([]byte, 0, 20)
	id = append(id, "req_"...)
	return string(hex.AppendEncode(id, binary.BigEndian.AppendUint64(nil, bits)))
}

// hash returns a hash of two strings.
func hash(a, b string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(a))))
	_, _ = h.Write([]byte(a + b))
	return h.Sum64()
}

// unitOf returns the unit of a limit.
func unitOf(l mockprovider.Limit) mockprovider.Unit {
	if l, ok := l.(interface{ Counts() mockprovider.Unit }); ok {
		return l.Counts()
	}
	return mockprovider.Requests
}

// tokensOf returns which tokens the limits count, if all token limits count the same,
// because a reply does not state the limit that it refers to.
func tokensOf(limits []mockprovider.Limit) dialect.Tokens {
	var input, output bool
	for _, l := range limits {
		switch unitOf(l) {
		case mockprovider.InputTokens:
			input = true
		case mockprovider.OutputTokens:
			output = true
		case mockprovider.AllTokens:
			input, output = true, true
		}
	}
	switch {
	case input && !output:
		return dialect.InputTokens
	case output && !input:
		return dialect.OutputTokens
	}
	return dialect.AllTokens
}

// accountCapacity returns the requests per second that one account can have served.
func accountCapacity(cfg mockprovider.Config, outputTokens uint32) float64 {
	cfg.Space = mockprovider.Space{}
	return cfg.Bound(cfg.Load(0, float64(outputTokens))).PerSecond()
}

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

// Server is a provider that answers over HTTP. It is an http.Handler and safe
// for concurrent use. It has no goroutines of its own, so nothing needs to be
// stopped: a server that nobody uses any more is garbage.
type Server struct {
	cfg            Config // its Provider changes with the limits, under change
	invalidAccount uint32 // an account that authentication refuses
	dialects       []dialect.Dialect
	models         []string
	metrics        *metrics
	accessLog      accessLog
	started        clock // of the log: it goes on when the provider is reset
	run            atomic.Pointer[providerRun]
	writeTimeout   time.Duration // for clients that do not take what is written
	pool           sync.Pool     // of *answering that are done

	inFlight    atomic.Int64
	connections atomic.Int64
	closing     chan struct{} // closed when no more will be held
	closeOnce   sync.Once

	configMu sync.Mutex // whoever resets, or changes limits
}

// world is one life of the provider, from a start or reset to the next. Who was
// admitted in one is finished in it.
type providerRun struct {
	driver     *driver
	tenants    *tenants
	addresses  *lru[string]
	requests   atomic.Uint64
	dates      dates
	startedAt  time.Duration  // on the clock of the log
	faultTexts map[int]string // how faults were injected; under the driver's lock
	// What is said about the provider.
	capacity   float64
	tokenLimit bool // successes tell of a limit on tokens
	tokens     dialect.Tokens
}

// New returns a server in its initial state. Its time begins now.
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

// Must returns what New returns and panics if the configuration is not valid.
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
	// In whole seconds, rounded up: dates have no more, and a clock that is late
	// would send clients back too early.
	return clock{Clock: s.cfg.Clock, start: now, scale: s.cfg.TimeScale, epoch: shows.Add(time.Second - 1).Unix()}
}

// Reset begins a new life of the provider: its time is 0 again, its limits are
// whole, its faults are those of the configuration, and nothing is counted yet.
// Requests under way are finished by the old one.
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
	if cfg.Tells > 0 {
		w.tokenLimit = unitOf(cfg.Limits[cfg.Tells-1]) != mockprovider.Requests
	}
	for i := range s.dialects {
		p.Speak(uint8(i+1), s.dialects[i].Forms())
	}
	w.driver = newDriver(p, len(cfg.Limits), s.newClock(), s.metrics)
	w.tenants = newTenants(s.cfg.Keys, s.cfg.Tenants, w.driver.forget)
	s.run.Store(w)
	return nil
}

// SetLimits changes the limits. That is a reset: what has been counted is
// counted anew, because other limits count other things.
func (s *Server) SetLimits(limits []mockprovider.Limit) error {
	s.configMu.Lock()
	defer s.configMu.Unlock()
	before := s.cfg.Provider
	s.cfg.Provider.Limits = limits
	if before.Tells > len(limits) {
		s.cfg.Provider.Tells = 0
	}
	err := s.reset()
	if err != nil {
		s.cfg.Provider = before
	}
	return err
}

// Close lets go of all requests that will never be answered, now and later. It
// is not needed where there are none.
func (s *Server) Close() { s.closeOnce.Do(func() { close(s.closing) }) }

// RoundTripper returns a transport to the server in this process, without
// sockets; any URL leads to it. It works inside testing/synctest, where time is
// virtual.
func (s *Server) RoundTripper() http.RoundTripper { return s.RoundTripperFrom("127.0.0.1") }

// RoundTripperFrom returns the same for clients that seem to be at an IP address
// or host.
func (s *Server) RoundTripperFrom(host string) http.RoundTripper {
	return &localTransport{handler: s, address: net.JoinHostPort(host, "1")}
}

// Client returns a client of the server in this process.
func (s *Server) Client() *http.Client { return &http.Client{Transport: s.RoundTripper()} }

// place is the index of a name, 0 if it is not there.
func indexOf(names []string, name string) uint8 {
	return uint8(max(0, slices.Index(names, name)))
}

// requestID is the id of the n-th request.
func requestID(seed, n uint64) string {
	bits := draw.New(seed).For(math.MaxUint64).Bits(n)
	id := make([]byte, 0, 20)
	id = append(id, "req_"...)
	return string(hex.AppendEncode(id, binary.BigEndian.AppendUint64(nil, bits)))
}

// hash is a number for two strings.
func hash(a, b string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(a))))
	_, _ = h.Write([]byte(a + b))
	return h.Sum64()
}

// counts is what a limit counts.
func unitOf(l mockprovider.Limit) mockprovider.Unit {
	if l, ok := l.(interface{ Counts() mockprovider.Unit }); ok {
		return l.Counts()
	}
	return mockprovider.Requests
}

// tokensOf are the tokens that limits count, if all that count tokens count the
// same: a reply does not say which of several it is about.
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

// oneCaller is how many requests per second one account can have served.
func accountCapacity(cfg mockprovider.Config, outputTokens uint32) float64 {
	cfg.Space = mockprovider.Space{}
	return cfg.Bound(cfg.Load(0, float64(outputTokens))).PerSecond()
}

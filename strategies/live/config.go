package live

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
)

// Config describes a Transport. Only Strategy is needed.
type Config struct {
	// Strategy is what to do. Its reader is how replies are understood.
	Strategy strategies.Definition
	// Base carries the requests; http.DefaultTransport if nil.
	Base http.RoundTripper
	// Clock is the time; the real one if nil.
	Clock clockwork.Clock
	// Seed is the root of all draws. Processes that must not act in step have
	// different ones: 0 takes one from the clock, to the nanosecond.
	Seed uint64
	// Everyone is whom layers of scope everyone share their memory with; nobody
	// else if nil.
	Everyone *Everyone
	// Dialect is the name of the provider's dialect, as dialect.All lists them;
	// if empty each reply is looked at.
	Dialect string
	// Models, Regions and Keys are what the targets of a strategy that routes
	// mean, from 0 up: names of models, base URLs, API keys. Where a list is
	// empty, or its first entry is meant, the request is sent as it came.
	Models  []string
	Regions []*url.URL
	Keys    []string
	// Shrink makes a smaller body where a strategy asks for less than the caller
	// did. The default caps the output (max_tokens) and cannot trim a prompt; a
	// body that it returns unchanged is sent unchanged.
	Shrink func(body []byte, from, to wire.Demand) ([]byte, error)
	// MaxBody is how much of a request's body is kept for retries, in bytes;
	// 8 MiB if 0. A longer one without GetBody is sent once.
	MaxBody int64
	// Peek is how much of an answer is read before it is believed, in bytes;
	// 64 KiB if 0. What breaks later is the caller's to notice.
	Peek int
	// Recorder hears of every attempt and call; nobody if nil.
	Recorder Recorder
}

const (
	defaultMaxBody = 8 << 20
	defaultPeek    = 64 << 10
)

// New returns a Transport. It reports a strategy that cannot be built, a dialect
// that does not exist and numbers that make no sense.
func New(cfg Config) (*Transport, error) {
	if cfg.MaxBody < 0 || cfg.Peek < 0 {
		return nil, errors.New("live: MaxBody and Peek must not be negative; 0 takes the default")
	}
	if cfg.Everyone == nil {
		cfg.Everyone = NewEveryone()
	}
	t := &Transport{cfg: cfg, everyone: cfg.Everyone, base: cfg.Base, clock: cfg.Clock}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	if t.clock == nil {
		t.clock = clockwork.NewRealClock()
	}
	if cfg.MaxBody == 0 {
		t.cfg.MaxBody = defaultMaxBody
	}
	if cfg.Peek == 0 {
		t.cfg.Peek = defaultPeek
	}
	if cfg.Dialect != "" {
		d, ok := dialect.ByName(cfg.Dialect)
		if !ok {
			return nil, fmt.Errorf("live: there is no dialect %q; leave it empty to recognise replies", cfg.Dialect)
		}
		t.dialect = &d
	}
	t.start = t.clock.Now()
	t.epoch = t.start.Unix()
	if cfg.Seed == 0 {
		cfg.Seed = uint64(t.start.UnixNano())
	}
	t.rand = draw.New(cfg.Seed)

	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	p, err := strategies.Compile(cfg.Strategy, t.everyone.commons)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	t.init(p)
	return t, nil
}

// Must is New for configurations that are known to be good; it panics if not.
func Must(cfg Config) *Transport {
	t, err := New(cfg)
	if err != nil {
		panic(err)
	}
	return t
}

// Error is why a call has no reply to show.
type Error struct {
	// Reason is why the strategy stopped, Class what it made of the last
	// attempt; Attempts is how many there were.
	Reason   strategies.Reason
	Class    wire.Class
	Attempts uint32
	// Err is how the last attempt failed; nil if there was none.
	Err error
}

// Error says all of it.
func (e *Error) Error() string {
	s := fmt.Sprintf("live: gave up after %d attempts: %v, %v", e.Attempts, e.Reason, e.Class)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns how the last attempt failed.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether the last attempt ran out of time, for net.Error.
func (e *Error) Timeout() bool { return e.Class == wire.Timeout }

// Temporary reports whether trying again later may help, for net.Error.
func (e *Error) Temporary() bool { return e.Class.Transient() }

// now is the time since the transport began.
func (t *Transport) now() time.Duration { return t.clock.Since(t.start) }

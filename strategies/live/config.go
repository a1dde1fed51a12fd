package live

import (
	"crypto/rand"
	"encoding/binary"
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
	// Clock is the time; if nil, that of Everyone, or the real one. The transports
	// of one Everyone have one clock.
	Clock clockwork.Clock
	// Seed is the root of all draws. Processes that must not act in step have
	// different ones: 0 takes one from the system's source of randomness.
	Seed uint64
	// Everyone is whom layers of scope everyone share their memory with; nobody
	// else if nil.
	Everyone *Everyone
	// Dialect is the name of the provider's dialect, as dialect.All lists them;
	// if empty each reply is looked at. Own is a dialect that is not among them, such
	// as that of a dialect.CodeInBody, in place of a name.
	Dialect string
	Own     *dialect.Dialect
	// Models, Regions and Keys are what the targets of a strategy that routes
	// mean, from 0 up: names of models, base URLs, API keys. Where a list is
	// empty, or its first entry is meant, the request is sent as it came.
	Models  []string
	Regions []*url.URL
	Keys    []string
	// Shrink makes a smaller body where a strategy asks for less than the caller
	// did. The default lowers the cap on the output where a request states one; a
	// strategy that trims the context needs one that can. A body that it returns
	// unchanged is sent unchanged.
	Shrink func(body []byte, from, to wire.Demand) ([]byte, error)
	// MaxBody is how much of a request's body is kept for retries, in bytes;
	// 8 MiB if 0. A longer one without GetBody is sent once.
	MaxBody int64
	// Peek is how much of an answer is read before it is believed, in bytes;
	// 64 KiB if 0. What breaks later is the caller's to notice.
	Peek int
	// MaxMemory is how much is kept of the answers that a strategy may give again,
	// in bytes; 64 MiB if 0. The oldest make room for new ones; an answer that is
	// forgotten sooner than the strategy believes is asked for again.
	MaxMemory int64
	// Recorder hears of every attempt and call; nobody if nil.
	Recorder Recorder
}

const (
	defaultMaxBody   = 8 << 20
	defaultPeek      = 64 << 10
	defaultMaxMemory = 64 << 20
)

// New returns a Transport. It reports a strategy that cannot be built, or not
// for real requests, a dialect that does not exist and numbers that make no sense.
func New(cfg Config) (*Transport, error) {
	if cfg.MaxBody < 0 || cfg.Peek < 0 || cfg.MaxMemory < 0 {
		return nil, errors.New("live: MaxBody, Peek and MaxMemory must not be negative; 0 takes the default")
	}
	for i, u := range cfg.Regions {
		if u == nil && i > 0 {
			return nil, fmt.Errorf("live: Regions[%d] is nil; only the first may be, which is where the request goes anyway", i)
		}
	}
	orElse(&cfg.MaxBody, defaultMaxBody)
	orElse(&cfg.Peek, defaultPeek)
	orElse(&cfg.MaxMemory, defaultMaxMemory)
	if cfg.Base == nil {
		cfg.Base = http.DefaultTransport
	}
	if cfg.Everyone == nil {
		cfg.Everyone = NewEveryone()
	}
	if cfg.Seed == 0 {
		var seed [8]byte
		_, _ = rand.Read(seed[:]) // it never fails
		cfg.Seed = binary.LittleEndian.Uint64(seed[:])
	}
	t := &Transport{cfg: cfg, everyone: cfg.Everyone, base: cfg.Base, rand: draw.New(cfg.Seed), dialect: cfg.Own}
	if cfg.Dialect != "" {
		if cfg.Own != nil {
			return nil, fmt.Errorf("live: the provider speaks %s or %s, not both; leave one of Dialect and Own out", cfg.Dialect, cfg.Own.Name)
		}
		d, ok := dialect.ByName(cfg.Dialect)
		if !ok {
			return nil, fmt.Errorf("live: there is no dialect %q; leave it empty to recognise replies", cfg.Dialect)
		}
		t.dialect = &d
	}
	t.everyone.mu.Lock()
	defer t.everyone.mu.Unlock()
	p, err := strategies.Compile(cfg.Strategy, t.everyone.commons)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	for _, f := range p.Flights {
		if f.Merges {
			return nil, fmt.Errorf("live: strategy %q merges calls that ask different things; a transport cannot put their requests together, nor take the answer apart", p.Name)
		}
	}
	if p.Trims && cfg.Shrink == nil {
		return nil, fmt.Errorf("live: strategy %q trims the context of requests, and only you know what can be left out; set Config.Shrink", p.Name)
	}
	if p.Splits {
		return nil, fmt.Errorf("live: strategy %q splits what calls ask for into pieces; a transport cannot take a request apart, nor put the answers together: have it trim or cap instead", p.Name)
	}
	if err := t.everyone.welcome(cfg.Clock); err != nil {
		return nil, err
	}
	t.clock, t.start = t.everyone.clock, t.everyone.start
	t.epoch = t.start.Unix()
	t.init(p)
	return t, nil
}

// orElse sets a number that is not given.
func orElse[N int | int64](n *N, usual N) {
	if *n == 0 {
		*n = usual
	}
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

// now is the time since the first transport of everyone began.
func (t *Transport) now() time.Duration { return t.clock.Since(t.start) }

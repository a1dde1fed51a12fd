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
	// Join and Part are for a strategy that merges calls (strategies.Merge). Join
	// puts the bodies of those that ride together, the leader's first, into that of
	// one request, whose URL and headers are the leader's; Part takes the answer
	// apart into one for each of calls, in the same order. What Join reports is a bad
	// request of them all; what Part reports is an answer as good as none, which the
	// strategy may ask for again. Calls with another method, URL, host or key than the
	// leader's, and those without a body that can be kept, are sent by themselves, as
	// they came; so is a call that rides alone. Failures are everybody's, untouched.
	Join func(leader *http.Request, bodies [][]byte) ([]byte, error)
	Part func(resp *http.Response, body []byte, calls int) ([][]byte, error)
	// Split and Combine are for a strategy that splits what a call asks for
	// (strategies.Shrink into Pieces). Split takes the body of a request apart into
	// so many, which are sent one after the other; Combine puts their answers, in
	// that order, together into one, with the status and headers of the last. Their
	// errors are as Join's and Part's.
	//
	// All four are called by the goroutines that make the calls, many at once; they
	// must change nothing that they are given. An answer that they get is read to
	// its end, up to MaxBody, even if it is a stream, and gzip is undone.
	Split   func(req *http.Request, body []byte, pieces int) ([][]byte, error)
	Combine func(last *http.Response, answers [][]byte) ([]byte, error)
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
	if err := t.remakes(p); err != nil {
		return nil, err
	}
	if p.Trims && cfg.Shrink == nil {
		return nil, fmt.Errorf("live: strategy %q trims the context of requests, and only you know what can be left out; set Config.Shrink", p.Name)
	}
	if err := t.everyone.welcome(cfg.Clock); err != nil {
		return nil, err
	}
	t.clock, t.start = t.everyone.clock, t.everyone.start
	t.epoch = t.start.Unix()
	t.init(p)
	return t, nil
}

// remakes notes whether p merges calls or splits them, and reports if nobody can.
func (t *Transport) remakes(p *strategies.Program) error {
	cfg := &t.cfg
	t.splits = len(p.Pieces) > 0
	for _, f := range p.Flights {
		t.merges = t.merges || f.Merges
	}
	switch {
	case t.merges && (cfg.Join == nil || cfg.Part == nil):
		return fmt.Errorf("live: strategy %q merges calls that ask different things, and only you know how to put their requests together and take the answer apart; set Config.Join and Config.Part", p.Name)
	case t.splits && (cfg.Split == nil || cfg.Combine == nil):
		return fmt.Errorf("live: strategy %q splits what calls ask for into pieces, and only you know how to take a request apart and put the answers together; set Config.Split and Config.Combine", p.Name)
	case t.merges && t.splits || len(p.Pieces) > 1:
		return fmt.Errorf("live: strategy %q splits what it has merged or split already; a stack does one of the two, once", p.Name)
	}
	return nil
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

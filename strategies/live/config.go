package live

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
	"herdlab/strategies"
)

// Config configures a Transport. Only Strategy is required.
type Config struct {
	// Strategy decides about calls. Its reader interprets the replies.
	Strategy strategies.Definition
	// Base sends the requests; http.DefaultTransport if nil.
	Base http.RoundTripper
	// Clock is the source of time; if nil, the clock of Shared, or the real one.
	// All transports of one Shared must have the same clock.
	Clock clockwork.Clock
	// Seed seeds all random draws. Processes that must draw differently need
	// different seeds; 0 takes a random one from the system.
	Seed uint64
	// Shared holds the memory of layers with scope everyone. Transports with the
	// same Shared share it; nil is a Shared of this transport alone.
	Shared *Shared
	// Dialect is the name of the provider's dialect, one of dialect.All. If it is
	// empty, the dialect of each reply is recognised. CustomDialect is an
	// alternative to Dialect, for a dialect that is not in dialect.All, such as
	// the result of dialect.CodeInBody.
	Dialect       string
	CustomDialect *dialect.Dialect
	// Models, Regions and Keys are the model names, base URLs and API keys that
	// the indices in a wire.Target refer to. Index 0, and an empty list, leave the
	// request as the caller made it.
	Models  []string
	Regions []*url.URL
	Keys    []string
	// Shrink returns a smaller body where a strategy asks for less than the
	// caller does. The default lowers the output limit if the request states one;
	// a strategy that trims the context needs a Shrink of its own.
	Shrink func(body []byte, from, to wire.Demand) ([]byte, error)
	// JoinRequests and SplitReply are required for a strategy that merges calls
	// (strategies.Merge). JoinRequests returns the body of one request for all
	// bodies of a batch, the leader's first; URL and headers are the leader's.
	// SplitReply returns one answer for each of the calls, in the same order.
	//
	// An error of JoinRequests fails all calls of the batch as a bad request. An
	// error of SplitReply is a server error, which the strategy may retry. A failure
	// of the batch is the reply to all its calls, unchanged. A call with another
	// method, URL, host or key than the leader's, a call whose body cannot be kept,
	// and a call that is alone in its batch are sent as the caller made them.
	JoinRequests func(leader *http.Request, bodies [][]byte) ([]byte, error)
	SplitReply   func(resp *http.Response, body []byte, calls int) ([][]byte, error)
	// SplitRequest and JoinReplies are required for a strategy that splits what a
	// call asks for (strategies.Shrink with Pieces). SplitRequest returns the
	// bodies of the given number of requests, which are sent one after the other.
	// JoinReplies returns one answer for all of theirs, in the same order; status
	// and headers are those of the last. Errors have the same effect as those of
	// JoinRequests and SplitReply.
	//
	// These four functions are called from the goroutines of the calls, several at
	// a time, and must not modify their arguments. Answers are read completely, up
	// to MaxBody and even if they are streams, and decompressed if they are gzip.
	SplitRequest func(req *http.Request, body []byte, pieces int) ([][]byte, error)
	JoinReplies  func(last *http.Response, answers [][]byte) ([]byte, error)
	// MaxBody is the size, in bytes, up to which a request's body is kept for
	// retries; 8 MiB if 0. A longer body without GetBody is sent once.
	MaxBody int64
	// Peek is the number of bytes of an answer that are read before it counts as a
	// success; 64 KiB if 0. A later error is returned to the reader of the body.
	Peek int
	// MaxCache is the size, in bytes, of all answers that are kept for a strategy
	// with a cache; 64 MiB if 0. The oldest are evicted first. If the strategy uses
	// an answer that is evicted, the call is made again without the cache.
	MaxCache int64
	// Recorder is called for every attempt and call; nil for none.
	Recorder Recorder
}

const (
	defaultMaxBody  = 8 << 20
	defaultPeek     = 64 << 10
	defaultMaxCache = 64 << 20
)

// New returns a Transport. The error reports a strategy that cannot be built or
// cannot send real requests, an unknown dialect, or an invalid value.
func New(cfg Config) (*Transport, error) {
	if cfg.MaxBody < 0 || cfg.Peek < 0 || cfg.MaxCache < 0 {
		return nil, errors.New("live: MaxBody, Peek and MaxCache must not be negative; 0 is the default")
	}
	for i, u := range cfg.Regions {
		if u == nil && i > 0 {
			return nil, fmt.Errorf("live: Regions[%d] is nil; only Regions[0] may be, which stands for the URL of the request", i)
		}
	}
	setDefault(&cfg.MaxBody, defaultMaxBody)
	setDefault(&cfg.Peek, defaultPeek)
	setDefault(&cfg.MaxCache, defaultMaxCache)
	if cfg.Base == nil {
		cfg.Base = http.DefaultTransport
	}
	if cfg.Shared == nil {
		cfg.Shared = NewShared()
	}
	if cfg.Seed == 0 {
		var seed [8]byte
		_, _ = rand.Read(seed[:]) // it never fails
		cfg.Seed = binary.LittleEndian.Uint64(seed[:])
	}
	t := &Transport{cfg: cfg, shared: cfg.Shared, base: cfg.Base, rand: draw.New(cfg.Seed), dialect: cfg.CustomDialect}
	if cfg.Dialect != "" {
		if cfg.CustomDialect != nil {
			return nil, fmt.Errorf("live: both Dialect (%s) and CustomDialect (%s) are set; set one of them", cfg.Dialect, cfg.CustomDialect.Name)
		}
		d, ok := dialect.ByName(cfg.Dialect)
		if !ok {
			return nil, fmt.Errorf("live: unknown dialect %q; leave it empty to recognise the dialect of each reply", cfg.Dialect)
		}
		t.dialect = &d
	}
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	p, err := strategies.Compile(cfg.Strategy, t.shared.commons)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	if err := t.checkRewrites(p); err != nil {
		return nil, err
	}
	if p.Trims && cfg.Shrink == nil {
		return nil, fmt.Errorf("live: strategy %q trims the context of requests, which needs Config.Shrink", p.Name)
	}
	if err := t.shared.setClock(cfg.Clock); err != nil {
		return nil, err
	}
	t.clock, t.start = t.shared.clock, t.shared.start
	t.epoch = t.start.Unix()
	t.init(p)
	return t, nil
}

// checkRewrites sets t.merges and t.splits, and reports an error if p needs a
// function that is missing.
func (t *Transport) checkRewrites(p *strategies.Program) error {
	cfg := &t.cfg
	t.splits = len(p.Pieces) > 0
	for _, f := range p.Flights {
		t.merges = t.merges || f.Merges
	}
	switch {
	case t.merges && (cfg.JoinRequests == nil || cfg.SplitReply == nil):
		return fmt.Errorf("live: strategy %q merges different requests, which needs Config.JoinRequests and Config.SplitReply", p.Name)
	case t.splits && (cfg.SplitRequest == nil || cfg.JoinReplies == nil):
		return fmt.Errorf("live: strategy %q splits requests into pieces, which needs Config.SplitRequest and Config.JoinReplies", p.Name)
	case t.merges && t.splits || len(p.Pieces) > 1:
		return fmt.Errorf("live: strategy %q merges and splits requests, or splits twice; a stack can do one of the two, once", p.Name)
	}
	return nil
}

// setDefault sets n to value if it is 0.
func setDefault[N int | int64](n *N, value N) {
	if *n == 0 {
		*n = value
	}
}

// Must is like New and panics on an error.
func Must(cfg Config) *Transport {
	t, err := New(cfg)
	if err != nil {
		panic(err)
	}
	return t
}

package serve

import (
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
)

// Config configures a Server. The zero value is a provider without limits that
// answers at once, on the real clock.
type Config struct {
	// Provider is the simulated provider. If its Space is not set, it has room for
	// Tenants accounts and Addresses addresses.
	Provider mockprovider.Config
	// Seed seeds the provider's random draws.
	Seed uint64
	// Title describes the provider on the page, in one line.
	Title string

	// Clock is the source of time; the real clock if nil, which is virtual within
	// testing/synctest.
	Clock clockwork.Clock
	// TimeScale is the number of seconds of the provider per second of Clock, from
	// 1e-6 to 1e6; 0 means 1. Clients that read dates should compare them with the
	// Date header, which is on the provider's clock, too.
	TimeScale float64
	// Epoch is the date on the provider's clock at its time 0, rounded up to whole
	// seconds; the zero Time means the time of Clock at the start. Clients may
	// take Unix times before 2001-09-09 for durations.
	Epoch time.Time

	// Keys are the API keys with configured accounts. Any other key is a tenant and
	// gets one of Tenants further accounts; if all are taken, the account of the
	// least recently used key. 0 means 1,000 tenants; a negative number makes other
	// keys invalid. A request without a key is never valid.
	Keys    []Key
	Tenants int
	// Addresses is the number of client addresses that are distinguished, in the
	// same way; 0 means 1,000.
	Addresses int
	// Models are the names of the provider's models, in its order; an unknown name
	// selects the first. An empty list is one model with any name. Regions are the
	// names of its regions; the header X-Herdlab-Region of a request selects one,
	// by default the first.
	Models, Regions []string
	// Dialects are dialects besides the built-in ones, such as those of
	// dialect.CodeInBody. Their paths take precedence.
	Dialects []dialect.Dialect
	// OutputTokens is the length of an answer without a limit; 0 means 100. The
	// header X-Herdlab-Output-Tokens of a request overrides it.
	OutputTokens uint32
	// AccessLog receives one line of JSON for each request that has ended; see
	// Access. ErrorLog receives the errors of net/http, and the error if a line of
	// the access log cannot be written; nil is the standard logger.
	AccessLog io.Writer
	ErrorLog  *log.Logger
	// Parser parses faults and limits for the admin API. If it is nil, they can
	// be changed only from Go.
	Parser Parser

	// Limits that protect the harness itself; 0 means the default in brackets. What
	// exceeds them is refused with OriginHeader.
	MaxConnections int           // at a time [16,384]
	MaxInFlight    int           // requests at a time [100,000]
	MaxBody        int64         // bytes of a request's body [1 MiB]
	MaxTokens      uint32        // output tokens of one answer [100,000]
	MaxHold        time.Duration // time on Clock for which a request without an answer is held [15 min]
	Grace          time.Duration // time for accepted requests to finish when Serve ends [30 s]
}

// Parser parses faults and limits in the format of scenario files.
type Parser interface {
	// Fault parses one fault, such as {"outage": {"from": "0s", "to": "30s"}}.
	Fault(text []byte) (mockprovider.Fault, error)
	// Limits parses a list of limits, such as [{"window": {"limit": "60/min"}}].
	Limits(text []byte) ([]mockprovider.Limit, error)
}

// maxScale limits Config.TimeScale: from a day in a tenth of a second to a second in
// eleven days.
const maxScale = 1e6

// complete sets defaults and reports an error if a value is invalid.
func (c *Config) complete() error {
	var errs []error
	report := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	positive := func(what string, n int64) {
		if n < 0 {
			report("%s is %d; it must be positive, or 0 for the default", what, n)
		}
	}
	if c.Clock == nil {
		c.Clock = clockwork.NewRealClock()
	}
	if c.TimeScale == 0 {
		c.TimeScale = 1
	}
	if !(c.TimeScale >= 1/maxScale && c.TimeScale <= maxScale) {
		report("TimeScale is %v; it must be from %v to %v, for example 60 for one minute per second", c.TimeScale, 1/maxScale, maxScale)
	}
	seen := map[string]bool{}
	for i, k := range c.Keys {
		switch {
		case k.Secret == "":
			report("key %d is empty", i+1)
		case seen[k.Secret]:
			report("key %d is listed twice; a key has one account", i+1)
		case k.Account > maxAccounts:
			report("key %d has account %d; the largest is %d", i+1, k.Account, maxAccounts)
		}
		seen[k.Secret] = true
	}
	if c.Tenants > maxAccounts || c.Addresses > maxAccounts || c.Addresses < 0 {
		report("Tenants is %d and Addresses %d; each may be %d at most", c.Tenants, c.Addresses, maxAccounts)
	}
	for _, x := range []struct {
		what           string
		named, decides int
	}{{"models", len(c.Models), len(c.Provider.Models)}, {"regions", len(c.Regions), len(c.Provider.Regions)}} {
		if x.named > 0 && x.named != x.decides && (x.decides > 0 || x.named > 256) {
			report("there are %d names of %s, but the provider has %d", x.named, x.what, x.decides)
		}
	}
	for i, d := range c.Dialects {
		_, taken := dialect.ByName(d.Name)
		taken = taken || slices.ContainsFunc(c.Dialects[:i], func(o dialect.Dialect) bool { return o.Name == d.Name })
		if taken || d.Name == "" || strings.Contains(d.Name, "/") {
			report("dialect %d has the name %q; the name must be unique and without slashes", i+1, d.Name)
		}
	}
	if len(c.Dialects) > 100 {
		report("there are %d custom dialects; the limit is 100", len(c.Dialects))
	}
	setDefault(&c.MaxTokens, 100_000)
	if c.OutputTokens > c.MaxTokens {
		report("OutputTokens is %d; an answer has at most MaxTokens, which is %d", c.OutputTokens, c.MaxTokens)
	}
	positive("MaxConnections", int64(c.MaxConnections))
	positive("MaxInFlight", int64(c.MaxInFlight))
	positive("MaxBody", c.MaxBody)
	positive("MaxHold", int64(c.MaxHold))
	positive("Grace", int64(c.Grace))
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	setDefault(&c.Tenants, 1000)
	setDefault(&c.Addresses, 1000)
	setDefault(&c.OutputTokens, 100)
	setDefault(&c.MaxConnections, 1<<14)
	setDefault(&c.MaxInFlight, 100_000)
	setDefault(&c.MaxBody, 1<<20)
	setDefault(&c.MaxHold, 15*time.Minute)
	setDefault(&c.Grace, 30*time.Second)
	c.Tenants = max(c.Tenants, 0)
	s := &c.Provider.Space
	if s.Accounts == 0 {
		s.Accounts = int(nextAccount(c.Keys)) + c.Tenants
	}
	if s.Addresses == 0 {
		s.Addresses = c.Addresses
	}
	return nil
}

// maxAccounts limits accounts and addresses, because every limit has a counter for
// each.
const maxAccounts = 1 << 20

func setDefault[T comparable](x *T, other T) {
	var zero T
	if *x == zero {
		*x = other
	}
}

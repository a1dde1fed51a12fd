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

// Config is what a server is. The zero value is a provider without limits that
// answers at once, on the real clock.
type Config struct {
	// Provider decides. Its Space says how many accounts and addresses limits
	// tell apart; where it does not, the server makes room for Tenants accounts
	// and Addresses addresses.
	Provider mockprovider.Config
	// Seed is the root of the provider's draws.
	Seed uint64
	// Title is one line about the provider, for the page.
	Title string

	// Clock is the time that the provider lives in; the real one if nil. Within
	// testing/synctest the real one is virtual.
	Clock clockwork.Clock
	// TimeScale is how many seconds the provider has in one of the clock's, from
	// 1e-6 to 1e6; 0 means 1. Clients that read dates should count from the Date
	// header, which is the provider's too.
	TimeScale float64
	// Epoch is what the provider's clock shows when its time is 0; the zero Time
	// means what Clock shows then. It is rounded up to whole seconds. Clients
	// take resets that are told as Unix times for waits before 2001-09-09.
	Epoch time.Time

	// Keys are the API keys with accounts of their own. Any other key becomes a
	// tenant: it gets one of Tenants accounts beyond those, the account of the
	// key that was quiet the longest if there is none left. 0 means 1,000
	// tenants; if it is negative, other keys are not valid. A request without a
	// key never is.
	Keys    []Key
	Tenants int
	// Addresses is how many addresses of clients are told apart, in the same
	// way; 0 means 1,000.
	Addresses int
	// Models are the names of the provider's models, in its order; requests for
	// others are for the first. Without names there is one, and it answers to
	// any name. Regions are those of its regions; a request says its own with the
	// header X-Herdlab-Region, or else it is for the first.
	Models, Regions []string
	// Dialects are spoken beside those that there are, such as one of the family
	// dialect.CodeInBody. A path that others have as well is theirs.
	Dialects []dialect.Dialect
	// OutputTokens is how long an answer is if nothing caps it; 0 means 100. A
	// request may say it with the header X-Herdlab-Output-Tokens.
	OutputTokens uint32
	// AccessLog gets one line of JSON for each request that has ended; see the
	// package's documentation. ErrorLog gets what net/http complains about, and
	// why lines are missing if one could not be written; nil is the standard
	// logger.
	AccessLog io.Writer
	ErrorLog  *log.Logger
	// Words reads faults and limits for the admin API. Without it, they can be
	// changed from Go only.
	Parser Parser

	// The bounds that the harness has for its own protection; 0 means the
	// number in brackets. What is beyond them is refused with OriginHeader.
	MaxConnections int           // at a time [16,384]
	MaxInFlight    int           // requests at a time [100,000]
	MaxBody        int64         // bytes of a request's body [1 MiB]
	MaxTokens      uint32        // output tokens of one answer [100,000]
	MaxHold        time.Duration // how long a request that will never be answered is held, by Clock [15 min]
	Grace          time.Duration // how long accepted requests may take to finish at the end [30 s]
}

// Words reads what administrators write, in the words of scenario files.
type Parser interface {
	// Fault reads one fault, such as {"outage": {"from": "0s", "to": "30s"}}.
	Fault(text []byte) (mockprovider.Fault, error)
	// Limits reads a list of limits, such as [{"window": {"limit": "60/min"}}].
	Limits(text []byte) ([]mockprovider.Limit, error)
}

// maxScale bounds Config.TimeScale: a day is over in a tenth of a second, or a
// second in eleven days.
const maxScale = 1e6

// complete fills in what is not said, and says what is wrong.
func (c *Config) complete() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	positive := func(what string, n int64) {
		if n < 0 {
			complain("%s is %d; it must be positive, or 0 for the default", what, n)
		}
	}
	if c.Clock == nil {
		c.Clock = clockwork.NewRealClock()
	}
	if c.TimeScale == 0 {
		c.TimeScale = 1
	}
	if !(c.TimeScale >= 1/maxScale && c.TimeScale <= maxScale) {
		complain("TimeScale is %v; it must be from %v to %v: 60 makes a minute of a second", c.TimeScale, 1/maxScale, maxScale)
	}
	seen := map[string]bool{}
	for i, k := range c.Keys {
		switch {
		case k.Secret == "":
			complain("key %d is empty; give it its text", i+1)
		case seen[k.Secret]:
			complain("key %d is there twice; a key has one account", i+1)
		case k.Account > maxAccounts:
			complain("key %d has the account %d; the largest is %d", i+1, k.Account, maxAccounts)
		}
		seen[k.Secret] = true
	}
	if c.Tenants > maxAccounts || c.Addresses > maxAccounts || c.Addresses < 0 {
		complain("Tenants is %d and Addresses %d; at most %d can be told apart", c.Tenants, c.Addresses, maxAccounts)
	}
	for _, x := range []struct {
		what           string
		named, decides int
	}{{"models", len(c.Models), len(c.Provider.Models)}, {"regions", len(c.Regions), len(c.Provider.Regions)}} {
		if x.named > 0 && x.named != x.decides && (x.decides > 0 || x.named > 256) {
			complain("there are names for %d %s, and the provider has %d", x.named, x.what, x.decides)
		}
	}
	for i, d := range c.Dialects {
		_, taken := dialect.ByName(d.Name)
		taken = taken || slices.ContainsFunc(c.Dialects[:i], func(o dialect.Dialect) bool { return o.Name == d.Name })
		if taken || d.Name == "" || strings.Contains(d.Name, "/") {
			complain("dialect %d has the name %q; give it one of its own, without slashes", i+1, d.Name)
		}
	}
	if len(c.Dialects) > 100 {
		complain("there are %d dialects; at most 100 can be added", len(c.Dialects))
	}
	setDefault(&c.MaxTokens, 100_000)
	if c.OutputTokens > c.MaxTokens {
		complain("OutputTokens is %d; an answer has at most MaxTokens, which is %d", c.OutputTokens, c.MaxTokens)
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

// mostAccounts bounds accounts and addresses: every limit has a counter for
// each.
const maxAccounts = 1 << 20

func setDefault[T comparable](x *T, other T) {
	var zero T
	if *x == zero {
		*x = other
	}
}

package layers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim/saturating"
	"herdlab/strategies"
	"herdlab/strategies/strategytest"
)

// Three cases are about what becomes of the time that a refusal asks for.

// asking is a refusal that asks to come back, as it comes over the wire at
// 2026-10-21 07:28:00 GMT, and how long that is: NoHint if it cannot be told.
type asking struct {
	header, value string // or, without a header, a body
	asks          time.Duration
}

const askedAt = 1792567680 // in Unix seconds

// reply is what a client receives.
func (a asking) reply() wire.Reply {
	in := dialect.RawReply{Status: 429, Body: []byte(`{"error":{"message":"no","type":"requests","code":"rate_limit_exceeded"}}`)}
	of := "openai"
	if a.header == "" {
		in.Status, in.Body, of = 429, []byte(a.value), "codybuddy"
	}
	in.Header = func(name string) string {
		if strings.EqualFold(name, a.header) {
			return a.value
		}
		return ""
	}
	d, _ := dialect.ByName(of)
	r := d.ParseReply(&in, dialect.ReadContext{Epoch: askedAt})
	r.Limit = 10
	return r
}

// tooLong is longer than a client of the cases waits.
const tooLong = 120 * time.Second

// zoo is case 12: one header, as servers write it.
var zoo = []asking{
	{"Retry-After", "60", time.Minute},
	{"Retry-After", "1.5", 1500 * time.Millisecond},
	{"Retry-After", "Wed, 21 Oct 2026 07:28:30 GMT", 30 * time.Second},
	{"Retry-After", "Wed, 32 Oct 2026 07:28:30 GMT", wire.NoHint},
	{"Retry-After", "Wed, 21 Oct 2026 07:27:00 GMT", 0},
	{"Retry-After", "Wed, 21 Oct 10000 07:28:30 GMT", wire.NoHint},
	{"Retry-After", "0", 0},
	{"Retry-After", "-5", wire.NoHint},
	{"Retry-After", "NaN", wire.NoHint},
	{"Retry-After", "inf", wire.NoHint},
	{"Retry-After", "75", 75 * time.Second},
	{"Retry-After", "451", 451 * time.Second},
	{"Retry-After", "3600", time.Hour},
	{"Retry-After", "198300", 198300 * time.Second},
	{"Retry-After", "1743441608", 1743441608 * time.Second},
	{"Retry-After", "9223372037", strategies.Never},
	{"Retry-After", "18446744074", strategies.Never},
}

// units is case 5: one time in every unit there is.
var units = []asking{
	{"Retry-After", "60", time.Minute},
	{"Retry-After", "0.555", 555 * time.Millisecond},
	{"Retry-After-Ms", "60000", time.Minute},
	{"Retry-After-Ms", "555", 555 * time.Millisecond},
	{"Retry-After", "Wed, 21 Oct 2026 07:29:00 GMT", time.Minute},
	{"X-RateLimit-Reset", "1792567740", time.Minute},
}

// inBodies are hints that only a reader of bodies finds.
var inBodies = []asking{
	{"", `{"code":14003,"retry_after":60}`, time.Minute},
	{"", `{"code":14003,"retry_after":0.555}`, 555 * time.Millisecond},
	{"", `{"code":14003,"retry_after_ms":60000}`, time.Minute},
	{"", `{"code":14003,"retry_after_ms":555}`, 555 * time.Millisecond},
	{"", `{"error":{"message":"Rate limit reached. Try again in 1m0s."}}`, time.Minute},
	{"", `{"error":{"message":"Rate limit reached. Try again in 555ms."}}`, 555 * time.Millisecond},
}

// gate is a provider whose every place refuses the first attempt with a hint, and
// is open after the time of the hint.
type gate struct {
	asking asking
	less   time.Duration // each place asks so much less than the one before
	reader wire.Reader
	always bool          // it goes on refusing
	takes  time.Duration // a refusal

	told  map[wire.Target]telling
	early error
	again time.Duration // after which the first place was asked again
}

type telling struct{ at, until time.Duration }

// visit runs one call against the gate until the horizon and returns its attempts.
func (g *gate) visit(t *testing.T, horizon time.Duration, stack ...strategies.Layer) int {
	l := strategytest.NewLab(t, append([]strategies.Layer{theSame()}, stack...)...)
	g.told, g.again = map[wire.Target]telling{}, wire.NoHint
	l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
		before, known := g.told[c.Target]
		if known && l.Now >= before.at { // and not on its way before anything was said
			if l.Now < before.until {
				g.early = fmt.Errorf("refused at %v with a hint until %v, the next attempt came at %v", before.at, before.until, l.Now)
			}
			if g.again < 0 {
				g.again = l.Now - before.at
			}
		}
		if known && !g.always {
			return g.takes, strategytest.Answered
		}
		r, asks, at := g.asking.reply(), g.asking.asks, l.Now+g.takes
		if g.less > 0 {
			asks = max(0, asks-time.Duration(len(g.told))*g.less)
			r.Hint.Value = asks
		}
		if !known {
			g.told[c.Target] = telling{at, saturating.Add(at, max(asks, 0))}
		}
		if r.Hint.Spelling.Dated() {
			r.Hint.Value += at // the provider's clock goes on
		}
		var o wire.Outcome
		g.reader.Read(&r, at, &o)
		return g.takes, o
	}
	l.Begin("a", 0)
	l.Run(horizon)
	return len(l.Sent)
}

var allReaders = []wire.Reader{wire.ByBody{}, wire.ByStatus{}, wire.ByKeyword{}, wire.ByLibrary{}}

// neverEarly is the law of case 12: after a hint no attempt reaches the same place
// before its time, and after a useless hint the call does not retry in a tight loop.
func neverEarly(readers []wire.Reader, askings []asking, stack ...strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		for _, reader := range readers {
			for _, a := range askings {
				g := gate{asking: a, reader: reader, takes: 150 * time.Millisecond}
				if g.visit(t, 300*time.Hour, stack...); g.early != nil {
					return fmt.Errorf("%q to %T: %w", a.value, reader, g.early)
				}
				g.always, g.takes = true, time.Millisecond
				if a.asks > 0 {
					continue
				}
				if n := g.visit(t, 10*time.Second, stack...); n > 1+100*len(g.told) {
					return fmt.Errorf("%q to %T: %d attempts in 10 s", a.value, reader, n)
				}
			}
			g := gate{asking: zoo[0], less: 20 * time.Second, reader: reader, takes: 150 * time.Millisecond}
			if g.visit(t, time.Hour, stack...); g.early != nil {
				return fmt.Errorf("places that ask for 60, 40 and 20 s: %w", g.early)
			}
		}
		return nil
	}
}

// inTheRightUnit is the law of case 5: the next attempt comes after the wait of the
// hint, and at most own later.
func inTheRightUnit(own time.Duration, readers []wire.Reader, askings []asking, stack ...strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		for _, reader := range readers {
			for _, a := range askings {
				g := gate{asking: a, reader: reader, takes: 150 * time.Millisecond}
				if g.visit(t, time.Hour, stack...); g.again < a.asks || g.again > a.asks+own {
					return fmt.Errorf("%q to %T: back after %v", a.value, reader, g.again)
				}
			}
		}
		return nil
	}
}

// reachesTheReset is the law of case 4: a window is closed until 60 s, and a hundred
// clients get this as a hint. All of them come afterwards, with one more attempt each,
// by the time own at the latest, and at most peak of them in a second.
func reachesTheReset(class wire.Class, places int, own time.Duration, peak int, stack ...strategies.Layer) func(*testing.T) error {
	return func(t *testing.T) error {
		const clients, reset = 100, time.Minute
		l := strategytest.NewLab(t, stack...)
		var late []time.Duration
		var early time.Duration
		l.Serve = func(c *strategytest.Caller) (time.Duration, wire.Outcome) {
			if l.Now >= reset {
				late = append(late, l.Now)
				return time.Millisecond, strategytest.Answered
			}
			if int(c.Attempts) > max(places, 1) {
				early = l.Now
				return strategies.Never, strategytest.Answered
			}
			o := strategytest.Refused(class)
			o.RetryAfter, o.Limit = reset-l.Now-time.Millisecond, clients
			return time.Millisecond, o
		}
		answered := 0
		l.Settled = func(_ *strategytest.Caller, d strategies.Decision) {
			if d.End.Reason == strategies.Succeeded {
				answered++
			}
		}
		for i := range clients {
			l.At(0, func() { l.Begin(fmt.Sprint(i), 0) })
		}
		l.Run(time.Hour)
		switch {
		case early > 0:
			return fmt.Errorf("an attempt at %v, before the end of its hint", early)
		case answered < clients || len(late) != clients:
			return fmt.Errorf("%d of %d answered, with %d attempts after the reset", answered, clients, len(late))
		case late[clients-1] > reset+own:
			return fmt.Errorf("the last of them at %v", late[clients-1])
		}
		n := strategytest.MostWithin(late, time.Second)
		return wrong(n > peak, "%d of them in a second", n)
	}
}

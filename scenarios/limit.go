package scenarios

import (
	"math"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// limitKinds are the names of limits.
var limitKinds = []string{"window", "joint", "sliding_log", "sliding_counter", "token_bucket", "concurrency"}

// limit reads one limit of a provider; nil if it cannot be told which.
func (d *decoder) limit(n *yaml.Node) mockprovider.Limit {
	name, at, body := d.variant(n, "limit", limitKinds...)
	read := func(foresees bool, keys ...string) (*section, mockprovider.Counted, mockprovider.Refusal) {
		s := d.section(at, body, name, append(keys, "per", "reply", "retry_after", "says")...)
		r := s.refusal("reply", "429", foresees)
		r.Says = int32(d.integer(s.get("says"), 1, math.MaxInt32))
		return s, d.per(s), r
	}
	switch name {
	case "window":
		s, per, r := read(true, "limit", "anchored")
		w := mockprovider.Window{Anchored: d.boolean(s.get("anchored")), Terms: mockprovider.Terms{Per: per, Refusal: r}}
		w.Limit, w.Length = s.whole("600/min")
		return w
	case "joint":
		s, per, r := read(false, "limit", "anchored")
		j := mockprovider.Joint{Anchored: d.boolean(s.get("anchored")), Terms: mockprovider.Terms{Per: per, Refusal: r}}
		j.Limit, j.Length = s.whole("20/s")
		return j
	case "sliding_log":
		s, per, r := read(true, "limit")
		l := mockprovider.SlidingLog{Terms: mockprovider.Terms{Per: per, Refusal: r}}
		l.Limit, l.Length = s.whole("600/min")
		return l
	case "sliding_counter":
		s, per, r := read(true, "limit")
		c := mockprovider.SlidingCounter{Terms: mockprovider.Terms{Per: per, Refusal: r}}
		c.Limit, c.Length = s.whole("600/min")
		return c
	case "token_bucket":
		s, per, r := read(true, "limit", "burst")
		return s.bucket(mockprovider.TokenBucket{Terms: mockprovider.Terms{Per: per, Refusal: r}})
	case "concurrency":
		s, per, r := read(false, "limit")
		return mockprovider.Semaphore{
			Limit: int32(d.integer(s.need("limit", "20"), 1, math.MaxInt32)), Terms: mockprovider.Terms{Per: per, Refusal: r},
		}
	}
	return nil
}

// whole reads the limit of a limit that counts whole requests in a length of
// time.
func (s *section) whole(example string) (limit int32, length time.Duration) {
	n := s.need("limit", example)
	r, ok := s.rate(n)
	if ok && r.scale > 1 { // the length would be longer than the file says
		s.complain(n, "%s counts whole requests; write %d/%s if the time may be that long", s.name, r.count, inFile(r.per))
		return 0, 0
	}
	return int32(r.count), r.per // at most maxCount, since it is whole
}

// bucket reads the rate and the size of a token bucket.
func (s *section) bucket(b mockprovider.TokenBucket) mockprovider.TokenBucket {
	n, size := s.need("limit", "120/min"), s.need("burst", "20")
	r, ok := s.rate(n)
	if b.Burst = int32(s.integer(size, 1, math.MaxInt32)); !ok || b.Burst == 0 {
		return b
	}
	if r.count > math.MaxInt32 {
		s.complain(n, "the rate has too many decimal places for so large a count; at most %d requests in %s", math.MaxInt32, inFile(r.per))
		return b
	}
	b.Limit, b.Length = int32(r.count), r.per
	if err := b.Validate(); err != nil {
		s.complain(size, "%v", err)
	}
	return b
}

func (d *decoder) per(s *section) mockprovider.Counted {
	if d.word(s.get("per"), "per", "everyone", "account") == "account" {
		return mockprovider.Account
	}
	return mockprovider.Everyone
}

package scenarios

import (
	"math"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// limit reads one limit of a provider; nil if it cannot be told which.
func (d *decoder) limit(n *yaml.Node) mockprovider.Limit {
	name, at, body := d.variant(n, "limit", "window", "concurrency", "joint")
	switch name {
	case "window":
		s := d.section(at, body, name, "limit", "anchored", "per", "reply", "retry_after", "says")
		w := mockprovider.Window{Anchored: d.boolean(s.get("anchored")), Per: d.per(s), Refusal: s.refuses(true)}
		if r, ok := s.whole("600/min"); ok {
			w.Limit, w.Length = int32(r.count), r.per
		}
		return w
	case "concurrency":
		s := d.section(at, body, name, "limit", "per", "reply", "retry_after", "says")
		return mockprovider.Semaphore{
			Limit: int32(d.integer(s.need("limit", "20"), 1, math.MaxInt32)),
			Per:   d.per(s), Refusal: s.refuses(false),
		}
	case "joint":
		s := d.section(at, body, name, "limit", "anchored", "per", "reply", "retry_after", "says")
		j := mockprovider.Joint{Anchored: d.boolean(s.get("anchored")), Per: d.per(s), Refusal: s.refuses(false)}
		if r, ok := s.whole("20/s"); ok {
			j.Limit, j.Length = int32(r.count), r.per
		}
		return j
	}
	return nil
}

// whole reads the rate of a limit that counts whole requests in a time. ok is
// false if there is none.
func (s *section) whole(example string) (r rate, ok bool) {
	n := s.need("limit", example)
	if r, ok = s.rate(n); ok && r.scale > 1 { // the window would be longer than the file says
		s.complain(n, "a window counts whole requests; write %d/%s if the window may be that long", r.count, inFile(r.per))
	}
	return r, ok // the count is at most maxCount, since it is whole
}

// refuses reads how a limit refuses.
func (s *section) refuses(foresees bool) mockprovider.Refusal {
	r := s.refusal("reply", "429", foresees)
	r.Says = int32(s.integer(s.get("says"), 1, math.MaxInt32))
	return r
}

func (d *decoder) per(s *section) mockprovider.Counted {
	if d.word(s.get("per"), "per", "everyone", "account") == "account" {
		return mockprovider.Account
	}
	return mockprovider.Everyone
}

package scenarios

import (
	"fmt"
	"math"
	"math/bits"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// maxSlots bounds slots and queue places, maxLimits the limits of a provider.
const (
	maxSlots  = 1_000_000_000
	maxLimits = 16
)

func (d *decoder) provider(parent *section, n *yaml.Node) mockprovider.Config {
	s := d.section(parent.at, n, "provider", "auth", "limits", "keep_on_refusal", "capacity", "refusal_time")
	var c mockprovider.Config
	if n == nil {
		return c
	}
	auth := d.section(s.at, s.get("auth"), "auth", "reject_keys", "reply")
	for _, key := range d.list(auth.get("reject_keys"), "keys", math.MaxUint8+1) {
		c.RejectKeys = append(c.RejectKeys, uint8(d.integer(key, 0, math.MaxUint8)))
	}
	c.BadKey = auth.refusal("reply", "401", false)
	for _, item := range d.list(s.get("limits"), "limits", maxLimits) {
		if l := d.limit(item); l != nil {
			c.Limits = append(c.Limits, l)
		}
	}
	c.KeepOnRefusal = d.boolean(s.get("keep_on_refusal"))
	d.capacity(s, &c)
	c.RefusalTime = d.duration(s.get("refusal_time"))
	return c
}

func (d *decoder) limit(n *yaml.Node) mockprovider.Limit {
	name, at, body := d.variant(n, "limit", "window", "concurrency")
	switch name {
	case "window":
		s := d.section(at, body, name, "limit", "anchored", "per", "reply", "retry_after")
		w := mockprovider.Window{
			Anchored: d.boolean(s.get("anchored")),
			Per:      d.per(s), Refusal: s.refusal("reply", "429", true),
		}
		limit := s.need("limit", "600/min")
		if r, ok := d.rate(limit); ok {
			if r.scale > 1 { // the window would be longer than the file says
				d.complain(limit, "a window counts whole requests; write %d/%s if the window may be that long", r.count, inFile(r.per))
			}
			w.Limit, w.Length = int32(r.count), r.per // at most maxCount, since it is whole
		}
		return w
	case "concurrency":
		s := d.section(at, body, name, "limit", "per", "reply", "retry_after")
		return mockprovider.Semaphore{
			Limit: int32(d.integer(s.need("limit", "20"), 1, math.MaxInt32)),
			Per:   d.per(s), Refusal: s.refusal("reply", "429", false),
		}
	}
	return nil
}

func (d *decoder) per(s *section) mockprovider.Counted {
	if d.word(s.get("per"), "per", "everyone", "account") == "account" {
		return mockprovider.Account
	}
	return mockprovider.Everyone
}

func (d *decoder) capacity(provider *section, c *mockprovider.Config) {
	n := provider.get("capacity")
	s := d.section(provider.at, n, "capacity", "slots", "queue", "service", "full", "retry_after")
	c.Slots = int(d.integer(s.get("slots"), 1, maxSlots))
	c.Queue = int(d.integer(s.get("queue"), 0, maxSlots))
	if c.Queue > 0 && s.get("slots") == nil {
		d.complain(s.get("queue"), "a queue needs a bounded number of slots; add slots")
	}
	if n != nil {
		s.at = n
		c.Service = d.service(s.need("service", "2s"))
	}
	c.Full = s.refusal("full", "503", false)
}

// service reads how long a slot is held: a distribution, or a time to first
// token and a time for each output token.
func (d *decoder) service(n *yaml.Node) mockprovider.Service {
	keys := []string{"first_token", "per_output_token"}
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) == 2 && Nearest(n.Content[0].Value, keys) == "" {
		return mockprovider.Service{First: d.dist(n)}
	}
	s := d.section(n, n, "service", keys...)
	return mockprovider.Service{
		First:    d.dist(s.need("first_token", "300ms")),
		PerToken: d.duration(s.need("per_output_token", "20ms")),
	}
}

// servable says what is wrong if a request of so many output tokens takes
// longer than any duration may.
func servable(s *mockprovider.Service, outputTokens uint32) error {
	hi, lo := bits.Mul64(uint64(s.PerToken), uint64(outputTokens))
	if hi > 0 || lo > uint64(maxDuration) {
		return fmt.Errorf("%d output tokens of %v each take longer than %s", outputTokens, s.PerToken, maxDurationText)
	}
	return nil
}

// forms are the replies that a refusal can be written as.
var forms = []struct {
	name    string
	refusal mockprovider.Refusal
}{
	{"14003", mockprovider.As14003}, {"401", mockprovider.As401}, {"429", mockprovider.As429}, {"503", mockprovider.As503},
}

// refusal reads the form of a refusal under the given key, and its hint under
// retry_after. foresees says whether the gate knows when it will admit again.
func (s *section) refusal(key, otherwise string, foresees bool) mockprovider.Refusal {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.name
	}
	form := otherwise
	if w := s.word(s.get(key), "reply", names...); w != "" {
		form = w
	}
	for _, f := range forms {
		if f.name == form {
			return f.refusal.WithHint(s.hint(foresees))
		}
	}
	return mockprovider.Refusal{}
}

func (s *section) hint(foresees bool) mockprovider.Hint {
	n := s.get("retry_after")
	v, ok := s.scalar(n, "a duration such as 3s, exact, rounded_up or none")
	if !ok {
		return mockprovider.Hint{}
	}
	kind := mockprovider.Constant
	switch v {
	case "none":
		return mockprovider.Hint{}
	case "exact":
		kind = mockprovider.Exact
	case "rounded_up":
		kind = mockprovider.RoundedUp
	default:
		if close := Nearest(v, []string{"none", "exact", "rounded_up"}); close != "" {
			s.report(n.Line, n.Column, &mistake{"unknown retry_after " + quoted(v), close})
			return mockprovider.Hint{}
		}
		return mockprovider.Hint{Kind: kind, Value: s.duration(n)}
	}
	if !foresees {
		s.complain(n, "retry_after: %s needs to know when there will be room, and %s does not; write a duration or none", v, s.name)
	}
	return mockprovider.Hint{Kind: kind}
}

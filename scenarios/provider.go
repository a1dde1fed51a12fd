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

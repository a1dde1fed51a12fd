package scenarios

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// maxLimits bounds the limits of a provider, maxModels its models and regions.
const (
	maxLimits = 16
	maxModels = 64
)

// providerForm lists the keys of a provider.
type providerForm struct {
	Dialect          dialectText                          `without:"that of no provider in particular" about:"How replies are written."`
	Auth             authForm                             `without:"all keys are valid" about:"Which keys are refused, and how."`
	Limits           []mockprovider.Limit                 `without:"there are none" about:"The limits, in the order in which a request meets them."`
	KeepOnRefusal    bool                                 `about:"Whether limits still count a request that a later limit, or capacity, refuses."`
	Tells            int                                  `least:"1" most:"16" without:"none" unit:"number of a limit" about:"Which limit the headers of successful replies describe, counted from 1."`
	Capacity         mockprovider.Capacity                `without:"there is no bound" about:"What serves requests."`
	Models           map[string]mockprovider.ModelConfig  `without:"there is one" about:"The models by name, each with its own slots."`
	Regions          map[string]mockprovider.RegionConfig `without:"there is one" about:"The regions by name, each with its own slots."`
	Abandoned        mockprovider.Notice                  `default:"never" about:"When the provider notices that a client has hung up, and frees its slot."`
	RefusalTime      time.Duration                        `default:"0s" about:"How long the provider takes to refuse a request."`
	Keys             int                                  `least:"1" most:"256" default:"1" unit:"keys" about:"How many API keys each account has."`
	OrganisationSize int                                  `least:"1" most:"2147483647" default:"1" unit:"accounts" about:"How many accounts make an organisation, for limits per organisation."`
}

// authForm lists the keys of authentication.
type authForm struct {
	RejectKeys []uint8              `without:"none" unit:"key number" about:"The API keys that are refused."`
	Reply      mockprovider.Refusal `about:"How they are refused."`
}

func (d *decoder) provider(parent *section, n *yaml.Node) mockprovider.Config {
	s := d.section(parent.at, n, "provider", form[providerForm]())
	var c mockprovider.Config
	if n == nil {
		return c
	}
	d.providerDialect(s.get("dialect"), &c)
	auth := d.section(s.at, s.get("auth"), "auth", form[authForm]())
	for _, key := range d.list(auth.get("reject_keys"), "keys", math.MaxUint8+1) {
		c.RejectKeys = append(c.RejectKeys, uint8(d.integer(key, 0, math.MaxUint8)))
	}
	auth.refuses("reply", &c.BadKey, false)
	d.models(s.get("models"), &c)
	d.regions(s.get("regions"), &c)
	if d.boolean(s.get("keep_on_refusal")) {
		d.keep = mockprovider.KeepOthers
	}
	for _, item := range d.list(s.get("limits"), "limits", maxLimits) {
		if l := d.limit(item); l != nil {
			c.Limits = append(c.Limits, l)
		}
	}
	c.ReportedLimit = int(d.integer(s.get("tells"), 1, maxLimits))
	if at := s.get("tells"); c.ReportedLimit > len(c.Limits) {
		d.complain(at, "there is no limit %d whose state could be reported; there are %d limits", c.ReportedLimit, len(c.Limits))
	}
	if at := s.get("capacity"); at != nil {
		d.capacity(s.at, at, &c.Capacity)
	}
	if at := s.get("abandoned"); at != nil {
		c.Abandoned = d.notice(at)
	}
	c.RefusalTime = d.duration(s.get("refusal_time"))
	c.Keys = int(d.integer(s.get("keys"), 1, math.MaxUint8+1))
	c.OrgSize = int(d.integer(s.get("organisation_size"), 1, math.MaxInt32))
	return c
}

// capacity reads slots, queue and service time.
func (d *decoder) capacity(at, n *yaml.Node, c *mockprovider.Capacity) {
	if n.Kind == yaml.MappingNode {
		at = n
	}
	before := d.count()
	s := d.bind(at, n, "capacity", reflect.ValueOf(c).Elem())
	switch slots := s.get("slots"); {
	case d.count() > before:
	case c.Queue > 0 && slots == nil:
		d.complain(s.get("queue"), "a queue needs a bounded number of slots; add the key slots")
	default:
		if err := (&mockprovider.Config{Capacity: *c}).Validate(); err != nil {
			d.complain(at, "%v", err)
		}
	}
}

// names reads a mapping by name, in the order of the file.
func (d *decoder) names(n *yaml.Node, what string) (keys, values []*yaml.Node) {
	switch {
	case n == nil:
	case n.Kind != yaml.MappingNode:
		d.complain(n, "expected a mapping of %s by name, found %s", what, found(n))
	case len(n.Content)/2 > maxModels:
		d.complain(n, "%d %s; expected at most %d", len(n.Content)/2, what, maxModels)
	default:
		seen := map[string]bool{}
		for i := 0; i < len(n.Content); i += 2 {
			if name := d.name(n.Content[i]); seen[name] {
				d.complain(n.Content[i], "duplicate name %[2]s in %[1]s; rename one", what, quoted(name))
			} else if name != "" {
				seen[name] = true
				keys, values = append(keys, n.Content[i]), append(values, n.Content[i+1])
			}
		}
	}
	return keys, values
}

// collectNames collects the names of the provider's models and regions for the
// parts that are read before them. Errors in them are reported when they are read.
func (d *decoder) collectNames(provider *yaml.Node) {
	for _, what := range []string{"models", "regions"} {
		if named := child(provider, what); named != nil && named.Kind == yaml.MappingNode {
			for i := 0; i < len(named.Content); i += 2 {
				if name := named.Content[i].Value; !slices.Contains(d.named[what], name) {
					d.named[what] = append(d.named[what], name)
				}
			}
		}
	}
}

// child returns the value of a key of a mapping, nil if the key is absent.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// models reads the models by name, each with its own capacity and price.
func (d *decoder) models(n *yaml.Node, c *mockprovider.Config) {
	keys, values := d.names(n, "models")
	for i, at := range keys {
		var m mockprovider.ModelConfig
		s := d.section(at, values[i], "model", form[mockprovider.ModelConfig]())
		if own := s.get("capacity"); own != nil {
			m.Capacity = new(mockprovider.Capacity)
			d.capacity(at, own, m.Capacity)
		}
		if others := s.get("others"); others != nil {
			d.share(others, &m.Others)
		}
		if price := s.get("price"); price != nil {
			m.Price = d.price(price)
		}
		c.Models = append(c.Models, m)
	}
}

// regions reads the regions by name.
func (d *decoder) regions(n *yaml.Node, c *mockprovider.Config) {
	keys, values := d.names(n, "regions")
	for i, at := range keys {
		var r mockprovider.RegionConfig
		d.bind(at, values[i], "region", reflect.ValueOf(&r).Elem())
		c.Regions = append(c.Regions, r)
	}
}

// share reads a schedule: a constant, or steps in time.
func (d *decoder) share(n *yaml.Node, to *mockprovider.Schedule) {
	if n.Kind == yaml.ScalarNode {
		to.Steps = []mockprovider.Step{{Value: d.number(n)}}
		return
	}
	d.bind(n, n, "schedule", reflect.ValueOf(to).Elem())
}

// service reads the service time: a distribution, or a time to first token, a time
// for each input token and one for each output token.
func (d *decoder) service(n *yaml.Node) (s mockprovider.Service) {
	keys := keysOf(form[mockprovider.Service]())
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) == 2 && Nearest(n.Content[0].Value, keys) == "" {
		return mockprovider.Service{First: d.dist(n)}
	}
	d.bind(n, n, "service", reflect.ValueOf(&s).Elem())
	return s
}

// servable returns an error if a request with that many output tokens takes longer
// than maxDuration.
func servable(s *mockprovider.Service, outputTokens uint32) error {
	hi, lo := bits.Mul64(uint64(s.PerToken), uint64(outputTokens))
	if hi > 0 || lo > uint64(maxDuration) {
		return fmt.Errorf("%d output tokens of %v each take longer than %s", outputTokens, s.PerToken, maxDurationText)
	}
	return nil
}

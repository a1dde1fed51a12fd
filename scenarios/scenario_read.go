package scenarios

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/sim"
)

// version is the version of the format that this package reads.
const version = "1"

// maxBins bounds the bins of a run's series.
const maxBins = 5_000_000

// scenarioForm lists the keys of a scenario.
type scenarioForm struct {
	Herdlab    versionText          `required:"1" about:"The version of the format; the first key of the file."`
	Name       nameText             `required:"my-scenario" about:"The name of the scenario and of its output directory."`
	Title      titleText            `required:"What this shows" about:"What stands above tables and pictures."`
	About      string               `without:"there is none" about:"What the scenario shows, for people; its first paragraph stands above the table."`
	Horizon    time.Duration        `least:"1ns" without:"it follows from the trace, and without a trace it is required" about:"When runs are cut off."`
	Bin        time.Duration        `least:"1ns" default:"1s" about:"The width of the bins in which events are counted for tables and pictures."`
	Fleet      fleetForm            `without:"fleets is required" about:"The clients that call the provider, all of one configuration."`
	Fleets     map[string]fleetForm `without:"there is one, under fleet" about:"Several fleets by name, in place of fleet."`
	Provider   providerForm         `required:"{capacity: {slots: 6, service: 2s}}" about:"The API that the clients call."`
	Faults     []timedFault         `without:"there are none" about:"What goes wrong, and when."`
	Strategies []strategyChoice     `required:"[naive, full-jitter]" about:"The strategies that are compared."`
	Expect     []expectForm         `without:"check has nothing to check" about:"What the results must be, for herdlab check."`
}

// scenario reads a whole file.
func (d *decoder) scenario(root *yaml.Node) *Scenario {
	if !d.versioned(root) {
		return nil
	}
	top := d.section(root, root, "the scenario", form[scenarioForm]())
	s := &Scenario{bin: time.Second}
	s.name = d.name(top.need("name"))
	s.title = d.title(top.need("title"))
	s.about = d.prose(top.get("about"))
	if n := top.get("bin"); n != nil {
		s.bin, _ = d.positive(n)
	}
	s.horizon = d.horizon(top.get("horizon"), s.bin)
	s.asked = s.horizon
	d.collectNames(top.get("provider"))
	s.named = d.named
	s.fleets = d.fleets(top, s.horizon)
	s.provider = d.provider(top, top.need("provider"))
	s.dialect = d.dialect
	if s.replaying() < 0 { // a trace says itself how long it is
		top.needs("horizon", "1h")
	}
	s.provider.Faults = d.faults(top.get("faults"), s.horizon)
	if n := len(s.fleets); n > 0 {
		last := &s.fleets[n-1]
		s.provider.Accounts = s.accounts()
		if addresses := last.address + last.addresses(); addresses > 1 {
			s.provider.Addresses = addresses
		}
	}
	d.products(top, s)
	if len(d.problems) == 0 { // what only the whole is wrong about
		if err := s.provider.Validate(); err != nil {
			d.complain(top.get("provider"), "%v", err)
		}
	}
	before := d.count()
	s.choices = d.strategies(top.need("strategies"))
	if at := top.get("expect"); at != nil {
		d.sound = sound{runs: before == 0, names: d.count() == before}
		d.expectations(at, s)
	}
	return s
}

// versioned reports whether the file says that it is in this version of the
// format. It complains if not, and nothing else is worth reading then: another
// version would be misread.
func (d *decoder) versioned(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		d.complain(root, "expected a scenario, a mapping that begins with herdlab: %s; found %s", version, found(root))
		return false
	}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Value != "herdlab" {
			continue
		}
		if value.Kind != yaml.ScalarNode || value.Value != version {
			d.complain(value, "version %s of the scenario format; this herdlab reads version %s", found(value), version)
			return false
		}
		if i > 0 {
			d.complain(key, "herdlab: %s must be the first key", version)
		}
		return true
	}
	d.complain(root, "the first key must be herdlab: %s, the version of the format", version)
	return false
}

// maxTitle is how many characters a title may have: it stands above figures.
const maxTitle = 100

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)

// name reads a scenario's name, which also names its output directory.
func (d *decoder) name(n *yaml.Node) string {
	s, ok := d.scalar(n, "a name such as second-peak")
	if ok && !nameForm.MatchString(s) {
		d.complain(n, "the name %s; expected lower-case letters, digits, dots and hyphens, such as second-peak", quoted(s))
	}
	return s
}

// title reads one line of text.
func (d *decoder) title(n *yaml.Node) string {
	s := d.prose(n)
	if strings.Contains(s, "\n") || utf8.RuneCountInString(s) > maxTitle {
		d.complain(n, "the title is one line of at most %d characters; about has room for more", maxTitle)
	}
	return s
}

// prose reads text.
func (d *decoder) prose(n *yaml.Node) string {
	s, ok := d.scalar(n, "a text")
	if !ok {
		return ""
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' {
			d.complain(n, "the text has the control character %U; expected plain text", r)
			break
		}
	}
	return s
}

// horizon reads when runs are cut off; 0 if that is not known.
func (d *decoder) horizon(n *yaml.Node, bin time.Duration) time.Duration {
	if n == nil {
		return 0
	}
	horizon, ok := d.positive(n)
	if !ok {
		return 0
	}
	if bin > horizon {
		d.complain(n, "the horizon %s is shorter than one bin of %s", inFile(horizon), inFile(bin))
	} else if bins := horizon / max(bin, 1); bin > 0 && bins > maxBins {
		d.complain(n, "a horizon of %s has %d bins of %s; at most %d, so take a wider bin", inFile(horizon), bins, inFile(bin), maxBins)
	}
	return horizon
}

// maxArrivals bounds the calls of an open fleet, maxAccounts the memory of
// limits that count each account by itself, maxLogged that of sliding logs,
// which remember when each request came.
const (
	maxArrivals = 100_000_000
	maxAccounts = 20_000_000
	maxLogged   = 50_000_000
)

// products checks what no section can check alone, because it multiplies the
// numbers of several.
func (d *decoder) products(top *section, s *Scenario) {
	clients := 0
	for i := range s.fleets {
		f := &s.fleets[i]
		for _, size := range f.sizes() {
			if err := servable(&s.provider.Service, size.OutputTokens); err != nil {
				d.complain(f.at, "%v", err)
				break
			}
		}
		if calls := atMost(&f.traffic, s.horizon); calls > maxArrivals {
			d.complain(f.at, "about %d calls arrive; at most %d, so lower the rate or stop it earlier", calls, maxArrivals)
		}
		if clients += f.traffic.Clients; clients > sim.MaxClients && i > 0 {
			d.complain(f.at, "the fleets have more than %d clients together", sim.MaxClients)
			break
		}
	}
	if n := len(s.provider.Limits) * s.accounts(); n > maxAccounts && s.accounts() > 1 {
		d.complain(top.get("provider"), "%d limits of %d accounts are too many to count; at most %d together",
			len(s.provider.Limits), s.accounts(), maxAccounts)
	}
	logged := 0
	for _, l := range s.provider.Limits {
		if log, ok := l.(limits.SlidingLog); ok {
			keys := 1
			if log.Per == mockprovider.Account {
				keys = s.accounts()
			}
			logged += int(log.Limit) * keys // 16 limits of 10⁹ requests of 10⁷ accounts are below 2⁶³
		}
	}
	if logged > maxLogged {
		d.complain(top.get("provider"), "sliding logs of %d requests are too much to remember; at most %d together, so take a sliding_counter", logged, maxLogged)
	}
}

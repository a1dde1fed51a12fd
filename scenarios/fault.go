package scenarios

import (
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/wire"
)

// maxFaults bounds the faults of a scenario.
const maxFaults = 1000

// disturbances are what faults may do.
var disturbances = []kind{
	{"outage", faults.Refuse{}},
	{"silence", faults.Silence{}},
	{"unreachable", faults.Unreachable{}},
	{"reset", faults.Reset{}},
	{"errors", faults.Errors{}},
	{"expiry", faults.Expiry{}},
	{"masked_permission", faults.MaskedPermission{}},
	{"brownout", faults.Brownout{}},
	{"limit_cut", faults.LimitCut{}},
	{"latency", faults.Latency{}},
	{"skew", faults.Skew{}},
	{"spoil", faults.Spoil{}},
	{"stall", faults.Stall{}},
	{"script", faults.Script{}},
}

// answers are what a script may answer a request with.
func answers() []kind { return append([]kind{{"pass", nil}}, disturbances...) }

// when is when a fault strikes, and whom.
type when struct {
	From, To    time.Duration
	Where       mockprovider.Match
	Probability float64
}

// faults reads the list of faults of runs that are cut off at the horizon; 0 if
// that is not known.
func (d *decoder) faults(n *yaml.Node, horizon time.Duration) []mockprovider.Fault {
	names := make([]string, len(disturbances))
	for i, k := range disturbances {
		names[i] = k.name
	}
	var all []mockprovider.Fault
	for _, item := range d.list(n, "faults", maxFaults) {
		name, at, body := d.variant(item, "fault", names...)
		i := slices.Index(names, name)
		if i < 0 {
			continue
		}
		before := d.count()
		var w when
		does := disturbances[i].fresh()
		s := d.bind(at, body, name, reflect.ValueOf(&w).Elem(), does)
		f := mockprovider.Fault{From: w.From, To: w.To, Where: w.Where, Probability: w.Probability, Does: does.Interface().(mockprovider.Disturbance)}
		if s.get("to") == nil {
			f.To = mockprovider.Forever
		}
		if class := s.get("class"); class != nil && class.Value == wire.OK.String() {
			d.complain(class, "ok is no error; name the class of the errors, or leave it out")
		}
		if d.count() > before {
			continue // it is not known when it is, so nothing is said about that
		}
		if err := f.Does.Validate(); err != nil {
			d.complain(at, "%s: %v", name, err)
			continue
		}
		if d.timed(&f, name, at, s, horizon) {
			d.overlaps(&f, at, all)
			all = append(all, f)
		}
	}
	return all
}

// timed says what is wrong with when a fault begins and ends.
func (d *decoder) timed(f *mockprovider.Fault, name string, at *yaml.Node, s *section, horizon time.Duration) bool {
	from, to := at, at
	if n := s.get("from"); n != nil {
		from = n
	}
	if n := s.get("to"); n != nil {
		to = n
	}
	switch {
	case f.To <= f.From:
		d.complain(to, "the %s must end after it begins at %s", name, inFile(f.From))
	case horizon > 0 && f.From >= horizon:
		d.complain(from, "the %s begins when the run is over, at the horizon %s; begin it earlier or lengthen the horizon", name, inFile(horizon))
	case horizon > 0 && f.To >= horizon && f.To != mockprovider.Forever:
		d.complain(to, "the %s does not end before the horizon %s, so nothing would be seen of what follows; end it earlier or lengthen the horizon", name, inFile(horizon))
	default:
		return true
	}
	return false
}

// overlaps complains of a plain outage that runs into another: one of them would
// go unheard.
func (d *decoder) overlaps(f *mockprovider.Fault, at *yaml.Node, others []mockprovider.Fault) {
	plain := func(f *mockprovider.Fault) bool {
		_, refuses := f.Does.(faults.Refuse)
		return refuses && f.Where == (mockprovider.Match{}) && f.Probability == 0
	}
	for i := range others {
		if o := &others[i]; plain(f) && plain(o) && f.From < o.To && o.From < f.To {
			d.complain(at, "the outage overlaps the one from %s to %s; make them one", inFile(o.From), inFile(o.To))
			return
		}
	}
}

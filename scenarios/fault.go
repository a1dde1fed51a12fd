package scenarios

import (
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
)

// maxFaults bounds the faults of a scenario.
const maxFaults = 1000

// faultKinds are what faults do.
var faultKinds = []Kind{
	{Name: "outage", Prototype: faults.Refuse{},
		Summary: "Refuses all requests."},
	{Name: "silence", Prototype: faults.Silence{},
		Summary: "Does not answer; clients wait until they time out."},
	{Name: "unreachable", Prototype: faults.Unreachable{},
		Summary: "Clients cannot connect."},
	{Name: "reset", Prototype: faults.Reset{},
		Summary: "Closes connections without an answer, or in the middle of one."},
	{Name: "errors", Prototype: faults.Errors{},
		Summary: "Answers with an error of a class."},
	{Name: "expiry", Prototype: faults.Expiry{},
		Summary: "Credentials are no longer valid."},
	{Name: "masked_permission", Prototype: faults.MaskedPermission{},
		Summary: "Refuses for a missing permission, and says that capacity lacks."},
	{Name: "brownout", Prototype: faults.Brownout{},
		Summary: "Leaves a share of the slots."},
	{Name: "limit_cut", Prototype: faults.LimitCut{},
		Summary: "Lowers limits to a share."},
	{Name: "latency", Prototype: faults.Latency{},
		Summary: "Makes answers slower."},
	{Name: "skew", Prototype: faults.Skew{},
		Summary: "Sets the provider's clock wrong, and with it the dates in replies."},
	{Name: "spoil", Prototype: faults.Spoil{},
		Summary: "Damages successful replies."},
	{Name: "stall", Prototype: faults.Stall{},
		Summary: "Streams stop in the middle and stay open."},
	{Name: "script", Prototype: faults.Script{},
		Summary: "Answers the first requests as a list says."},
}

// when lists the keys of the times of a fault and of the requests that it affects.
type when struct {
	From        time.Duration      `default:"0s" about:"When the fault begins, counted from the start of the run."`
	To          time.Duration      `without:"it never ends" about:"When the fault ends, counted from the start of the run."`
	Where       mockprovider.Match `without:"all requests are affected" about:"Which requests are affected: those that match all that is listed."`
	Probability float64            `unit:"probability" without:"each attempt is affected" about:"The probability that an attempt is affected, 0 to 1; 0 means each, too."`
}

// period lists the same keys for a fault that must have a beginning and an end.
type period struct {
	From        time.Duration      `required:"0s" about:"When the fault begins, counted from the start of the run."`
	To          time.Duration      `required:"300s" about:"When the fault ends, counted from the start of the run."`
	Where       mockprovider.Match `without:"all requests are affected" about:"Which requests are affected: those that match all that is listed."`
	Probability float64            `unit:"probability" without:"each attempt is affected" about:"The probability that an attempt is affected, 0 to 1; 0 means each, too."`
}

// timing returns the list of a fault of that kind, when or period: an outage that does
// not end would leave nothing to compare.
func timing(k *Kind) reflect.Type {
	if _, outage := k.Prototype.(faults.Refuse); outage {
		return reflect.TypeFor[period]()
	}
	return reflect.TypeFor[when]()
}

// faults reads the list of faults of runs that end at the horizon, which is 0 if it
// is not known.
func (d *decoder) faults(n *yaml.Node, horizon time.Duration) []mockprovider.Fault {
	kinds := d.format.allFaults()
	names := make([]string, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].Name
	}
	var all []mockprovider.Fault
	for _, item := range d.list(n, "faults", maxFaults) {
		name, at, body := d.variant(item, "fault", names...)
		i := slices.Index(names, name)
		if i < 0 {
			continue
		}
		before := d.count()
		kind := &kinds[i]
		times, does := reflect.New(timing(kind)).Elem(), kind.fresh()
		s := d.bind(at, body, name, times, does)
		w := times.Convert(reflect.TypeFor[when]()).Interface().(when)
		f := mockprovider.Fault{From: w.From, To: w.To, Where: w.Where, Probability: w.Probability, Does: does.Interface().(mockprovider.Disturbance)}
		if s.get("to") == nil {
			f.To = mockprovider.Forever
		}
		if d.count() > before {
			continue // its times may be wrong, so they are not checked
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

// timed reports whether a fault begins and ends within the run, and complains if
// not.
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

// overlaps complains of a plain outage that overlaps another: one of them would
// have no effect.
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

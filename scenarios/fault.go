package scenarios

import (
	"time"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// maxFaults bounds the faults of a scenario.
const maxFaults = 1000

// faults reads the list of faults of runs that are cut off at the horizon; 0 if
// that is not known.
func (d *decoder) faults(n *yaml.Node, horizon time.Duration) []mockprovider.Outage {
	var outages []mockprovider.Outage
	for _, item := range d.list(n, "faults", maxFaults) {
		_, at, body := d.variant(item, "fault", "outage")
		if at == nil {
			continue
		}
		before := d.count()
		s := d.section(at, body, "outage", "from", "to", "reply", "retry_after")
		from, to := s.need("from", "0s"), s.need("to", "300s")
		o := mockprovider.Outage{
			From: d.duration(from), To: d.duration(to),
			Refusal: s.refusal("reply", "503", true),
		}
		if d.count() > before {
			continue // it is not known when it is, so nothing is said about that
		}
		switch {
		case o.To <= o.From:
			d.complain(to, "the outage must end after it begins at %s", inFile(o.From))
			continue
		case horizon > 0 && o.From >= horizon:
			d.complain(from, "the outage begins when the run is over, at the horizon %s; begin it earlier or lengthen the horizon", inFile(horizon))
			continue
		case horizon > 0 && o.To >= horizon:
			d.complain(to, "the outage does not end before the horizon %s, so nothing would be seen of what follows; end it earlier or lengthen the horizon", inFile(horizon))
			continue
		}
		for _, other := range outages {
			if o.From < other.To && other.From < o.To {
				d.complain(at, "the outage overlaps the one from %s to %s; make them one", inFile(other.From), inFile(other.To))
				break
			}
		}
		outages = append(outages, o)
	}
	return outages
}

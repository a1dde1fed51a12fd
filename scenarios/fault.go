package scenarios

import (
	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
)

// maxFaults bounds the faults of a scenario.
const maxFaults = 1000

// faults reads the list of faults.
func (d *decoder) faults(n *yaml.Node) []mockprovider.Outage {
	var outages []mockprovider.Outage
	for _, item := range d.list(n, "faults", maxFaults) {
		_, at, body := d.variant(item, "fault", "outage")
		if at == nil {
			continue
		}
		before := d.count()
		s := d.section(at, body, "outage", "from", "to", "reply", "retry_after")
		to := s.need("to", "300s")
		o := mockprovider.Outage{
			From: d.duration(s.need("from", "0s")), To: d.duration(to),
			Refusal: s.refusal("reply", "503", true),
		}
		if d.count() > before {
			continue // it is not known when it is, so nothing is said about that
		}
		if o.To <= o.From {
			d.complain(to, "the outage must end after it begins at %s", inFile(o.From))
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

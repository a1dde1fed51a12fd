package scenarios

import (
	"bytes"
	"cmp"
	"errors"
	"maps"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
)

// Provider returns the configuration of the scenario's provider.
func (s *Scenario) Provider() mockprovider.Config { return s.provider }

// Dialect returns the provider's dialect; ok is false if the file has none. A
// dialect that the file defines is not in dialect.All.
func (s *Scenario) Dialect() (d dialect.Dialect, ok bool) {
	if s.dialect == nil {
		return d, false
	}
	return *s.dialect, true
}

// Models and Regions return the names of the provider's models and regions, in the
// order of the file.
func (s *Scenario) Models() []string  { return s.named["models"] }
func (s *Scenario) Regions() []string { return s.named["regions"] }

// Words reads parts of scenario files that stand alone. The zero value reads the
// built-in format, without names of models and regions.
type Words struct {
	format *Format
	named  map[string][]string
}

// Words returns a reader of parts that knows the names of the scenario's models and
// regions.
func (s *Scenario) Words() Words { return Words{s.format, s.named} }

// decoder reads the root of a text.
func (w Words) decoder(what string, src []byte) (*decoder, *yaml.Node) {
	d := newDecoder(cmp.Or(w.format, &builtinFormat), what, src)
	maps.Copy(d.named, w.named)
	if len(bytes.TrimSpace(src)) == 0 {
		d.complainAt(0, 0, "the text is empty; herdlab scenarios --keys lists the format")
		return d, nil
	}
	return d, d.document(src)
}

// Fault reads one fault in the notation of a scenario's list of faults, as YAML or
// JSON. Errors are Problems.
func (w Words) Fault(src []byte) (mockprovider.Fault, error) {
	d, root := w.decoder("fault", src)
	if root == nil {
		return mockprovider.Fault{}, d.err()
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Line: root.Line, Column: root.Column, Content: []*yaml.Node{root}}
	all := d.faults(list, 0)
	if err := d.err(); err != nil {
		return mockprovider.Fault{}, err
	}
	if len(all) != 1 {
		return mockprovider.Fault{}, errors.New("fault: the text has no fault; write one such as {outage: {from: 0s, to: 30s}}")
	}
	return all[0], nil
}

// Limits reads a list of limits in the same notation.
func (w Words) Limits(src []byte) ([]mockprovider.Limit, error) {
	d, root := w.decoder("limits", src)
	if root == nil {
		return nil, d.err()
	}
	var limits []mockprovider.Limit
	for _, item := range d.list(root, "limits", maxLimits) {
		if l := d.limit(item); l != nil {
			limits = append(limits, l)
		}
	}
	return limits, d.err()
}

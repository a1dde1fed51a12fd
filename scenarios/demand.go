package scenarios

import (
	"math"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider/wire"
	"herdlab/sim/traffic"
)

// maxSizes bounds the list of sizes of a fleet.
const maxSizes = 100

// The keys of the size of a call.
var (
	sizeKeys  = []string{"input", "output", "max"}
	shareKeys = append([]string{"weight"}, sizeKeys...)
)

// tokens reads the size of calls: one size, or a list of sizes with weights.
func (d *decoder) tokens(n *yaml.Node, priority uint8) (size wire.Demand, mix *traffic.Mix) {
	size.Priority = priority
	if n == nil || n.Kind != yaml.SequenceNode {
		d.size(d.section(n, n, "tokens", sizeKeys...), &size)
		return size, nil
	}
	mix = &traffic.Mix{}
	for _, item := range d.list(n, "sizes", maxSizes) {
		s := d.section(item, item, "tokens", shareKeys...)
		share := traffic.Share{Demand: wire.Demand{Priority: priority}, Weight: uint32(d.integer(s.need("weight", "10"), 1, math.MaxUint32))}
		d.size(s, &share.Demand)
		mix.Sizes = append(mix.Sizes, share)
	}
	if len(mix.Sizes) == 0 {
		d.complain(n, "the list has no sizes; add one such as {weight: 1, input: 5000}")
		return size, nil
	}
	return mix.Sizes[0].Demand, mix
}

// size reads the numbers of tokens of a call.
func (d *decoder) size(s *section, to *wire.Demand) {
	to.InputTokens = uint32(d.integer(s.get("input"), 0, math.MaxUint32))
	to.OutputTokens = uint32(d.integer(s.get("output"), 0, math.MaxUint32))
	to.MaxTokens = uint32(d.integer(s.get("max"), 1, math.MaxUint32))
}

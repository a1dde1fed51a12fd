package scenarios

import (
	"math"

	"go.yaml.in/yaml/v4"

	"herdlab/mockprovider/wire"
	"herdlab/sim/traffic"
)

// maxSizes bounds the list of sizes of a fleet.
const maxSizes = 100

// sizeForm lists the keys of what a call asks for.
type sizeForm struct {
	Input  uint32 `default:"0" unit:"tokens" about:"Tokens of the prompt."`
	Output uint32 `default:"0" unit:"tokens" about:"Tokens of the answer."`
	Max    uint32 `least:"1" without:"the request states no cap" unit:"tokens" about:"The cap on the answer that the request states (max_tokens)."`
}

// shareForm lists the keys of one of several sizes.
type shareForm struct {
	Weight uint32 `required:"10" least:"1" unit:"parts" about:"How often calls have this size, relative to the other weights."`
	sizeForm
}

// tokens reads the size of calls: one size, or a list of sizes with weights.
func (d *decoder) tokens(n *yaml.Node, priority uint8) (size wire.Demand, mix *traffic.Mix) {
	size.Priority = priority
	if n == nil || n.Kind != yaml.SequenceNode {
		d.size(d.section(n, n, "tokens", form[sizeForm]()), &size)
		return size, nil
	}
	mix = &traffic.Mix{}
	for _, item := range d.list(n, "sizes", maxSizes) {
		s := d.section(item, item, "tokens", form[shareForm]())
		share := traffic.Share{Demand: wire.Demand{Priority: priority}, Weight: uint32(d.integer(s.need("weight"), 1, math.MaxUint32))}
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

package serve

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// A refusal that a scenario puts in a provider's mouth, with a status of its
// own, mentions in the simulator what its bytes mention: whoever reads status or
// keywords believes the same in both worlds.
func TestForeignRefusalsReadTheSame(t *testing.T) {
	for _, d := range dialect.All() {
		for class := wire.Rate; class <= wire.Timeout; class++ {
			for i, refusal := range []mockprovider.Refusal{mockprovider.As14003, mockprovider.As429, mockprovider.As503, mockprovider.As401} {
				p, err := mockprovider.New(mockprovider.Config{
					Forms:  d.Forms(),
					Faults: []mockprovider.Fault{{To: mockprovider.Forever, Does: mockprovider.Errors{Class: class, Refusal: refusal}}},
				}, draw.New(1))
				require.NoError(t, err)
				compact := p.Step(0, &wire.Input{}, nil)[0].Reply
				var m dialect.Message
				d.Write(&m, &dialect.Context{Model: "demo"}, &compact)
				in := m.Received()
				parsed := d.Parse(&in, dialect.Reading{})
				for _, reader := range []wire.Reader{wire.ByStatus{}, wire.ByKeyword{}, wire.ByLibrary{}, wire.ByBody{}} {
					var want, got wire.Outcome
					reader.Read(&parsed, 0, &want)
					reader.Read(&compact, 0, &got)
					if want.Class != got.Class {
						fmt.Printf("%s: %s, refusal %d, %T: %v %v\n%s\n", d.Name, class, i, reader, want.Class, got.Class, m.Body)
					}
				}
			}
		}
	}
}

package serve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// A refusal that a scenario puts in a provider's mouth, with a status of its
// own, says in the simulator what its bytes say: every reader believes the same
// in both worlds.
func TestForeignRefusalsReadTheSame(t *testing.T) {
	for _, d := range dialect.All() {
		for class := wire.Rate; class <= wire.Timeout; class++ {
			for _, refusal := range []mockprovider.Refusal{mockprovider.As14003, mockprovider.As429, mockprovider.As503, mockprovider.As401} {
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
					require.Equal(t, want, got, "%s: %s as %+v to %T\n%s", d.Name, class, refusal, reader, m.Body)
				}
			}
		}
	}
}

// Another member of the family that answers 200 to all is served like the rest.
func TestADialectOfOnesOwn(t *testing.T) {
	own := dialect.CodeInBody("own", "Our gateway", "/x", dialect.CodeFields{
		Code: "errno", Message: "errmsg", Success: 1, Numbers: [wire.NumClasses]int32{wire.Rate: 4290},
	})
	s, err := New(Config{Dialects: []dialect.Dialect{own}, Provider: mockprovider.Config{Limits: []mockprovider.Limit{
		mockprovider.Window{Limit: 1, Length: time.Hour},
	}}})
	require.NoError(t, err)
	for _, want := range []string{`"errno":1,`, `"errno":4290,`} {
		r := chat(t.Context(), t, "http://herd.test", false)
		r.URL.Path = "/own/x/chat"
		a := ask(t, s.Client(), r)
		require.Equal(t, 200, a.StatusCode)
		require.Contains(t, a.body, want)
	}
	for _, name := range []string{"", "openai", "a/b", "own"} {
		_, err := New(Config{Dialects: []dialect.Dialect{own, {Name: name}}})
		require.ErrorContains(t, err, "dialect 2", name)
	}
}

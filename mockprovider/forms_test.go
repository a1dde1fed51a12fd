package mockprovider_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// A provider that speaks a dialect to some says to them what one says whose only
// dialect that is, and to others what it always says.
func TestSpeak(t *testing.T) {
	other := wire.Plain()
	other[wire.Rate] = wire.Form{Status: 200, Body: wire.CodeBody, Code: 7, Shown: wire.Quota, Words: wire.MentionsQuota, Spelling: wire.BodyMillis}
	other[wire.Overloaded] = wire.Form{Status: 529, Body: wire.ErrorBody, Shown: wire.Overloaded, Spelling: wire.HeaderDate}
	other[wire.OK].Marks = wire.ResetAsTime
	cfg := mockprovider.Config{
		Limits:        []mockprovider.Limit{limits.Window{Limit: 2, Length: time.Minute, Terms: mockprovider.Terms{Refusal: mockprovider.Refusal{Hint: mockprovider.Hint{Kind: mockprovider.Exact}}}}},
		ReportedLimit: 1,
		Capacity:      mockprovider.Capacity{Slots: 1, Service: mockprovider.Service{First: draw.Const(time.Second)}},
	}
	converse := func(forms *wire.Forms, speak bool, dialect uint8) (said []wire.Reply) {
		c := cfg
		c.Forms = forms
		p, err := mockprovider.New(c, draw.New(1))
		require.NoError(t, err)
		if speak {
			p.SetForms(3, &other)
		}
		in := wire.Input{Kind: wire.Arrive, Request: wire.Request{Dialect: dialect}}
		var out []wire.Effect
		for range 4 { // one is served, one finds no slot, two are over the limit
			out = p.Step(0, &in, out)
		}
		out = p.Step(time.Second, &wire.Input{Kind: wire.Done}, out)
		for _, e := range out {
			if e.Kind == wire.Replied {
				said = append(said, e.Reply)
			}
		}
		return said
	}
	plain, spoken := converse(nil, false, 0), converse(&other, false, 0)
	require.NotEqual(t, plain, spoken)
	require.Len(t, spoken, 4)
	require.Equal(t, spoken, converse(nil, true, 3))
	require.Equal(t, plain, converse(nil, true, 0))
	require.Equal(t, plain, converse(nil, true, 1), "nobody has said how dialect 1 speaks")
	require.Equal(t, plain, converse(nil, true, 200))
	require.Equal(t, plain, converse(nil, false, 3))
}

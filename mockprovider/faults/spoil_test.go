package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/limits"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// Two seconds to the head and one for each token, so that the answer breaks off
// when its tokens say.
func TestSpoil(t *testing.T) {
	cfg := func(d Spoil) mockprovider.Config {
		return mockprovider.Config{
			Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: takes(2 * time.Second).First, PerToken: time.Second}},
			Faults:   []mockprovider.Fault{from(0, d)}, RefusalTime: time.Millisecond,
		}
	}
	for name, c := range map[string]struct {
		spoil          Spoil
		stream, single string // what becomes of an answer of 10 tokens
		short          string // and of a stream of 2
	}{
		"an error event": {Spoil{Body: wire.StreamError, Tokens: 3},
			"5s 200 overloaded stream error tokens=3", "5s 503 overloaded", "4s 200 overloaded stream error tokens=2"},
		"an error event of another class": {Spoil{Body: wire.StreamError, Class: wire.ServerError},
			"2s 200 server_error stream error tokens=0", "2s 500 server_error", "2s 200 server_error stream error tokens=0"},
		"a clean end": {Spoil{Body: wire.SilentEnd, Tokens: 3},
			"5s 200 disconnected silent end tokens=3", "12s 200 server_error garbage tokens=0", "4s 200 disconnected silent end tokens=2"},
		"a broken end": {Spoil{Body: wire.TruncatedBody, Tokens: 3},
			"5s 200 disconnected cut body tokens=3", "12s 200 disconnected cut body tokens=0", "4s 200 disconnected cut body tokens=2"},
		"no JSON": {Spoil{Body: wire.Garbage},
			"12s 200 server_error garbage tokens=0", "12s 200 server_error garbage tokens=0", "4s 200 server_error garbage tokens=0"},
		"HTML": {Spoil{Body: wire.WrongType},
			"12s 200 server_error wrong type tokens=0", "12s 200 server_error wrong type tokens=0", "4s 200 server_error wrong type tokens=0"},
		"twice": {Spoil{Body: wire.Doubled},
			"12s 200 ok doubled tokens=10", "12s 200 ok doubled tokens=10", "4s 200 ok doubled tokens=2"},
	} {
		t.Run(name, func(t *testing.T) {
			for arrival, want := range map[string]string{"tokens=10 stream=1": c.stream, "tokens=10": c.single, "tokens=2 stream=1": c.short} {
				var lasts, end string
				for i := range want {
					if want[i] == ' ' {
						lasts, end = want[:i], want[i+1:]
						break
					}
				}
				play(t, cfg(c.spoil), `
					arrive 1 `+arrival+`
					@`+lasts+` done 1 -> 1 `+end+` slot=`+lasts)
			}
		})
	}
	t.Run("no head leaves before what stands in an answer's place", func(t *testing.T) {
		for _, body := range []wire.Body{wire.Garbage, wire.WrongType} {
			play(t, cfg(Spoil{Body: body}), `arrive 1 tokens=10 stream=1 -> 1 started 12s`)
		}
	})
	t.Run("a gateway's page, at once", func(t *testing.T) {
		play(t, cfg(Spoil{Body: wire.WrongType, AtOnce: true}), `arrive 1 tokens=10 -> 1 200 server_error wrong type tokens=0 in 1ms`)
	})
}

// The readers see of each what they can.
func TestSpoiltAnswersAreRead(t *testing.T) {
	for d, want := range map[Spoil][4]wire.Class{ // by body, status, keyword and library
		{Body: wire.StreamError}:   {wire.Overloaded, wire.OK, wire.OK, wire.BadRequest},
		{Body: wire.SilentEnd}:     {wire.ConnectionLost, wire.OK, wire.ConnectionLost, wire.OK},
		{Body: wire.TruncatedBody}: {wire.ConnectionLost, wire.ConnectionLost, wire.ConnectionLost, wire.ConnectionLost},
		{Body: wire.Garbage}:       {wire.ServerError, wire.OK, wire.ServerError, wire.BadRequest},
		{Body: wire.WrongType}:     {wire.ServerError, wire.OK, wire.ServerError, wire.BadRequest},
		{Body: wire.Doubled}:       {wire.OK, wire.OK, wire.OK, wire.OK},
	} {
		p, err := mockprovider.New(mockprovider.Config{Faults: []mockprovider.Fault{from(0, d)}}, draw.New(1))
		require.NoError(t, err)
		out := p.Step(0, &wire.Input{Request: wire.Request{Call: 1, Attempt: 1, Stream: true}}, nil)
		out = p.Step(0, &wire.Input{Kind: wire.Done, Job: out[0].Job}, nil)
		r := &out[len(out)-1].Reply
		for i, reader := range []wire.Reader{wire.ByBody{}, wire.ByStatus{}, wire.ByKeyword{}, wire.ByLibrary{}} {
			var o wire.Outcome
			reader.Read(r, 0, &o)
			require.Equal(t, want[i], o.Class, "%s to %T", d.Name(), reader)
			require.Equal(t, d.Body.Begun(), o.Begun, "%s to %T", d.Name(), reader)
		}
	}
}

// The gates hear how it ended and how many tokens were produced, the driver how
// many have left.
func TestGatesHearOfFaults(t *testing.T) {
	for _, c := range []struct {
		does           mockprovider.Disturbance
		class          wire.Class
		produced, left uint32 // of the 10 asked for as a stream
	}{
		{Spoil{Body: wire.StreamError, Tokens: 3}, wire.Overloaded, 3, 3},
		{Spoil{Body: wire.TruncatedBody, Tokens: 3}, wire.ConnectionLost, 3, 3},
		{Spoil{Body: wire.Doubled}, wire.OK, 10, 10},
		{Spoil{Body: wire.Garbage}, wire.ServerError, 10, 0},
		{Stall{Tokens: 3}, wire.ServerError, 10, 3},
		{Stall{}, wire.ServerError, 10, 0},
		{Silence{AfterWork}, wire.OK, 10, 0},
		{Reset{AfterHead}, wire.ConnectionLost, 1, 1},
		{Reset{AfterWork}, wire.ConnectionLost, 0, 0},
		{Errors{When: AfterWork, Class: wire.Overloaded}, wire.Overloaded, 0, 0},
	} {
		heard := &listener{}
		p, err := mockprovider.New(mockprovider.Config{Limits: []mockprovider.Limit{heard}, Faults: []mockprovider.Fault{from(0, c.does)}}, draw.New(1))
		require.NoError(t, err)
		start := p.Step(0, &wire.Input{Request: wire.Request{Stream: true, Demand: wire.Demand{OutputTokens: 10}}}, nil)[0]
		end := p.Step(time.Second, &wire.Input{Kind: wire.Done, Job: start.Job}, nil)[0]
		require.Equal(t, []mockprovider.Ended{{Class: c.class, Tokens: c.produced}}, heard.ended, c.does.Name())
		require.Equal(t, c.left, end.Reply.Tokens, c.does.Name())
		if end.Kind == wire.Dropped {
			require.Equal(t, c.produced-c.left, start.Withheld, c.does.Name())
		}
	}
}

// listener is a limit that remembers how work ended.
type listener struct {
	limits.Semaphore
	ended []mockprovider.Ended
}

func (l *listener) Validate() error                                              { return nil }
func (l *listener) Gate(mockprovider.Space) mockprovider.Gate                    { return l }
func (l *listener) Take(time.Duration, *wire.Request) bool                       { return true }
func (l *listener) Refuse(time.Duration, *wire.Request) (v mockprovider.Verdict) { return v }
func (l *listener) Form(*wire.Request) *mockprovider.Refusal                     { return nil }
func (l *listener) Undo(time.Duration, *wire.Request)                            {}
func (l *listener) Release(_ time.Duration, _ *wire.Request, ended mockprovider.Ended) {
	l.ended = append(l.ended, ended)
}

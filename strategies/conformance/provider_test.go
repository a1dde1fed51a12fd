package conformance

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/mockprovider/faults"
	"herdlab/mockprovider/serve"
	"herdlab/mockprovider/wire"
	"herdlab/sim/draw"
)

// asked records the times at which a transport was used.
type asked struct {
	http.RoundTripper
	at []time.Time
}

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.at = append(a.at, time.Now())
	return a.RoundTripper.RoundTrip(r)
}

// waits returns the time from each attempt to the next.
func (a *asked) waits() (all []time.Duration) {
	for i := 1; i < len(a.at); i++ {
		all = append(all, a.at[i].Sub(a.at[i-1]))
	}
	return all
}

// talk makes one call of an SDK and returns the text of its answer.
type talk struct {
	name         string
	call, stream func(http.RoundTripper) (string, error)
}

var talks = []talk{
	{"openai-go",
		func(rt http.RoundTripper) (string, error) {
			client := openai.NewClient(openaioption.WithAPIKey("key"), openaioption.WithBaseURL("http://herd.test/v1"), openaioption.WithHTTPClient(&http.Client{Transport: rt}))
			c, err := client.Chat.Completions.New(context.Background(), openAIParams())
			if err != nil || len(c.Choices) == 0 {
				return "", err
			}
			return c.Choices[0].Message.Content, nil
		},
		func(rt http.RoundTripper) (text string, err error) {
			client := openAI(rt)
			s := client.Chat.Completions.NewStreaming(context.Background(), openAIParams())
			defer s.Close()
			for s.Next() {
				for _, c := range s.Current().Choices {
					text += c.Delta.Content
				}
			}
			return text, s.Err()
		}},
	{"anthropic-go",
		func(rt http.RoundTripper) (string, error) {
			client := anthropic.NewClient(anthropicoption.WithAPIKey("key"), anthropicoption.WithBaseURL("http://herd.test"), anthropicoption.WithHTTPClient(&http.Client{Transport: rt}))
			m, err := client.Messages.New(context.Background(), claudeParams())
			if err != nil || len(m.Content) == 0 {
				return "", err
			}
			return m.Content[0].Text, nil
		},
		func(rt http.RoundTripper) (text string, err error) {
			client := claude(rt)
			s := client.Messages.NewStreaming(context.Background(), claudeParams())
			defer s.Close()
			for s.Next() {
				text += s.Current().Delta.Text
			}
			return text, s.Err()
		}},
}

// quick returns a provider that answers in 200 ms, or 10 ms per token if streamed.
func quick(faults ...mockprovider.Fault) mockprovider.Config {
	return mockprovider.Config{
		Capacity: mockprovider.Capacity{Service: mockprovider.Service{First: draw.Const(200 * ms), PerToken: 10 * ms}},
		Faults:   faults,
	}
}

// always returns a fault that affects every request.
func always(does mockprovider.Disturbance) mockprovider.Fault {
	return mockprovider.Fault{To: mockprovider.Forever, Does: does}
}

// fails returns a fault with errors of a class, with a hint.
func fails(class wire.Class, hint mockprovider.Hint, spelled wire.Spelling) mockprovider.Fault {
	return always(faults.Errors{Class: class, Refusal: mockprovider.Refusal{Hint: hint, Spelling: spelled}})
}

func constant(d time.Duration) mockprovider.Hint {
	return mockprovider.Hint{Kind: mockprovider.Constant, Value: d}
}

// With the mock provider, the SDKs behave as with a real one: they read its answers, and
// react to its refusals as to real ones.
func TestSDKsWithProvider(t *testing.T) {
	as14003 := mockprovider.As14003.WithHint(constant(3 * time.Second))
	for name, c := range map[string]struct {
		provider  mockprovider.Config
		want, had verdict // of calls, of streams
		text      bool    // there is an answer
	}{
		"all is well":     {quick(), verdict{once, true}, verdict{once, true}, true},
		"rate, no hint":   {quick(fails(wire.Rate, mockprovider.Hint{}, 0)), verdict{twice, false}, verdict{twice, false}, false},
		"rate, 3 s":       {quick(fails(wire.Rate, constant(3*time.Second), wire.HeaderSeconds)), verdict{both(exactly(3 * time.Second)), false}, verdict{both(exactly(3 * time.Second)), false}, false},
		"rate, 90 s":      {quick(fails(wire.Rate, constant(90*time.Second), wire.HeaderSeconds)), verdict{both(exactly(90 * time.Second)), false}, verdict{both(exactly(90 * time.Second)), false}, false},
		"rate, 0 s":       {quick(fails(wire.Rate, constant(0), wire.HeaderSeconds)), verdict{both(exactly(0)), false}, verdict{both(exactly(0)), false}, false},
		"rate, 1234 ms":   {quick(fails(wire.Rate, constant(1234*ms), wire.HeaderMillis)), verdict{both(exactly(1234 * ms)), false}, verdict{both(exactly(1234 * ms)), false}, false},
		"rate, a date":    {quick(fails(wire.Rate, constant(30*time.Second), wire.HeaderDate)), verdict{both(exactly(30 * time.Second)), false}, verdict{both(exactly(30 * time.Second)), false}, false},
		"overloaded":      {quick(fails(wire.Overloaded, mockprovider.Hint{}, 0)), verdict{twice, false}, verdict{twice, false}, false},
		"503":             {quick(always(faults.Refuse{Refusal: mockprovider.As503})), verdict{twice, false}, verdict{twice, false}, false},
		"529":             {quick(always(faults.Refuse{Refusal: mockprovider.Refusal{Status: 529, Body: wire.ErrorBody}})), verdict{twice, false}, verdict{twice, false}, false},
		"a bad key":       {quick(fails(wire.Auth, mockprovider.Hint{}, 0)), verdict{once, false}, verdict{once, false}, false},
		"a bad request":   {quick(fails(wire.BadRequest, mockprovider.Hint{}, 0)), verdict{once, false}, verdict{once, false}, false},
		"a spent quota":   {quick(fails(wire.Quota, mockprovider.Hint{}, 0)), verdict{twice, false}, verdict{twice, false}, false},
		"14003":           {quick(always(faults.Errors{Class: wire.Rate, Refusal: as14003})), verdict{once, true}, verdict{once, true}, false},
		"a broken line":   {quick(always(faults.Reset{})), verdict{twice, false}, verdict{twice, false}, false},
		"not JSON":        {quick(always(faults.Spoil{Body: wire.Garbage})), verdict{once, false}, verdict{once, true}, false},
		"an error inside": {quick(always(faults.Spoil{Body: wire.StreamError, Tokens: 3})), verdict{[]wait{{605 * ms, 730 * ms}, {980 * ms, 1230 * ms}}, false}, verdict{once, false}, true}, // 230 ms of work before each
		"a silent end":    {quick(always(faults.Spoil{Body: wire.SilentEnd, Tokens: 3})), verdict{once, false}, verdict{once, true}, true},
		"well, after two": {quick(mockprovider.Fault{To: mockprovider.Forever, Does: faults.Script{Answers: []mockprovider.Disturbance{faults.Refuse{}, faults.Refuse{}}}}), verdict{twice, true}, verdict{twice, true}, true},
	} {
		for _, talk := range talks {
			for kind, call := range map[string]func(http.RoundTripper) (string, error){"call": talk.call, "stream": talk.stream} {
				t.Run(name+"/"+talk.name+"/"+kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p, err := serve.New(serve.Config{Provider: c.provider, OutputTokens: 20})
						require.NoError(t, err)
						rt := &asked{RoundTripper: p.RoundTripper()}
						text, err := call(rt)
						want := c.want
						if kind == "stream" {
							want = c.had
						}
						waits := rt.waits()
						require.Len(t, waits, len(want.waits), "waits %v, error %v", waits, err)
						for i, w := range want.waits {
							require.GreaterOrEqual(t, waits[i], w.low, "wait %d", i+1)
							require.LessOrEqual(t, waits[i], w.high, "wait %d", i+1)
						}
						require.Equal(t, want.ok, err == nil, "error: %v", err)
						if want.ok {
							require.Equal(t, c.text, text != "", "%q", text)
						}
					})
				})
			}
		}
	}
}

package scenarios

import (
	"math"
	"slices"
	"time"

	"herdlab/mockprovider"
	"herdlab/mockprovider/wire"
)

// refusalForms are the replies that a refusal can be written as. Without one it has
// the form of the provider's dialect.
var refusalForms = []struct {
	name    string
	refusal mockprovider.Refusal
}{
	{"usual", mockprovider.Refusal{}},
	{"14003", mockprovider.As14003}, {"401", mockprovider.As401}, {"429", mockprovider.As429}, {"503", mockprovider.As503},
	{"400", errorBody(400)}, {"402", errorBody(402)}, {"403", errorBody(403)}, {"413", errorBody(413)},
	{"498", errorBody(498)}, {"500", errorBody(500)}, {"502", errorBody(502)}, {"504", errorBody(504)}, {"529", errorBody(529)},
}

func errorBody(status uint16) mockprovider.Refusal {
	return mockprovider.Refusal{Status: status, Body: wire.ErrorBody}
}

// refusalForm lists the keys of a refusal beside its form.
type refusalForm struct {
	RetryAfter  hintText      `default:"none" about:"The wait that the reply asks for."`
	JitterHint  time.Duration `default:"0s" about:"The width of what is drawn evenly for each attempt and added to that wait."`
	WrongBy     float64       `default:"1" unit:"times" about:"A factor that makes that wait wrong; 1000 is seconds in place of milliseconds."`
	Spelled     wire.Spelling `about:"How the reply states that wait."`
	Says        int32         `least:"1" without:"that of the limit that refused" unit:"requests" about:"The limit that the reply states."`
	ShouldRetry eitherText    `without:"the reply has none" about:"The value of the header x-should-retry."`
}

// refuses reads how a refusal is written: its form under the given key, and the
// rest under the keys of every refusal. computed is whether what refuses can compute
// when it would admit the request.
func (s *section) refuses(key string, r *mockprovider.Refusal, computed bool) {
	names := make([]string, len(refusalForms))
	for i, f := range refusalForms {
		names[i] = f.name
	}
	if w := s.word(s.get(key), "reply", names...); w != "" {
		*r = refusalForms[slices.Index(names, w)].refusal
	}
	if n := s.get("spelled"); n != nil {
		r.Spelling = wire.Spelling(s.enumerated(n, "spelling", wire.ExactSeconds))
	}
	r.StatedLimit = int32(s.integer(s.get("says"), 1, math.MaxInt32))
	switch s.word(s.get("should_retry"), "should_retry", "true", "false") {
	case "true":
		r.Marks = wire.ShouldRetry
	case "false":
		r.Marks = wire.ShouldNotRetry
	}
	r.Hint = s.hint()
	if n := s.get("jitter_hint"); n != nil {
		r.Hint.Jitter = s.duration(n)
	}
	if n := s.get("wrong_by"); n != nil {
		r.Hint.Factor = s.number(n)
	}
	if at := s.get("retry_after"); at != nil && !computed && r.Hint.Kind != mockprovider.NoHint && r.Hint.Kind != mockprovider.Constant {
		s.complain(at, "retry_after: %s needs the time until admission, which %s cannot know; write a duration or none", at.Value, s.name)
	}
}

// hints are the words for hints that are not durations.
var hints = []struct {
	name string
	kind mockprovider.HintKind
}{
	{"none", mockprovider.NoHint}, {"exact", mockprovider.Exact}, {"rounded_up", mockprovider.RoundedUp}, {"rounded_down", mockprovider.RoundedDown},
}

func (s *section) hint() mockprovider.Hint {
	n := s.get("retry_after")
	v, ok := s.scalar(n, "a duration such as 3s, exact, rounded_up, rounded_down or none")
	if !ok {
		return mockprovider.Hint{}
	}
	names := make([]string, len(hints))
	for i, h := range hints {
		if names[i] = h.name; h.name == v {
			return mockprovider.Hint{Kind: h.kind}
		}
	}
	if close := Nearest(v, names); close != "" {
		s.report(n.Line, n.Column, &mistake{"unknown retry_after " + quoted(v), close})
		return mockprovider.Hint{}
	}
	return mockprovider.Hint{Kind: mockprovider.Constant, Value: s.duration(n)}
}

// computesWait reports whether what refuses can compute when it would admit the
// request: limits and faults can, except for those that are marked.
func computesWait(what any) bool {
	_, limit := what.(mockprovider.Limit)
	_, fault := what.(mockprovider.Disturbance)
	_, unpredictable := what.(interface{ Unpredictable() })
	return (limit || fault) && !unpredictable
}

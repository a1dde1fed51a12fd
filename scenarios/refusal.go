package scenarios

import "herdlab/mockprovider"

// forms are the replies that a refusal can be written as.
var forms = []struct {
	name    string
	refusal mockprovider.Refusal
}{
	{"14003", mockprovider.As14003}, {"401", mockprovider.As401}, {"429", mockprovider.As429}, {"503", mockprovider.As503},
}

// refusal reads the form of a refusal under the given key, and its hint under
// retry_after. foresees says whether the gate knows when it will admit again.
func (s *section) refusal(key, otherwise string, foresees bool) mockprovider.Refusal {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.name
	}
	form := otherwise
	if w := s.word(s.get(key), "reply", names...); w != "" {
		form = w
	}
	for _, f := range forms {
		if f.name == form {
			return f.refusal.WithHint(s.hint(foresees))
		}
	}
	return mockprovider.Refusal{}
}

func (s *section) hint(foresees bool) mockprovider.Hint {
	n := s.get("retry_after")
	v, ok := s.scalar(n, "a duration such as 3s, exact, rounded_up or none")
	if !ok {
		return mockprovider.Hint{}
	}
	kind := mockprovider.Constant
	switch v {
	case "none":
		return mockprovider.Hint{}
	case "exact":
		kind = mockprovider.Exact
	case "rounded_up":
		kind = mockprovider.RoundedUp
	default:
		if close := Nearest(v, []string{"none", "exact", "rounded_up"}); close != "" {
			s.report(n.Line, n.Column, &mistake{"unknown retry_after " + quoted(v), close})
			return mockprovider.Hint{}
		}
		return mockprovider.Hint{Kind: kind, Value: s.duration(n)}
	}
	if !foresees {
		s.complain(n, "retry_after: %s needs to know when there will be room, and %s does not; write a duration or none", v, s.name)
	}
	return mockprovider.Hint{Kind: kind}
}

package scenarios_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider"
	"herdlab/scenarios"
)

// What stands in a file can be said alone, as YAML and as JSON.
func TestWords(t *testing.T) {
	for _, text := range []string{`outage: {from: 5s, to: 30s, reply: 503}`, `{"outage": {"from": "5s", "to": "30s", "reply": "503"}}`} {
		f, err := scenarios.Words{}.Fault([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, mockprovider.Outage(5*time.Second, 30*time.Second, mockprovider.As503), f)
	}
	limits, err := scenarios.Words{}.Limits([]byte(`[{"window": {"limit": "60/min"}}, {"concurrency": {"limit": 3}}]`))
	require.NoError(t, err)
	require.Len(t, limits, 2)
	for _, text := range []string{"", "{}", "[]", "outage", "nonsense: {}", `{"outage": {"from": "9s", "to": "1s"}}`, `{"outage": {"frm": "9s"}}`, "\x00", "a: &a [*a]"} {
		_, err := scenarios.Words{}.Fault([]byte(text))
		require.Error(t, err, text)
	}
	for _, text := range []string{"", "{}", "window", `[{"window": {}}]`, `[7]`} {
		_, err := scenarios.Words{}.Limits([]byte(text))
		require.Error(t, err, text)
	}
	_, err = scenarios.Words{}.Fault([]byte(" \n"))
	require.EqualError(t, err, "fault: it is empty; herdlab scenarios --keys shows what to write")
	_, err = scenarios.Words{}.Fault([]byte("spoil: {body: code_body}")) // a reply has it, an answer does not
	require.ErrorContains(t, err, `unknown body "code_body"; did you mean "cut_body"?`)
	s, err := scenarios.Builtin("p14003")
	require.NoError(t, err)
	provider := s.Provider()
	require.Len(t, provider.Limits, 2)
	require.NoError(t, provider.Validate())
}

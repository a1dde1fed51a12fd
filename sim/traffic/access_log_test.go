package traffic_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
	"herdlab/sim/traffic"
)

// An access log has requests in the order in which they ended; as a trace they
// are in the order in which they came; retries and what was no request are left
// out.
func TestAccessLog(t *testing.T) {
	const log = `{"t":3.5,"prompt_tokens":7,"output_tokens":2,"delivered_tokens":0,"class":"rate","status":429,"wait":0.05,"attempt":1,"dialect":"openai","model":"m","tenant":"ab","stream":false,"gone":false,"id":"r2"}
{"t":2,"prompt_tokens":9,"output_tokens":5,"delivered_tokens":5,"class":"ok","status":200,"wait":3,"attempt":1,"dialect":"openai","model":"m","tenant":"ab","stream":true,"gone":false,"id":"r1"}
{"t":4,"prompt_tokens":7,"output_tokens":2,"delivered_tokens":2,"class":"ok","status":200,"wait":3,"attempt":2,"dialect":"openai","model":"m","tenant":"ab","stream":false,"gone":false,"id":"r3"}
{"t":5,"prompt_tokens":0,"output_tokens":0,"delivered_tokens":0,"class":"bad_request","status":404,"wait":0,"attempt":1,"dialect":"openai","model":"","tenant":"","stream":false,"gone":false,"unread":true,"id":"r4"}
`
	got, err := traffic.ReadTrace("log", strings.NewReader(log))
	require.NoError(t, err)
	require.Equal(t, []traffic.Row{
		{At: 0, Demand: wire.Demand{InputTokens: 9, OutputTokens: 5}},
		{At: 1500 * time.Millisecond, Demand: wire.Demand{InputTokens: 7, OutputTokens: 2}},
	}, got.Rows)
	_, err = traffic.ReadTrace("log", strings.NewReader(strings.Replace(log, `"t":2,`, `"t":2,"color":1,`, 1)))
	require.ErrorContains(t, err, "log:2: ")
	require.ErrorContains(t, err, "color")
	_, err = traffic.ReadTrace("log", strings.NewReader(strings.Replace(strings.ReplaceAll(log, `"attempt":1`, `"attempt":2`), "", "", 1)))
	require.ErrorContains(t, err, "no rows")
}

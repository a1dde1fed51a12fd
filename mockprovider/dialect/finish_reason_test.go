package dialect

import (
	"testing"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// TestCappedAnswers: an answer that the cap of the request ends has the finish
// reason of the dialect, and is read as complete.
func TestCappedAnswers(t *testing.T) {
	r := wire.Reply{Status: 200, RetryAfter: wire.NoHint, Tokens: 5}
	for _, d := range All() {
		for _, operation := range []Operation{Complete, Respond} {
			if operation == Respond && d.Name != "openai" {
				continue
			}
			write := func(most uint32, streamed bool) string {
				c := Context{Model: "m", ID: "id", Epoch: 2e9, MaxTokens: most, Operation: operation, Usage: true}
				var m Message
				if streamed && d.Streams(&r) {
					d.WriteStream(&m, &c, &r)
				} else {
					d.Write(&m, &c, &r)
				}
				in := m.Raw()
				s := d.ReadStream(in, ReadContext{Epoch: 2e9})
				s.Feed(m.Body)
				got := s.End(false)
				require.Equal(t, wire.Completion, got.Body, "%s with a cap of %d", d.Name, most)
				require.Equal(t, uint32(5), got.Tokens, d.Name)
				return string(m.Body)
			}
			for _, streamed := range []bool{false, true} {
				free := write(0, streamed)
				require.Equal(t, free, write(6, streamed), "%s: the cap was not in the way", d.Name)
				capped := write(5, streamed)
				require.NotEqual(t, free, capped, d.Name)
				require.Regexp(t, `"(length|max_tokens|MAX_TOKENS|max_output_tokens)"|"is_truncated":true`, capped, d.Name)
			}
		}
	}
}

package dialect

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChatBodyAsTheLibrary: append writes the same bytes as encoding/json.
func TestChatBodyAsTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "demo", `a "quoted" \`, "line\nand\ttab\x00", "<&>", "é\u2028", "\xff", "The herd "}
	text := func() string { return texts[rng.IntN(len(texts))] }
	maybe := func() *string {
		if s := text(); rng.IntN(3) > 0 {
			return &s
		}
		return nil
	}
	message := func() *chatMessage {
		if rng.IntN(2) > 0 {
			return &chatMessage{text(), maybe()}
		}
		return nil
	}
	truth := true
	for range 5000 {
		body := chatBody{ID: text(), Object: text(), Created: rng.Int64() - math.MaxInt64/2, Model: text(), Choices: []chatChoice{}}
		for i := range rng.IntN(3) {
			body.Choices = append(body.Choices, chatChoice{i, message(), message(), maybe()})
		}
		if rng.IntN(2) > 0 {
			body.Usage = &chatUsage{rng.Uint32(), rng.Uint32(), rng.Uint64()}
		}
		switch rng.IntN(10) {
		case 0:
			body.RequestID, body.Provider = text(), text()
		case 1:
			body.Sensitive, body.Status, body.Filtered = &truth, &miniMaxStatus{}, []azureFilter{{}}
		}
		before := []byte("data: ")
		require.Equal(t, string(appendJSON(before, body)), string(body.append(before)))
	}
}

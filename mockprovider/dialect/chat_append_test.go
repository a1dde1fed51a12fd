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
	for range 5000 {
		body := chatBody{ID: text(), Object: text(), Created: rng.Int64() - math.MaxInt64/2, Model: text(), Choices: []chatChoice{}}
		for i := range rng.IntN(3) {
			body.Choices = append(body.Choices, chatChoice{i, message(), message(), maybe()})
		}
		if rng.IntN(2) > 0 {
			body.Usage = &chatUsage{rng.Uint32(), rng.Uint32(), rng.Uint64()}
		}
		if rng.IntN(10) == 0 {
			body.Choices = nil
		}
		before := []byte("data: ")
		require.Equal(t, string(appendJSON(before, body)), string(body.append(before)))
		// Additional fields are written as if they were the last ones of the body.
		extra := struct {
			Provider string `json:"provider,omitempty"`
			Sure     *bool  `json:"sure,omitempty"`
		}{Provider: text()}
		if rng.IntN(2) > 0 {
			extra.Sure = new(bool)
		}
		type plain chatBody
		want := appendJSON(before, struct {
			plain
			Provider string `json:"provider,omitempty"`
			Sure     *bool  `json:"sure,omitempty"`
		}{plain(body), extra.Provider, extra.Sure})
		body.extra = extra
		require.Equal(t, string(want), string(body.append(before)))
	}
}

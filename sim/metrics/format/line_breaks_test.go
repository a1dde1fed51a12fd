package format

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " a  b\nc ": "a|b|c",
		"after 54.8 s (95 % interval 51.8 to 57.8 s).": "after|54.8 s|(95 %|interval|51.8|to|57.8 s).",
		"is significant (p = 0.025, paired":            "is|significant|(p = 0.025,|paired",
		"(p < 0.001).":                                 "(p < 0.001).",
		"over 5 ×. Each s":                             "over|5 ×.|Each|s",
		"★ winner · ✗ disqualified · → goes on":        "★ winner|·|✗ disqualified|·|→ goes|on",
		"a < b = 5 5 s s s":                            "a|<|b|= 5|5 s|s|s",
	} {
		assert.Equal(t, want, strings.Join(Words(text), "|"))
	}
	// Every field is kept, and no input makes one word of a whole page.
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`([sp5=<%×★ab( ]| ){0,40}`).Draw(rt, "text")
		words := Words(text)
		if strings.Join(words, " ") != strings.Join(strings.Fields(text), " ") {
			rt.Fatalf("%q becomes %q", text, words)
		}
		for _, w := range words {
			if strings.Count(w, " ") > 3 {
				rt.Fatalf("%q is too long", w)
			}
		}
	})
}

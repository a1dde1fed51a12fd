package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExamples: each dialect, built-in or not, has an example that it reads as a
// request for the model, with the key of the examples.
func TestExamples(t *testing.T) {
	own := CodeInBody{Name: "gateway"}.Dialect()
	own.Example.Header = "x-api-key: " + ExampleKey
	for _, d := range append(All(), own) {
		x := d.ExampleOf("http://localhost:8080", "a-model")
		require.True(t, json.Valid([]byte(x.Body)), d.Name)
		name, value, _ := strings.Cut(x.Header, ": ")
		in := RawRequest{Method: "POST", Path: x.Path, Body: []byte(x.Body), Header: func(header string) string {
			if header == name {
				return value
			}
			return ""
		}}
		r, err := d.ParseRequest(&in)
		require.NoError(t, err, d.Name)
		require.Equal(t, "a-model", r.Model, d.Name)
		require.Equal(t, ExampleKey, r.Key, d.Name)
		require.NotContains(t, x.Path+x.Body+x.SDK, "{model}", d.Name)
		if x.SDK != "" {
			require.Contains(t, x.SDK, "http://localhost:8080", d.Name)
			require.Contains(t, x.SDK, ExampleKey, d.Name)
		}
	}
}

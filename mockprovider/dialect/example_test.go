package dialect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/wire"
)

func Example() {
	d, _ := dialect.ByName("codybuddy")

	// The reply of a provider, compact and as bytes.
	form := d.Forms()[wire.Rate]
	reply := wire.Reply{
		Status: form.Status, Class: wire.Rate, Shown: form.Shown, Body: form.Body, Code: form.Code,
		Hint: wire.Hint{Value: 3 * time.Second, Spelling: form.Spelling}, Limit: 20,
	}
	var m dialect.Message
	d.Write(&m, &dialect.Context{Model: "demo", Epoch: 1_800_000_000}, &reply)
	fmt.Println(m.Status, string(m.Body))

	// A client reads the bytes back.
	raw := m.Raw()
	read := d.ParseReply(&raw, dialect.ReadContext{})
	fmt.Println(read.Shown, read.Code, read.Hint.Value)
	// Output:
	// 200 {"code":14003,"message":"too many requests","retry_after":3,"limit":20,"remaining":0}
	// rate 14003 3s
}

// A provider of your own is a CodeInBody. Its Example is what documentation
// prints for users.
func ExampleCodeInBody() {
	gateway := dialect.CodeInBody{
		Name: "our-gateway", Code: "errno", Message: "errmsg", RetryAfter: "wait_seconds",
		Replies: [wire.NumClasses]dialect.CodeReply{
			wire.Rate: {Code: 45009, Text: "api freq out of limit"},
			wire.Auth: {Code: 40001, Status: 401},
		},
	}
	if err := gateway.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	d := gateway.Dialect()
	d.Example = dialect.Example{Header: "x-api-key: " + dialect.ExampleKey, SDK: `Gateway(url="{base}")`}
	fmt.Println(d.Routes())

	x := d.ExampleOf("http://localhost:8080", "demo")
	fmt.Println(x.Path, x.Header)
	fmt.Println(x.SDK)
	// Output:
	// [POST /our-gateway/v1/chat GET /our-gateway/v1/models]
	// /our-gateway/v1/chat x-api-key: sk-you
	// Gateway(url="http://localhost:8080")
}

// TestExamples: each dialect, built-in or not, has an example that it reads as a
// request for the model, with the key of the examples.
func TestExamples(t *testing.T) {
	own := dialect.CodeInBody{Name: "gateway"}.Dialect()
	own.Example.Header = "x-api-key: " + dialect.ExampleKey
	for _, d := range append(dialect.All(), own) {
		x := d.ExampleOf("http://localhost:8080", "a-model")
		require.True(t, json.Valid([]byte(x.Body)), d.Name)
		name, value, _ := strings.Cut(x.Header, ": ")
		in := dialect.RawRequest{Method: "POST", Path: x.Path, Body: []byte(x.Body), Header: func(header string) string {
			if header == name {
				return value
			}
			return ""
		}}
		r, err := d.ParseRequest(&in)
		require.NoError(t, err, d.Name)
		require.Equal(t, "a-model", r.Model, d.Name)
		require.Equal(t, dialect.ExampleKey, r.Key, d.Name)
		require.NotContains(t, x.Path+x.Body+x.SDK, "{model}", d.Name)
		if x.SDK != "" {
			require.Contains(t, x.SDK, "http://localhost:8080", d.Name)
			require.Contains(t, x.SDK, dialect.ExampleKey, d.Name)
		}
	}
}

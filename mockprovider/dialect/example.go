package dialect

import "strings"

// Example is a request in a dialect, to print for users: with curl, and with an
// SDK of the provider. Its API key is ExampleKey.
type Example struct {
	// Path is the path of the request, Header the header with the API key, and
	// Body the JSON. In Body, {model} stands for the model. An empty Path is that
	// of the dialect's first route, an empty Header an Authorization header, and
	// an empty Body that of OpenAI's chat completions.
	Path, Header, Body string
	// SDK is code that creates a client of an SDK, in which {base} stands for the
	// base URL of the server; "" without an SDK.
	SDK string
}

// ExampleKey is the API key of the examples.
const ExampleKey = "sk-you"

// The header and the body of most examples.
const (
	exampleBearer = "Authorization: Bearer " + ExampleKey
	exampleChat   = `{"model":"{model}","messages":[{"role":"user","content":"Hello"}]}`
)

// openAISDK is an example for OpenAI's SDK; root is the path before
// /chat/completions.
func openAISDK(root string) Example {
	return Example{SDK: "OpenAI(base_url=\"{base}" + root + "\",\n       api_key=\"" + ExampleKey + "\")"}
}

// ExampleOf returns the example of the dialect for a model, with nothing empty but
// SDK; base is the base URL of the server.
func (d *Dialect) ExampleOf(base, model string) Example {
	x := d.Example
	if x.Path == "" {
		for _, r := range d.routes {
			if r.method == "POST" {
				x.Path = r.path
				break
			}
		}
	}
	if x.Header == "" {
		x.Header = exampleBearer
	}
	if x.Body == "" {
		x.Body = exampleChat
	}
	x.Path = strings.ReplaceAll(x.Path, "{model}", model)
	x.Body = strings.ReplaceAll(x.Body, "{model}", model)
	x.SDK = strings.ReplaceAll(x.SDK, "{base}", base)
	return x
}

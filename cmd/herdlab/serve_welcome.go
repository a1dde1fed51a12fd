package main

import (
	"fmt"
	"slices"
	"strings"

	"herdlab/mockprovider/dialect"
)

// anyKey is the API key of the examples.
const anyKey = "sk-you"

// shownDialects are those that serve shows how to ask in if nobody asks for all.
var shownDialects = []string{"openai", "anthropic", "codybuddy"}

// serveWelcome is what serve prints when it begins: how to ask it, in some
// dialects or in all, and where to look on.
func serveWelcome(title, api, admin, token string, o *serveOptions) string {
	var b, others strings.Builder
	fmt.Fprintf(&b, "%s\n", clip(printable(title), pageWidth))
	fmt.Fprintf(&b, "Seed %d, %v × the speed of life. Each API key is an account of its own.\n\n  H=http://%s\n", o.seed, o.scale, api)
	for _, d := range dialect.All() {
		base := basePath(&d)
		if !o.all && !slices.Contains(shownDialects, d.Name) {
			fmt.Fprintf(&others, "  %-28s http://%s%s\n", d.Title, api, base)
			continue
		}
		x := exampleOf(&d)
		fmt.Fprintf(&b, "\n%s  http://%s%s\n", d.Title, api, base)
		fmt.Fprintf(&b, "  curl $H%s \\\n    -H '%s' \\\n    -d '%s'\n", base+x.path, x.header, strings.ReplaceAll(x.body, "\n", "\n        "))
		if x.sdk != "" {
			b.WriteString(indent(strings.ReplaceAll(x.sdk, "BASE", "http://"+api+base), 2))
		}
	}
	if others.Len() > 0 {
		fmt.Fprintf(&b, "\nAlso, and with --all each with its curl and SDK:\n%s", others.String())
	}
	fmt.Fprintf(&b, "\nLive page   http://%s/#%s\nAdmin API   Authorization: Bearer %s\nAn interrupt (Ctrl-C) ends it.\n", admin, token, token)
	return b.String()
}

// basePath is what stands before the paths of a dialect: its name, unless they
// begin with that themselves.
func basePath(d *dialect.Dialect) string {
	base := "/" + d.Name
	for _, r := range d.Routes() {
		if strings.Contains(r, " "+base+"/") {
			return ""
		}
	}
	return base
}

// indent puts spaces before each line.
func indent(text string, by int) string {
	space := strings.Repeat(" ", by)
	return space + strings.ReplaceAll(text, "\n", "\n"+space) + "\n"
}

// example is how to ask in one dialect. In sdk, BASE stands for the base URL.
type example struct{ path, header, body, sdk string }

const (
	bearer   = "Authorization: Bearer " + anyKey
	chatBody = `{"model":"demo","messages":[{"role":"user","content":"Hello"}]}`
)

// examples are those that are not like OpenAI's chat completions.
var examples = map[string]example{
	"anthropic": {
		header: "x-api-key: " + anyKey,
		body:   "{\"model\":\"demo\",\"max_tokens\":20,\n\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}",
		sdk:    "Anthropic(base_url=\"BASE\",\n          api_key=\"" + anyKey + "\")",
	},
	"azure": {
		header: "api-key: " + anyKey, body: chatBody,
		sdk: "AzureOpenAI(azure_endpoint=\"BASE\",\n            api_version=\"2024-10-21\", api_key=\"" + anyKey + "\")",
	},
	"gemini": {
		header: "x-goog-api-key: " + anyKey, body: `{"contents":[{"parts":[{"text":"Hello"}]}]}`,
		sdk: "genai.Client(api_key=\"" + anyKey + "\",\n             http_options={\"base_url\": \"BASE\"})",
	},
	"bedrock": {
		header: bearer, body: `{"messages":[{"role":"user","content":[{"text":"Hello"}]}]}`,
		sdk: "boto3.client(\"bedrock-runtime\", region_name=\"us-east-1\",\n             endpoint_url=\"BASE\")",
	},
	"dashscope-native": {
		header: bearer, body: "{\"model\":\"demo\",\n\"input\":{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}}",
		sdk: "dashscope.base_http_api_url = \"BASE/api/v1\"\ndashscope.api_key = \"" + anyKey + "\"",
	},
}

// exampleOf is how to ask in the dialect, by the first path that it has.
func exampleOf(d *dialect.Dialect) example {
	x, ok := examples[d.Name]
	if !ok {
		x = example{header: bearer, body: chatBody}
	}
	for _, r := range d.Routes() {
		if path, post := strings.CutPrefix(r, "POST "); post {
			x.path = strings.ReplaceAll(path, "{model}", "demo")
			break
		}
	}
	if root, chat := strings.CutSuffix(x.path, "/chat/completions"); chat && x.sdk == "" {
		x.sdk = "OpenAI(base_url=\"BASE" + root + "\",\n       api_key=\"" + anyKey + "\")"
	}
	return x
}

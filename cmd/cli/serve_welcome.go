package cli

import (
	"fmt"
	"slices"
	"strings"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/serve"
)

// anyKey is the API key of the examples, anyModel the model that they ask for
// where the provider has names for none.
const (
	anyKey   = "sk-you"
	anyModel = "demo"
)

// shownDialects are those that serve shows how to ask in if nobody asks for all;
// that of the scenario takes the place of the last.
var shownDialects = []string{"openai", "anthropic", "codybuddy"}

// welcome is what serve says when it begins.
type welcome struct {
	*serveConfig
	api, admin, token string
	*serveOptions
}

// text is how to ask it, in some dialects or in all, and where to look on.
func (w *welcome) text() string {
	var b, others strings.Builder
	fmt.Fprintf(&b, "%s\n", clip(printable(w.Title), pageWidth))
	fmt.Fprintf(&b, "Seed %d, %v × the speed of life. Each API key is an account of its own.\n", w.seed, w.scale)
	b.WriteString(w.places())
	fmt.Fprintf(&b, "\n  H=http://%s\n", w.api)
	shown := w.shown()
	for _, d := range w.speaks() {
		base := basePath(&d)
		if !w.all && !slices.Contains(shown, d.Name) {
			fmt.Fprintf(&others, "  %-28s http://%s%s\n", d.Title, w.api, base)
			continue
		}
		x := exampleOf(&d, w.model())
		title := clip(printable(d.Title), pageWidth)
		if d.Name == w.own {
			title = clip(title, pageWidth-columns(ofScenario)) + ofScenario
		}
		if url := "  http://" + w.api + base; columns(title+url) > pageWidth {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, url)
		} else {
			fmt.Fprintf(&b, "\n%s%s\n", title, url)
		}
		fmt.Fprintf(&b, "  curl $H%s \\\n    -H '%s' \\\n    -d '%s'\n", base+x.path, x.header, strings.ReplaceAll(x.body, "\n", "\n        "))
		if x.sdk != "" {
			b.WriteString(indent(strings.ReplaceAll(x.sdk, "BASE", "http://"+w.api+base), 2))
		}
	}
	if others.Len() > 0 {
		fmt.Fprintf(&b, "\nAlso, and with --all each with its curl and SDK:\n%s", others.String())
	}
	fmt.Fprintf(&b, "\nLive page   http://%s/#%s\nAdmin API   Authorization: Bearer %s\nAn interrupt (Ctrl-C) ends it.\n", w.admin, w.token, w.token)
	return b.String()
}

// ofScenario stands behind the title of the scenario's own dialect.
const ofScenario = ", as the scenario speaks"

// speaks are all dialects, that of the scenario first.
func (w *welcome) speaks() []dialect.Dialect {
	all := append(slices.Clone(w.Dialects), dialect.All()...)
	if i := slices.IndexFunc(all, func(d dialect.Dialect) bool { return d.Name == w.own }); i > 0 {
		own := all[i]
		all = slices.Insert(slices.Delete(all, i, i+1), 0, own)
	}
	return all
}

// shown are the names of the dialects that are shown.
func (w *welcome) shown() []string {
	if w.own == "" || slices.Contains(shownDialects, w.own) {
		return shownDialects
	}
	return append([]string{w.own}, shownDialects[:len(shownDialects)-1]...)
}

// model is the model that the examples ask for.
func (w *welcome) model() string {
	if len(w.Models) > 0 {
		return w.Models[0]
	}
	return anyModel
}

// places names the models and regions, if they have names.
func (w *welcome) places() (text string) {
	if len(w.Models) > 0 {
		text += wrap("Models: "+strings.Join(w.Models, ", "), pageWidth, 2) + "\n"
	}
	if len(w.Regions) > 0 {
		text += wrap("Regions, by the header "+serve.RegionHeader+": "+strings.Join(w.Regions, ", "), pageWidth, 2) + "\n"
	}
	return text
}

// basePath is what stands before the paths of a dialect: its name, unless they
// begin with that themselves, or go before all others.
func basePath(d *dialect.Dialect) string {
	base := "/" + d.Name
	if _, known := dialect.ByName(d.Name); !known {
		return ""
	}
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

// example is how to ask in one dialect. In sdk, BASE stands for the base URL, in
// body MODEL for the model.
type example struct{ path, header, body, sdk string }

const (
	bearer   = "Authorization: Bearer " + anyKey
	chatBody = `{"model":"MODEL","messages":[{"role":"user","content":"Hello"}]}`
)

// examples are those that are not like OpenAI's chat completions.
var examples = map[string]example{
	"anthropic": {
		header: "x-api-key: " + anyKey,
		body:   "{\"model\":\"MODEL\",\"max_tokens\":20,\n\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}",
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
		sdk: "boto3.client(\"bedrock-runtime\", region_name=\"us-east-1\",\n             endpoint_url=\"BASE\",\n             aws_access_key_id=\"" + anyKey + "\", aws_secret_access_key=\"any\")",
	},
	"dashscope-native": {
		header: bearer, body: "{\"model\":\"MODEL\",\n\"input\":{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}}",
		sdk: "dashscope.base_http_api_url = \"BASE/api/v1\"\ndashscope.api_key = \"" + anyKey + "\"",
	},
}

// exampleOf is how to ask a model in the dialect, by the first path that it has.
func exampleOf(d *dialect.Dialect, model string) example {
	x, ok := examples[d.Name]
	if !ok {
		x = example{header: bearer, body: chatBody}
	}
	x.body = strings.ReplaceAll(x.body, "MODEL", model)
	if first, _, _ := strings.Cut(x.body, "\n"); columns(first) > pageWidth-9 { // beside what stands before and after it
		x.body = strings.Replace(x.body, ",", ",\n", 1)
	}
	for _, r := range d.Routes() {
		if path, post := strings.CutPrefix(r, "POST "); post {
			x.path = strings.ReplaceAll(path, "{model}", model)
			break
		}
	}
	_, known := dialect.ByName(d.Name)
	if root, chat := strings.CutSuffix(x.path, "/chat/completions"); chat && known && x.sdk == "" {
		x.sdk = "OpenAI(base_url=\"BASE" + root + "\",\n       api_key=\"" + anyKey + "\")"
	}
	return x
}

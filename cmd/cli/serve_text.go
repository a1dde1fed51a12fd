package cli

import (
	"fmt"
	"slices"
	"strings"

	"herdlab/mockprovider/dialect"
	"herdlab/mockprovider/serve"
)

// anyModel is the model of the examples if the provider has no names of models.
const anyModel = "demo"

// shownDialects are the dialects whose examples are printed without --all. The dialect of
// the scenario replaces the last.
var shownDialects = []string{"openai", "anthropic", "codybuddy"}

// serveText is the text that serve prints when it starts.
type serveText struct {
	*serveConfig
	api, admin, token string
	*serveOptions
}

// text returns the addresses, and examples of requests in some or all dialects.
func (w *serveText) text() string {
	var b, others strings.Builder
	fmt.Fprintf(&b, "%s\n", clip(printable(w.Title), pageWidth))
	fmt.Fprintf(&b, "Seed %d, %v × real time. Each API key has its own account.\n", w.seed, w.scale)
	b.WriteString(w.places())
	fmt.Fprintf(&b, "\n  H=http://%s\n", w.api)
	shown := w.shown()
	for _, d := range w.dialects() {
		base := basePath(&d)
		if !w.all && !slices.Contains(shown, d.Name) {
			fmt.Fprintf(&others, "  %-28s http://%s%s\n", d.Title, w.api, base)
			continue
		}
		x := exampleOf(&d, "http://"+w.api+base, w.model())
		title := clip(printable(d.Title), pageWidth)
		if d.Name == w.own {
			title = clip(title, pageWidth-columns(ofScenario)) + ofScenario
		}
		if url := "  http://" + w.api + base; columns(title+url) > pageWidth {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, url)
		} else {
			fmt.Fprintf(&b, "\n%s%s\n", title, url)
		}
		fmt.Fprintf(&b, "  curl $H%s \\\n    -H '%s' \\\n    -d '%s'\n", base+x.Path, x.Header, strings.ReplaceAll(x.Body, "\n", "\n        "))
		if x.SDK != "" {
			b.WriteString(indent(x.SDK, 2))
		}
	}
	if others.Len() > 0 {
		fmt.Fprintf(&b, "\nOther dialects; --all prints an example for each:\n%s", others.String())
	}
	fmt.Fprintf(&b, "\nLive page   http://%s/#%s\nAdmin API   Authorization: Bearer %s\nAn interrupt (Ctrl-C) stops the server.\n", w.admin, w.token, w.token)
	return b.String()
}

// ofScenario follows the title of the scenario's dialect.
const ofScenario = ", the scenario's dialect"

// dialects returns all dialects, that of the scenario first.
func (w *serveText) dialects() []dialect.Dialect {
	all := append(slices.Clone(w.Dialects), dialect.All()...)
	if i := slices.IndexFunc(all, func(d dialect.Dialect) bool { return d.Name == w.own }); i > 0 {
		own := all[i]
		all = slices.Insert(slices.Delete(all, i, i+1), 0, own)
	}
	return all
}

// shown returns the names of the dialects whose examples are printed without --all.
func (w *serveText) shown() []string {
	if w.own == "" || slices.Contains(shownDialects, w.own) {
		return shownDialects
	}
	return append([]string{w.own}, shownDialects[:len(shownDialects)-1]...)
}

// model returns the model of the examples.
func (w *serveText) model() string {
	if len(w.Models) > 0 {
		return w.Models[0]
	}
	return anyModel
}

// places lists the names of the models and regions.
func (w *serveText) places() (text string) {
	if len(w.Models) > 0 {
		text += wrap("Models: "+strings.Join(w.Models, ", "), pageWidth, 2) + "\n"
	}
	if len(w.Regions) > 0 {
		text += wrap("Regions, by the header "+serve.RegionHeader+": "+strings.Join(w.Regions, ", "), pageWidth, 2) + "\n"
	}
	return text
}

// basePath returns the prefix of a dialect's paths: its name, or nothing if its paths
// begin with the name already or if it is not built in.
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

// indent indents each line by spaces.
func indent(text string, by int) string {
	space := strings.Repeat(" ", by)
	return space + strings.ReplaceAll(text, "\n", "\n"+space) + "\n"
}

// exampleOf returns the example of a dialect for a model, with lines that fit the
// page.
func exampleOf(d *dialect.Dialect, base, model string) dialect.Example {
	x := d.ExampleOf(base, model)
	if first, _, _ := strings.Cut(x.Body, "\n"); columns(first) > pageWidth-9 { // beside the text before and after it
		x.Body = strings.Replace(x.Body, ",", ",\n", 1)
	}
	return x
}

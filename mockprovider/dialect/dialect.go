package dialect

import (
	"slices"

	"herdlab/mockprovider/wire"
)

// Dialect is the way in which one provider writes replies and reads requests.
// It is immutable. ByName, All and CodeInBody.Dialect return dialects.
type Dialect struct {
	// Name is the name in scenarios and URLs, Title the name of the provider
	// for users.
	Name, Title string
	// Example is a request that documentation prints for users.
	Example Example

	codec     codec
	templates templates
	limits    limits
	routes    []route
	keys      []keyPlace
	// requestIDHeader is the header of replies with the id of the request.
	requestIDHeader string
	// streamHeader is a request header that asks for a stream if its value is
	// "enable"; "" without such a header.
	streamHeader string
	// versionHeader is a request header that only clients of this dialect send.
	// It selects the dialect if several have the same path; "" without such a
	// header.
	versionHeader string
	// millisHeader is the header of hints in milliseconds; "" is
	// retry-after-ms.
	millisHeader string
	// hintSentence is the end of a message with a hint. %s stands for the
	// number of seconds, for example "Please try again in %ss."
	hintSentence string
	// bothUnits adds to a hint in whole seconds the same hint in milliseconds.
	bothUnits bool
	// kindHeader is the header with the Kind of an error, if its body does not
	// have it.
	kindHeader string
	// hidesModel is true if answers do not contain the model.
	hidesModel bool
	// streamType is the content type of streams; "" is text/event-stream.
	streamType string
	// classify returns the class of an error that the templates do not
	// determine: if several classes have the same codes, or for codes that no
	// template has. It returns wire.OK to leave the decision to the templates.
	// It may be nil.
	classify func(*findings) wire.Class
	// framing returns a reader of the frames of a stream; nil is that of
	// server-sent events.
	framing func() framing
}

// dialects has the built-in dialects, in the order of the documentation. A
// reply or a request that several of them could have written is taken as that
// of the first. The table is never changed; it is made once because servers use
// it for every request.
var dialects = withKeywords(
	openAI(),
	anthropic(),
	gemini(),
	codybuddy(),
	azure(),
	bedrock(),
	zhipu(),
	dashScope(),
	dashScopeNative(),
	openRouter(),
	qianfan(),
	qianfanV2(),
	miniMax(),
)

// withKeywords computes what the templates of the dialects mention.
func withKeywords(all ...Dialect) []Dialect {
	for i := range all {
		all[i].templates.findKeywords()
	}
	return all
}

// All returns the built-in dialects, in the order of the documentation.
func All() []Dialect { return slices.Clone(dialects) }

// ByName returns the built-in dialect of that name.
func ByName(name string) (Dialect, bool) {
	for i := range dialects {
		if dialects[i].Name == name {
			return dialects[i], true
		}
	}
	return Dialect{}, false
}

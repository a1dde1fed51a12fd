package dialect

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"herdlab/mockprovider/wire"
)

// replies are replies by class.
type replies = [wire.NumClasses]CodeReply

func TestCodeInBodiesAreValid(t *testing.T) {
	for _, f := range append(codeInBodies, CodeInBody{Name: "a-name.is.enough"}) {
		require.NoError(t, f.Validate(), f.Name)
	}
}

// TestCodeInBodyReplies: a CodeInBody writes the configured replies, and a
// class that shares its code with another one reads as that one.
func TestCodeInBodyReplies(t *testing.T) {
	f := CodeInBody{
		Name: "gw", Title: "Our gateway", Path: "/llm/v2/generate", Code: "errno", Message: "errmsg", Data: "result",
		RetryAfter: "wait_ms", Spelled: wire.BodyMillis, Limit: "quota", Remaining: "left", Success: 1,
		Replies: replies{
			wire.Rate:       {Code: 45009, Text: "slow down"},
			wire.Overloaded: {Code: 45009},
			wire.Auth:       {Code: 40001, Status: 401},
		},
	}
	require.NoError(t, f.Validate())
	d := f.Dialect()
	require.Equal(t, []string{"POST /llm/v2/generate", "GET /llm/v2/models"}, d.Routes())
	for class, want := range map[wire.Class]struct {
		status int
		body   string
		shown  wire.Class
	}{
		wire.Rate:         {200, `{"errno":45009,"errmsg":"slow down","wait_ms":2500,"quota":20,"left":3}`, wire.Rate},
		wire.Concurrency:  {200, `{"errno":45009,"errmsg":"slow down","wait_ms":2500,"quota":20,"left":3}`, wire.Rate},
		wire.Overloaded:   {200, `{"errno":45009,"errmsg":"the model is at capacity","wait_ms":2500,"quota":20,"left":3}`, wire.Rate},
		wire.Auth:         {401, `{"errno":40001,"errmsg":"invalid token","quota":20,"left":3}`, wire.Auth},
		wire.ServerError:  {200, `{"errno":14011,"errmsg":"internal error","wait_ms":2500,"quota":20,"left":3}`, wire.ServerError},
		wire.Acceleration: {200, `{"errno":45009,"errmsg":"slow down","wait_ms":2500,"quota":20,"left":3}`, wire.Rate},
	} {
		r := replyOf(&d, class)
		r.Hint.Value, r.Limit, r.Remaining = 2500*time.Millisecond, 20, 3
		var m Message
		d.Write(&m, &testContext, &r)
		require.Equal(t, want.status, m.Status, class)
		require.Equal(t, want.body, string(m.Body), class)
		in := m.Raw()
		require.Equal(t, want.shown, d.ParseReply(&in, ReadContext{}).Shown, class)
	}
	r := wire.Reply{Status: 200, Tokens: 2, Hint: wire.Hint{Value: wire.NoHint}}
	var m Message
	d.Write(&m, &Context{Model: "m"}, &r)
	require.Equal(t, `{"errno":1,"errmsg":"ok","result":{"model":"m","content":"The herd ","finish_reason":"stop","usage":{"prompt_tokens":0,"completion_tokens":2,"total_tokens":2}}}`, string(m.Body))
}

// TestCodeInBodyByStatus: a reader of statuses takes 200 for a success with any
// code, and reads the headers of a 429.
func TestCodeInBodyByStatus(t *testing.T) {
	for _, c := range []struct {
		reply CodeReply
		class wire.Class
		hint  time.Duration
	}{
		{CodeReply{Code: 7001}, wire.OK, wire.NoHint},
		{CodeReply{Code: 7001, Spelled: wire.HeaderSeconds}, wire.OK, wire.NoHint},
		{CodeReply{Code: 7001, Status: 429}, wire.Rate, wire.NoHint},
		{CodeReply{Code: 7001, Status: 429, Spelled: wire.HeaderSeconds}, wire.Rate, 3 * time.Second},
		{CodeReply{Code: 7001, Status: 503, Spelled: wire.BothSeconds}, wire.Overloaded, 3 * time.Second},
	} {
		d := CodeInBody{Name: "gw", RetryAfter: "wait", Replies: replies{wire.Rate: c.reply}}.Dialect()
		r := replyOf(&d, wire.Rate)
		r.Hint.Value = 3 * time.Second
		var m Message
		d.Write(&m, &testContext, &r)
		in := m.Raw()
		parsed := d.ParseReply(&in, ReadContext{Epoch: epoch})
		for _, r := range []wire.Reply{r, parsed} {
			var o wire.Outcome
			wire.ByStatus{}.Read(&r, 0, &o)
			require.Equal(t, c.class, o.Class, "%+v", c.reply)
			require.Equal(t, c.hint, o.RetryAfter, "%+v", c.reply)
			wire.ByBody{}.Read(&r, 0, &o)
			require.Equal(t, wire.Rate, o.Class)
			require.Equal(t, 3*time.Second, o.RetryAfter)
			require.EqualValues(t, 7001, o.Code)
		}
	}
}

// TestCodeInBodyErrors: Validate reports each kind of invalid field.
func TestCodeInBodyErrors(t *testing.T) {
	for want, f := range map[string]CodeInBody{
		`"" is not a valid name of a dialect`:            {},
		`"Our gateway" is not a valid name of a dialect`: {Name: "Our gateway"},
		`openai is the name of a built-in dialect`:       {Name: "openai"},
		`"v1/chat" is not a valid path`:                  {Name: "x", Path: "v1/chat"},
		`"/" is not a valid path`:                        {Name: "x", Path: "/"},
		`"/v1/" is not a valid path`:                     {Name: "x", Path: "/v1/"},
		`"/a/../b" is not a valid path`:                  {Name: "x", Path: "/a/../b"},
		`"/a b" is not a valid path`:                     {Name: "x", Path: "/a b"},
		`"/{model}/chat" is not a valid path`:            {Name: "x", Path: "/{model}/chat"},
		`the path /v1/models is that of the list`:        {Name: "x", Path: "/v1/models"},
		`limit needs remaining`:                          {Name: "x", Limit: "quota"},
		`remaining needs limit`:                          {Name: "x", Remaining: "left"},
		`unknown spelling 99`:                            {Name: "x", Spelled: 99},
		`rate: unknown spelling 99`:                      {Name: "x", Replies: replies{wire.Rate: {Spelled: 99}}},
		`the title must be one line`:                     {Name: "x", Title: "a\x1b[31m"},
		`another field has the name "message"`:           {Name: "x", Code: "message"},
		`another field has the name "retry_after_ms"`:    {Name: "x", Code: "retry_after_ms"},
		`another field has the name "retryDelay"`:        {Name: "x", RetryAfter: "retryDelay"},
		`"a\x00" is not a valid name of a field`:         {Name: "x", Data: "a\x00"},
		`this spelling are not in a field`:               {Name: "x", RetryAfter: "wait", Spelled: wire.Sentence},
		`ok: no provider replies with this class`:        {Name: "x", Replies: replies{wire.OK: {Code: 7}}},
		`cancelled: no provider replies with this class`: {Name: "x", Replies: replies{wire.Cancelled: {Status: 499}}},
		`auth: the code 14001 is that of success`:        {Name: "x", Success: 14001},
		`rate: the code 200 is that of success`:          {Name: "x", Success: 200, Replies: replies{wire.Rate: {Code: 200}}},
		`use another code for success`:                   {Name: "x", Success: 14003},
		`rate: the status 302 is neither`:                {Name: "x", Replies: replies{wire.Rate: {Status: 302}}},
		`quota: the code 7 with the status 402`:          {Name: "x", Replies: replies{wire.Rate: {Code: 7}, wire.Quota: {Code: 7, Status: 402}}},
		`auth: the code 14003 means too many`:            {Name: "x", Replies: replies{wire.Rate: {Code: 7}, wire.Auth: {Code: 14003}}},
		`rate: the text must be one line`:                {Name: "x", Replies: replies{wire.Rate: {Text: "a\nb"}}},
		`rate: the brackets contain keywords`:            {Name: "x", Replies: replies{wire.Rate: {Text: "slow down[: the rate limit is {limit}]"}}},
		`rate: the text contains a wait`:                 {Name: "x", Replies: replies{wire.Rate: {Text: "Please try again in 5 s"}}},
		`timeout: the text contains a wait`:              {Name: "x", Replies: replies{wire.Timeout: {Text: "retry after {limit}s"}}},
		`overloaded: the text must be one line of at`:    {Name: "x", Replies: replies{wire.Overloaded: {Text: strings.Repeat("x", 401)}}},
	} {
		err := f.Validate()
		require.ErrorContains(t, err, want)
		var wrong *CodeInBodyError
		require.ErrorAs(t, err, &wrong)
		_, known := reflect.TypeFor[CodeInBody]().FieldByName(wrong.Field)
		require.True(t, known, "%s is a field", wrong.Field)
		require.NotPanics(t, func() { _ = f.withDefaults() })
	}
}

// TestCodeInBodyAtRandom: for every valid CodeInBody, each reader has the same
// outcome from the bytes as from the compact reply, for every class, every form
// of hints, and for answers.
func TestCodeInBodyAtRandom(t *testing.T) {
	codes := rapid.OneOf(rapid.SampledFrom([]int32{0, 1, 14000, 14003, 14005}), rapid.Int32(), rapid.Int32Range(1, 1000))
	texts := rapid.SampledFrom([]string{"", "slow down", "rate limit", "quota[ of {limit}]", "{model} is busy]", "{used} [", "credit {remaining}", "您已达到速率限制"})
	spellings := rapid.SampledFrom(append(make([]wire.Spelling, 6), wire.BodySeconds, wire.BodyMillis, wire.BodyDelay, wire.BothSeconds, wire.Sentence, wire.NoPlaceForHint, wire.HeaderSeconds, wire.HeaderDate))
	valid := 0
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.Permutation([]string{"", "", "", "code", "errno", "error", "msg", "status", "retry_after", "wait", "quota", "left", "result", "choices", "\"quoted\"", "字段"}).Draw(t, "names")
		f := CodeInBody{
			Name: "gw", Code: names[0], Message: names[1], Data: names[2], RetryAfter: names[3], Success: codes.Draw(t, "success"), Spelled: spellings.Draw(t, "spelled"),
		}
		if names[4] != "" && names[5] != "" {
			f.Limit, f.Remaining = names[4], names[5]
		}
		for class := wire.Rate; class <= wire.Timeout; class++ {
			if rapid.Bool().Draw(t, "own") {
				f.Replies[class] = CodeReply{
					Code: codes.Draw(t, "number"), Status: rapid.SampledFrom([]uint16{0, 0, 0, 0, 0, 200, 401, 429, 503}).Draw(t, "status"),
					Text: texts.Draw(t, "text"), Spelled: spellings.Draw(t, "spelling"),
				}
			}
		}
		if f.Validate() != nil {
			return
		}
		valid++
		d := f.Dialect()
		for class := wire.Rate; class <= wire.Timeout; class++ {
			r := replyOf(&d, class)
			require.Equal(t, d.templates.shown(class), r.Shown)
			if rapid.Bool().Draw(t, "spelled otherwise") {
				r.Hint.Spelling = wire.Spelling(rapid.IntRange(0, wire.NumSpellings-1).Draw(t, "hint's spelling"))
			}
			r.Hint.Value = time.Duration(rapid.Int64Range(-1, int64(48*time.Hour)).Draw(t, "hint"))
			r.Limit, r.Remaining = rapid.Int32Range(0, 100).Draw(t, "of"), rapid.Int32Range(0, 100).Draw(t, "left")
			sameFacts(t, &d, testContext, r, false)
			r.Status, r.Body, r.Code, r.Tokens = 200, wire.StreamError, 0, 2
			sameFacts(t, &d, testContext, r, true)
			r = wire.Reply{Status: 200, Class: class, Shown: wire.Rate, Body: wire.CodeBody, Code: wire.Code14003, Hint: wire.Hint{Value: 3 * time.Second, Spelling: wire.BodySeconds}}
			sameFacts(t, &d, testContext, r, false)
		}
		for body := range wire.Body(wire.NumBodies) {
			r := wire.Reply{Status: 200, Body: body, Tokens: 3, Hint: wire.Hint{Value: wire.NoHint}, Marks: d.Forms()[wire.OK].Marks}
			if body != wire.ErrorBody && body != wire.CodeBody && body != wire.StreamError {
				sameFacts(t, &d, testContext, r, false)
				sameFacts(t, &d, testContext, r, true)
			}
		}
	})
	require.Greater(t, valid, 9, "too few of the drawn dialects are valid")
}

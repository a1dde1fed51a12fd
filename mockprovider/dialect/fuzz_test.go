package dialect

import (
	"encoding/json"
	"testing"
	"time"

	"herdlab/mockprovider/wire"
)

// FuzzParse: for any bytes, every reader returns a valid outcome.
func FuzzParse(f *testing.F) {
	for _, d := range All() {
		for class := wire.OK; class <= wire.Timeout; class++ {
			r := replyOf(&d, class)
			if r.Limit, r.Hint.Value = 20, 1500*time.Millisecond; class == wire.OK {
				r.Body, r.Tokens, r.Hint.Value = wire.Completion, 3, wire.NoHint
			}
			var m Message
			d.Write(&m, &testContext, &r)
			f.Add(m.Status, m.Headers.Get("Content-Type"), m.Headers.Get("Retry-After"), m.Body, false)
			if d.Streams(&r) {
				d.WriteStream(&m, &testContext, &r)
				f.Add(m.Status, m.Headers.Get("Content-Type"), "", m.Body, true)
			}
		}
	}
	for _, after := range []string{"1e999", "-0", "Wed, 21 Oct 2026 07:28:30 GMT", "6m0s", "99999999999"} {
		f.Add(429, jsonType, after, []byte(`{"error":{"message":"try again in 1s1s1s","code":7}}`), false)
	}
	all := All()
	f.Fuzz(func(t *testing.T, status int, contentType, after string, body []byte, broken bool) {
		header := func(name string) string {
			switch name {
			case "Content-Type":
				return contentType
			case "x-should-retry":
				return "true"
			}
			return after // in every header
		}
		in := RawReply{Status: status & 0x3ff, Header: header, Body: body, Broken: broken}
		at := ReadContext{Epoch: epoch, Model: "m"}
		check := func(r wire.Reply) {
			if r.Shown > wire.Timeout || r.Body >= wire.NumBodies || r.Hint.Spelling >= wire.NumSpellings {
				t.Fatalf("%+v", r)
			}
			if r.Hint.Value < 0 && r.Hint.Value != wire.NoHint && !r.Hint.Spelling.Dated() || r.Hint.Value > maxWait {
				t.Fatalf("a wait of %v", r.Hint.Value)
			}
			if r.Limit < 0 && r.Body != wire.CodeBody || r.Reset < 0 && r.Marks&wire.ResetAsTime == 0 || r.Reset > maxWait {
				t.Fatalf("%+v", r)
			}
			for _, reader := range readers {
				var o wire.Outcome
				reader.Read(&r, time.Minute, &o)
				if o.RetryAfter < wire.NoHint || o.Reset < 0 {
					t.Fatalf("%T: %+v", reader, o)
				}
			}
		}
		for i := range all {
			check(all[i].ParseReply(&in, at))
			s := all[i].ReadStream(in, at)
			s.Feed(body)
			check(s.End(broken))
		}
		s := DetectStream(in, at)
		s.Feed(body)
		check(s.End(broken))
	})
}

// FuzzRequest: any request is read, or is an error that the dialect can write.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":3}`, `{"model":"m","input":"hi"}`,
		`{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":1e99}}`, `{`, `null`, "",
	} {
		f.Add("POST", "/v1/chat/completions", "key=1", "Bearer x", []byte(body))
	}
	f.Add("GET", "/v1beta/models/:generateContent", "%zz&key=%41", "", []byte(`[]`))
	all := All()
	f.Fuzz(func(t *testing.T, method, path, query, header string, body []byte) {
		in := RawRequest{Method: method, Path: path, Query: query, Header: func(string) string { return header }, Body: body}
		ByPath(&in)
		if valid(body) != json.Valid(body) {
			t.Fatalf("valid: %v", valid(body))
		}
		try := func(d *Dialect) {
			r, err := d.ParseRequest(&in)
			if err == nil {
				if r.Operation != ListModels && (r.Model == "" || r.Prompt == 0 || r.MaxTokens > 1<<31-1) {
					t.Fatalf("%+v", r)
				}
				return
			}
			var m Message
			d.WriteRequestError(&m, &testContext, err)
			if got := m.Raw(); d.ParseReply(&got, ReadContext{}).Shown != wire.BadRequest {
				t.Fatalf("%s: %s", d.Name, m.Body)
			}
		}
		for i := range all {
			d := &all[i]
			try(d)
			for _, route := range d.routes { // the body for each operation, with any path
				in.Method, in.Path = route.method, route.path
				try(d)
			}
			in.Method, in.Path = method, path
		}
	})
}

package dialect

import (
	"testing"

	"herdlab/mockprovider/wire"
)

func BenchmarkWriteRefusal(b *testing.B) {
	d, _ := ByName("openai")
	r := replyOf(&d, wire.Rate)
	r.Hint.Value, r.Limit = 3e9, 60
	var m Message
	for b.Loop() {
		d.Write(&m, &testContext, &r)
	}
}

func BenchmarkParseRefusal(b *testing.B) {
	d, _ := ByName("openai")
	r := replyOf(&d, wire.Rate)
	r.Hint.Value, r.Limit = 3e9, 60
	var m Message
	d.Write(&m, &testContext, &r)
	in := m.Raw()
	for b.Loop() {
		d.ParseReply(&in, ReadContext{Epoch: epoch})
	}
}

func BenchmarkToken(b *testing.B) {
	d, _ := ByName("openai")
	r := wire.Reply{Status: 200}
	var frame []byte
	for b.Loop() {
		frame = d.Token(frame[:0], &testContext, &r, 3)
	}
}

package dialect

import (
	"bytes"
	"encoding/json"
	"strings"

	"herdlab/mockprovider/wire"
)

// StreamReader reads a reply piece by piece, as it arrives. A reply that turns
// out to be no stream is read whole.
type StreamReader struct {
	d        *Dialect // nil until it is known
	in       RawReply
	at       ReadContext
	framing  framing // nil for what is no stream
	f        findings
	replaced wire.Body // Garbage or WrongType, once seen
	guessed  bool      // d is only what the first frame looked like
}

// ReadStream begins to read a reply of d from its status and headers; in.Body
// and in.Broken are not looked at.
func (d *Dialect) ReadStream(in RawReply, at ReadContext) *StreamReader {
	s := &StreamReader{d: d, in: in, at: at}
	s.start()
	return s
}

// DetectStream does the same for a dialect that is not known.
func DetectStream(in RawReply, at ReadContext) *StreamReader {
	s := &StreamReader{in: in, at: at}
	s.start()
	return s
}

func (s *StreamReader) start() {
	s.in.Body, s.in.Broken, s.f.Status = nil, false, s.in.Status
	if s.in.Status >= 400 || s.in.Header == nil {
		return
	}
	contentType, _, _ := strings.Cut(s.in.Header("Content-Type"), ";")
	contentType = strings.TrimSpace(contentType)
	if s.d == nil {
		for i := range dialects {
			if dialects[i].streamType == contentType && contentType != "" {
				s.d = &dialects[i]
			}
		}
	}
	switch {
	case s.d != nil && s.d.streamContentType() == contentType && s.d.framing != nil:
		s.framing = s.d.framing()
	case contentType == sseType:
		s.framing = &sse{}
	}
}

// Feed reads some more bytes.
func (s *StreamReader) Feed(p []byte) {
	switch {
	case s.framing == nil:
		if len(s.in.Body)+len(p) <= maxFrame {
			s.in.Body = append(s.in.Body, p...)
		}
	case s.replaced == 0:
		if !s.framing.feed(p, s.frame) {
			s.replaced = wire.Garbage
		}
	}
}

// Begun reports whether some of the answer has come, so that a retry would pay
// for it twice.
func (s *StreamReader) Begun() bool { return s.f.Pieces > 0 }

// Tokens is how many output tokens have come.
func (s *StreamReader) Tokens() uint32 { return s.f.tokens() }

// End returns what the reply said, when there is no more: because it ended, or
// because the connection broke.
func (s *StreamReader) End(broken bool) wire.Reply {
	if s.framing == nil {
		s.in.Broken = broken
		if s.d == nil {
			s.d = sniff(&s.in)
		}
		return s.d.ParseReply(&s.in, s.at)
	}
	if !broken && s.replaced == 0 {
		s.framing.end(s.frame)
	}
	if s.d == nil {
		s.d = &dialects[0]
	}
	r := wire.Reply{Status: uint16(s.in.Status), RetryAfter: wire.NoHint, Marks: retryMarks(&s.in)}
	fillAnswer(&s.f, s.at, &r)
	switch {
	case s.f.Failed:
		s.f.Coded = false
		s.d.fillError(&s.in, s.at, &s.f, &r)
	case s.replaced != 0:
		r.Body = s.replaced
	case r.Body == wire.SilentEnd && broken:
		r.Body = wire.CutBody
	}
	r.Class = r.Shown
	s.d.limits.read(s.in.Header, s.at.Epoch, &r)
	return r
}

// frame reads one frame.
func (s *StreamReader) frame(event string, data []byte) {
	if s.f.Failed || s.replaced != 0 {
		return
	}
	if !json.Valid(data) && string(data) != doneMarker {
		if s.replaced = wire.Garbage; bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) {
			s.replaced = wire.WrongType
		}
		return
	}
	if s.d == nil {
		s.d, s.guessed = s.sniff(data), true
	}
	before := s.f
	s.d.codec.readFrame(event, data, &s.f)
	if s.f.Failed && s.guessed {
		// The answers of several look alike; their errors do not.
		d := s.sniff(data)
		if d.codec.readFrame(event, data, &before); before.Failed {
			s.d, s.f = d, before
		}
	}
}

// sniff returns the dialect that a frame looks like.
func (s *StreamReader) sniff(data []byte) *Dialect {
	frame := s.in
	frame.Body = data
	return sniff(&frame)
}

// doneMarker is the finish marker of OpenAI's streams and their likes.
const doneMarker = "[DONE]"

package dialect

import (
	"bytes"
	"encoding/json"
	"strings"

	"herdlab/mockprovider/wire"
)

// StreamReader reads a reply piece by piece, as it arrives. It reads a reply
// that is not a stream as a whole body.
type StreamReader struct {
	d        *Dialect // nil before it is detected
	in       RawReply
	at       ReadContext
	framing  framing // nil if the reply is not a stream
	f        findings
	replaced wire.Body // Garbage or WrongType, if found
	guessed  bool      // d was detected from the first frame
}

// ReadStream returns a reader for a reply of d with the given status and
// headers. It ignores in.Body and in.Broken.
func (d *Dialect) ReadStream(in RawReply, at ReadContext) *StreamReader {
	s := &StreamReader{d: d, in: in, at: at}
	s.start()
	return s
}

// DetectStream returns a reader that detects the dialect of the reply.
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

// Feed reads the next bytes.
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

// Begun reports whether a part of the answer has arrived, so that a retry pays
// for it again.
func (s *StreamReader) Begun() bool { return s.f.Pieces > 0 }

// Tokens returns the number of output tokens that have arrived.
func (s *StreamReader) Tokens() uint32 { return s.f.tokens() }

// End returns the reply after its last byte. broken is true if the connection
// was lost.
func (s *StreamReader) End(broken bool) wire.Reply {
	if s.framing == nil {
		s.in.Broken = broken
		if s.d == nil {
			s.d = detect(&s.in)
		}
		return s.d.ParseReply(&s.in, s.at)
	}
	if !broken && s.replaced == 0 {
		s.framing.end(s.frame)
	}
	if s.d == nil {
		s.d = &dialects[0]
	}
	r := wire.Reply{Status: uint16(s.in.Status), Hint: wire.Hint{Value: wire.NoHint}, Marks: retryMarks(&s.in)}
	fillAnswer(&s.f, s.at, &r)
	switch {
	case s.f.Failed:
		s.f.Coded = false
		s.d.fillError(&s.in, s.at, &s.f, &r)
	case s.replaced != 0:
		r.Body = s.replaced
	case r.Body == wire.SilentEnd && broken:
		r.Body = wire.TruncatedBody
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
		s.d, s.guessed = s.detect(data), true
	}
	before := s.f
	s.d.codec.readFrame(event, data, &s.f)
	if s.f.Failed && s.guessed {
		// Several dialects have the same answers but different errors.
		d := s.detect(data)
		if d.codec.readFrame(event, data, &before); before.Failed {
			s.d, s.f = d, before
		}
	}
}

// detect returns the dialect of a frame.
func (s *StreamReader) detect(data []byte) *Dialect {
	frame := s.in
	frame.Body = data
	return detect(&frame)
}

// doneMarker is the finish marker of OpenAI's streams and similar ones.
const doneMarker = "[DONE]"

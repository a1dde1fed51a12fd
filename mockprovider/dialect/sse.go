package dialect

import "bytes"

// framing takes a stream apart.
type framing interface {
	// feed takes some bytes and calls to for each frame that they complete. Data
	// is valid during the call only. It reports false where the stream is not
	// framed so, or has a frame beyond the bounds: then it is not fed any more.
	feed(p []byte, to func(event string, data []byte)) bool
	// end is told of a clean end: some servers leave out the last blank line.
	end(to func(event string, data []byte))
}

// maxFrame is the longest frame that is read, in bytes.
const maxFrame = 1 << 20

// sse is the framing of server-sent events.
type sse struct {
	line, data []byte
	event      string
	filled     bool // data has a line, perhaps an empty one
}

func (s *sse) feed(p []byte, to func(string, []byte)) bool {
	for {
		head, tail, whole := bytes.Cut(p, []byte("\n"))
		if len(s.line)+len(head)+len(s.data) > maxFrame {
			return false
		}
		s.line = append(s.line, head...)
		if !whole {
			return true
		}
		s.take(bytes.TrimSuffix(s.line, []byte("\r")), to)
		s.line, p = s.line[:0], tail
	}
}

func (s *sse) end(to func(string, []byte)) {
	s.take(s.line, to)
	s.take(nil, to)
}

// take reads one line.
func (s *sse) take(line []byte, to func(string, []byte)) {
	if len(line) == 0 {
		if s.filled {
			to(s.event, s.data)
		}
		s.data, s.event, s.filled = s.data[:0], "", false
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		s.event = string(value)
	case "data":
		if s.filled {
			s.data = append(s.data, '\n')
		}
		s.data, s.filled = append(s.data, value...), true
	}
}

// appendEvent writes a server-sent event with v as its data; without a name if
// event is empty.
func appendEvent(b []byte, event string, v any) []byte {
	if event != "" {
		b = append(append(append(b, "event: "...), event...), '\n')
	}
	return append(appendJSON(append(b, "data: "...), v), "\n\n"...)
}

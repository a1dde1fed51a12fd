package dialect

import "bytes"

// framing splits a stream into frames.
type framing interface {
	// feed reads the next bytes and calls to for each frame that they complete.
	// data is valid only during the call. feed returns false if the stream does
	// not have this framing or has a frame that is too long; it is not called
	// again then.
	feed(p []byte, to func(event string, data []byte)) bool
	// end reads the clean end of the stream: some servers leave out the last
	// blank line.
	end(to func(event string, data []byte))
}

// maxFrame is the length of the longest frame, in bytes.
const maxFrame = 1 << 20

// sse is the framing of server-sent events.
type sse struct {
	line, data []byte
	event      string
	filled     bool // data has a line, which may be empty
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

// appendEvent writes a server-sent event with v as its data. An empty event has
// no name.
func appendEvent(b []byte, event string, v any) []byte {
	if event != "" {
		b = append(append(append(b, "event: "...), event...), '\n')
	}
	return append(appendJSON(append(b, "data: "...), v), "\n\n"...)
}

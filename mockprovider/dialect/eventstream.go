package dialect

import (
	"encoding/binary"
	"hash/crc32"
)

// eventStream is the framing of application/vnd.amazon.eventstream. All numbers
// are big-endian. A message consists of:
//
//	total length   4 bytes
//	headers length 4 bytes
//	CRC-32 of the first 8 bytes
//	headers        each: length of name, name, type (7: text), 2 bytes length, text
//	payload
//	CRC-32 of all bytes before
//
// The event of a frame is the type of the message; that of an exception begins
// with exceptionPrefix.
type eventStream struct{ buffer []byte }

// exceptionPrefix is the beginning of the event of an exception; its type
// follows.
const exceptionPrefix = "!"

const (
	eventStreamType = "application/vnd.amazon.eventstream"
	preludeLength   = 12 // two lengths and their checksum
	checksumLength  = 4
	textHeader      = 7
)

// appendMessage writes a message of an event stream with a payload of JSON.
func appendMessage(b []byte, messageType, typeHeader, name string, payload []byte) []byte {
	start := len(b)
	b = append(b, make([]byte, preludeLength)...)
	for _, h := range [...][2]string{{typeHeader, name}, {":content-type", jsonType}, {":message-type", messageType}} {
		b = append(append(b, byte(len(h[0]))), h[0]...)
		b = binary.BigEndian.AppendUint16(append(b, textHeader), uint16(len(h[1])))
		b = append(b, h[1]...)
	}
	headers := len(b) - start - preludeLength
	b = append(b, payload...)
	m := b[start:]
	binary.BigEndian.PutUint32(m, uint32(len(m)+checksumLength))
	binary.BigEndian.PutUint32(m[4:], uint32(headers))
	binary.BigEndian.PutUint32(m[8:], crc32.ChecksumIEEE(m[:8]))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(m))
}

func (s *eventStream) feed(p []byte, to func(string, []byte)) bool {
	s.buffer = append(s.buffer, p...)
	rest := s.buffer
	for len(rest) >= preludeLength {
		total, headers := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		if crc32.ChecksumIEEE(rest[:8]) != binary.BigEndian.Uint32(rest[8:]) ||
			total > maxFrame || total < preludeLength+checksumLength || headers > total-preludeLength-checksumLength {
			return false
		}
		if len(rest) < int(total) {
			break
		}
		m := rest[:total-checksumLength]
		if crc32.ChecksumIEEE(m) != binary.BigEndian.Uint32(rest[len(m):]) {
			return false
		}
		payload := preludeLength + int(headers)
		event, ok := eventOf(m[preludeLength:payload])
		if !ok {
			return false
		}
		to(event, m[payload:])
		rest = rest[total:]
	}
	s.buffer = append(s.buffer[:0], rest...)
	return true
}

// end does nothing: each message contains its length.
func (*eventStream) end(func(string, []byte)) {}

// widths are the lengths of the values of headers by their type; texts and
// bytes, -1, contain their length.
var widths = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: -1, 7: -1, 8: 8, 9: 16}

// eventOf returns the event in the headers of a message.
func eventOf(b []byte) (event string, ok bool) {
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < 2+n || int(b[1+n]) >= len(widths) {
			return "", false
		}
		name, width := string(b[1:1+n]), widths[b[1+n]]
		if b = b[2+n:]; width < 0 {
			if len(b) < 2 {
				return "", false
			}
			width = int(binary.BigEndian.Uint16(b))
			b = b[2:]
		}
		if len(b) < width {
			return "", false
		}
		switch name {
		case ":event-type":
			event = string(b[:width])
		case ":exception-type", ":error-code":
			event = exceptionPrefix + string(b[:width])
		}
		b = b[width:]
	}
	return event, true
}

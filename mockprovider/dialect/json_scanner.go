package dialect

// scanner reads JSON. It accepts the same texts as encoding/json and does not
// allocate: requests can be long, and for most of a request only its end is
// needed.
type scanner struct {
	text []byte
	at   int // the position
}

// maxNest is the maximum depth of nested values, as in encoding/json.
const maxNest = 10_000

// valid reports whether text is one JSON value.
func valid(text []byte) bool {
	s := scanner{text: text}
	return s.value() && s.peek() == 0 && s.at == len(text)
}

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// value skips a value. It reports false if there is none.
func (s *scanner) value() bool {
	var room [32]byte
	nest := room[:0] // the closing brackets of the values around the next one
next:
	for {
		switch c := s.peek(); {
		case c == '{' || c == '[':
			s.at++
			closes := c + 2 // in ASCII
			if nest = append(nest, closes); len(nest) > maxNest {
				return false
			}
			if s.peek() != closes {
				if c == '{' && !s.name() {
					return false
				}
				continue
			}
		case c == '"':
			if !s.quoted() {
				return false
			}
		case c == 't' || c == 'f' || c == 'n':
			if !s.word("true") && !s.word("false") && !s.word("null") {
				return false
			}
		case !s.number():
			return false
		}
		for len(nest) > 0 {
			last := len(nest) - 1
			switch s.peek() {
			case nest[last]:
				s.at++
				nest = nest[:last]
			case ',':
				s.at++
				if nest[last] == '}' && !s.name() {
					return false
				}
				continue next
			default:
				return false
			}
		}
		return true
	}
}

// name skips the name of a member and its colon.
func (s *scanner) name() bool {
	if s.peek() != '"' || !s.quoted() || s.peek() != ':' {
		return false
	}
	s.at++
	return true
}

// quoted skips a string, which begins at the position.
func (s *scanner) quoted() bool {
	for i := s.at + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c < ' ':
			return false
		case c == '\\':
			n := escape(s.text[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return false
}

// escape returns the length of the escape sequence at the beginning of text, or
// 0 if it is invalid.
func escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		const whole = len(`\u0000`)
		for i := 2; i < whole; i++ {
			if i == len(text) {
				return 0
			}
			if c := text[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return 0
			}
		}
		return whole
	}
	return 0
}

// word skips w, if it is at the position.
func (s *scanner) word(w string) bool {
	if len(s.text)-s.at < len(w) || string(s.text[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// number skips a number.
func (s *scanner) number() bool {
	s.word("-")
	if !s.word("0") && !s.digits() {
		return false
	}
	if s.word(".") && !s.digits() {
		return false
	}
	if s.word("e") || s.word("E") {
		_ = s.word("+") || s.word("-")
		return s.digits()
	}
	return true
}

// digits skips one or more digits.
func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

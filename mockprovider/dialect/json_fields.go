package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// field is a member of a JSON object. It is read into the value that into
// points to: a *string, *bool, *count or *json.RawMessage, or into the fields
// of a nested object. A RawMessage shares the memory of the body.
type field struct {
	name string
	into any
}

type fields []field

// count is a whole number that may be absent.
type count struct {
	n      int64
	stated bool
}

// decode reads the JSON object of a request. It ignores other members and
// members that are null.
func decode(body []byte, want ...field) error {
	s := scanner{text: body}
	switch s.peek(); {
	case s.at == len(body):
		return badRequest("the request has no body; send a JSON object")
	case !valid(body):
		var raw json.RawMessage
		return badRequest("the body is not valid JSON: %v", json.Unmarshal(body, &raw))
	}
	switch name, is := fields(want).read(body[s.at:]); {
	case is == "":
		return nil
	case name == "":
		return badRequest("the body is a JSON %s; it must be an object", is)
	default:
		return badRequest("%s: it must not be a JSON %s", name, is)
	}
}

// read reads an object, which is valid JSON. If a member has the wrong type,
// read returns its name and its actual type; name is "" if the object itself is
// not an object. is is "" without an error.
func (f fields) read(object []byte) (name, is string) {
	switch object[0] {
	case '{':
	case 'n':
		return "", ""
	default:
		return "", kind(object)
	}
	s := scanner{text: object, at: 1}
	for c := s.peek(); c != '}'; c = s.peek() {
		if c == ',' {
			s.at++
		}
		s.peek()
		start := s.at
		s.quoted()
		quoted := object[start:s.at]
		s.peek()
		s.at++ // the colon
		s.peek()
		start = s.at
		s.value()
		for i := range f {
			if named(quoted, f[i].name) {
				if name, is = f[i].set(object[start:s.at]); is != "" {
					return name, is
				}
			}
		}
	}
	return "", ""
}

// set reads the value of the field. Its results are those of read.
func (f *field) set(value []byte) (name, is string) {
	if value[0] == 'n' {
		return "", ""
	}
	is = kind(value)
	switch into := f.into.(type) {
	case *json.RawMessage:
		*into = value
		return "", ""
	case fields:
		if name, is = into.read(value); name != "" {
			return f.name + "." + name, is
		}
	case *string:
		if is == "string" {
			*into = text(value)
			return "", ""
		}
	case *bool:
		if is == "bool" {
			*into = value[0] == 't'
			return "", ""
		}
	case *count:
		if is == "number" {
			n, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				is = "number " + string(value)
				break
			}
			*into = count{n, true}
			return "", ""
		}
	}
	// Without the copy, the fields would escape to the heap.
	return strings.Clone(f.name), is
}

// named reports whether a JSON string is that name.
func named(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		return text(quoted) == name
	}
	return string(quoted[1:len(quoted)-1]) == name
}

// kind returns the type of a JSON value other than null.
func kind(value []byte) string {
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	}
	return "number"
}

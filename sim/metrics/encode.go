package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// WriteJSON writes the result as JSON, the same bytes for the same result: fields
// in the order of the types, metrics in that of the constants. Each value without
// an object inside is on a line of its own, so that a changed value changes one
// line. Numbers are read back exactly.
func (r *Result) WriteJSON(w io.Writer) error {
	var compact bytes.Buffer
	e := json.NewEncoder(&compact)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("metrics: writing a result: %w", err)
	}
	text := bytes.TrimSpace(compact.Bytes())
	_, err := w.Write(append(layOut(nil, text, "\n"), '\n'))
	return err
}

// MarshalJSON writes no faults as an empty list and not as null.
func (s Scenario) MarshalJSON() ([]byte, error) {
	type plain Scenario
	if s.Faults == nil {
		s.Faults = []Span{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(plain(s))
	return bytes.TrimSpace(b.Bytes()), err
}

// MarshalJSON writes the estimates in the order of the metrics.
func (f Estimates) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	written := 0
	for i := range infos {
		figure, ok := f[infos[i].Name]
		if !ok {
			continue
		}
		text, err := json.Marshal(figure)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", infos[i].Name, err)
		}
		if written++; written > 1 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:%s", infos[i].Name, text)
	}
	if written != len(f) {
		for _, name := range slices.Sorted(maps.Keys(f)) {
			if _, err := ParseMetric(name); err != nil {
				return nil, err
			}
		}
	}
	return append(out, '}'), nil
}

// layOut appends the compact JSON value text to out. Each member of a value that
// contains an object is on a line of its own, indented by one space more than
// newline; other values are unchanged.
func layOut(out, text []byte, newline string) []byte {
	if !bytes.ContainsAny(text[:1], "{[") || !holdsObject(text) {
		return append(out, text...)
	}
	out = append(out, text[0])
	start, depth := 1, 0
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringLength(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth > 0 {
				if text[i] != ',' {
					depth--
				}
				continue
			}
			out = append(out, newline+" "...)
			member := text[start:i]
			if text[0] == '{' { // after its name
				n := stringLength(member) + 1
				out = append(append(out, member[:n]...), ' ')
				member = member[n:]
			}
			out = layOut(out, member, newline+" ")
			if text[i] != ',' {
				out = append(out, newline...)
			}
			out = append(out, text[i])
			start = i + 1
		}
	}
	return out
}

// holdsObject reports whether the array or object text contains an object.
func holdsObject(text []byte) bool {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringLength(text[i:]) - 1
		case '{':
			return true
		}
	}
	return false
}

// stringLength returns the length of the string at the beginning of text, with its
// quotes.
func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

package dialect

import "strconv"

// append writes the body as JSON. It does not use encoding/json, except for extra,
// because each piece of each stream is a body.
func (v *chatBody) append(b []byte) []byte {
	b = appendQuoted(append(b, `{"id":`...), v.ID)
	b = appendQuoted(append(b, `,"object":`...), v.Object)
	b = strconv.AppendInt(append(b, `,"created":`...), v.Created, 10)
	b = appendQuoted(append(b, `,"model":`...), v.Model)
	b = append(b, `,"choices":`...)
	if v.Choices == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, '[')
		for i := range v.Choices {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.Choices[i].append(b)
		}
		b = append(b, ']')
	}
	if u := v.Usage; u != nil {
		b = strconv.AppendUint(append(b, `,"usage":{"prompt_tokens":`...), uint64(u.Prompt), 10)
		b = strconv.AppendUint(append(b, `,"completion_tokens":`...), uint64(u.Completion), 10)
		b = strconv.AppendUint(append(b, `,"total_tokens":`...), u.Total, 10)
		b = append(b, '}')
	}
	if v.extra != nil {
		comma := len(b)
		b = appendJSON(b, v.extra) // an object; its brace becomes the comma
		if b[comma] = ','; b[comma+1] == '}' {
			return append(b[:comma], '}') // no fields
		}
		return b
	}
	return append(b, '}')
}

// appendEvent writes a server-sent event with the body as its data.
func (v *chatBody) appendEvent(b []byte) []byte {
	return append(v.append(append(b, "data: "...)), "\n\n"...)
}

func (c *chatChoice) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"index":`...), int64(c.Index), 10)
	if c.Message != nil {
		b = c.Message.append(append(b, `,"message":`...))
	}
	if c.Delta != nil {
		b = c.Delta.append(append(b, `,"delta":`...))
	}
	b = append(b, `,"finish_reason":`...)
	if c.Finish == nil {
		return append(b, "null}"...)
	}
	return append(appendQuoted(b, *c.Finish), '}')
}

func (m *chatMessage) append(b []byte) []byte {
	b = append(b, '{')
	if m.Role != "" {
		b = appendQuoted(append(b, `"role":`...), m.Role)
	}
	if m.Content != nil {
		if m.Role != "" {
			b = append(b, ',')
		}
		b = appendQuoted(append(b, `"content":`...), *m.Content)
	}
	return append(b, '}')
}

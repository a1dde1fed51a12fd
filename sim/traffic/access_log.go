package traffic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// isAccessLog reports whether a first line is of an access log.
func isAccessLog(line []byte) bool {
	return line[0] == '{' && bytes.Contains(line, []byte(`"tenant"`))
}

// errNoCall is the error of a row that is no call of its own: a retry, or what
// was no request to a provider.
var errNoCall = errors.New("no call")

// accessRow reads a line of the access log of herdlab serve: what was asked for,
// whether it was answered or not.
func accessRow(line []byte) (Row, error) {
	var r struct {
		At      json.Number `json:"t"`
		Prompt  json.Number `json:"prompt_tokens"`
		Output  json.Number `json:"output_tokens"`
		Attempt uint32      `json:"attempt"`
		Unread  bool        `json:"unread"`
		// What became of the request, and whose it was.
		Delivered                                                     json.RawMessage `json:"delivered_tokens"`
		Class, Status, Wait, Dialect, Model, Tenant, Stream, Gone, ID json.RawMessage
	}
	if err := object(line, &r); err != nil {
		return Row{}, fmt.Errorf("%w; expected a line of an access log, as herdlab serve writes it", err)
	}
	row, err := numbers("t", r.At, 9, "prompt_tokens", r.Prompt, "output_tokens", r.Output)
	if err == nil && (r.Attempt > 1 || r.Unread) {
		return Row{}, errNoCall
	}
	return row, err
}

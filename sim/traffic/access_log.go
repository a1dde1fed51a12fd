package traffic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// isAccessLog reports whether the first line of a file is that of an access log.
func isAccessLog(line []byte) bool {
	return line[0] == '{' && bytes.Contains(line, []byte(`"tenant"`))
}

// errNoCall is the error of a row that is not a call: a retry, or a request that
// did not reach the provider.
var errNoCall = errors.New("no call")

// accessRow reads a line of the access log of herdlab serve, answered or not.
func accessRow(line []byte) (Row, error) {
	var r struct {
		At      json.Number `json:"t"`
		Prompt  json.Number `json:"prompt_tokens"`
		Output  json.Number `json:"output_tokens"`
		Attempt uint32      `json:"attempt"`
		Unread  bool        `json:"unread"`
		// Fields that a trace does not use.
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

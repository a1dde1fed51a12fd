package dialect

import (
	"encoding/json"
	"strconv"
	"strings"
)

type geminiError struct {
	Error struct {
		Code    uint16         `json:"code"`
		Message string         `json:"message"`
		Status  string         `json:"status"`
		Details []geminiDetail `json:"details,omitempty"`
		Seconds number         `json:"retry_after,omitempty"`
		Millis  number         `json:"retry_after_ms,omitempty"`
	} `json:"error"`
}

type geminiDetail struct {
	Type       string            `json:"@type"`
	Reason     string            `json:"reason,omitempty"`
	Domain     string            `json:"domain,omitempty"`
	Violations []geminiViolation `json:"violations,omitempty"`
	Delay      string            `json:"retryDelay,omitempty"`
}

type geminiViolation struct {
	Metric     string           `json:"quotaMetric"`
	ID         string           `json:"quotaId"`
	Dimensions geminiDimensions `json:"quotaDimensions"`
	Value      string           `json:"quotaValue,omitempty"`
}

// geminiDimensions are what a quota applies to, in addition to the project.
type geminiDimensions struct {
	Location string `json:"location"`
	Model    string `json:"model"`
}

// rpc is the prefix of the types of google.rpc, metric that of the quotas.
const (
	rpc    = "type.googleapis.com/google.rpc."
	metric = "generativelanguage.googleapis.com/"
)

// errorOf returns the error body of a failure. An error in a stream contains
// the status that the refusal would have.
func (geminiCodec) errorOf(c *Context, f *failure) geminiError {
	var e geminiError
	in := &e.Error
	if in.Code = f.Status; in.Code < 400 {
		in.Code = f.template.Status
	}
	in.Message, in.Status = f.Message, f.Kind
	in.Seconds, in.Millis = f.Seconds, f.Millis
	if id := f.template.Code; strings.Contains(id, "Per") {
		v := geminiViolation{Metric: metric + "generate_requests_per_model", ID: id, Dimensions: geminiDimensions{"global", c.Model}}
		if strings.Contains(id, "Token") {
			v.Metric = metric + "generate_content_input_token_count"
		}
		if f.Limit > 0 {
			v.Value = strconv.Itoa(int(f.Limit))
		}
		in.Details = append(in.Details, geminiDetail{Type: rpc + "QuotaFailure", Violations: []geminiViolation{v}})
	} else if id != "" {
		in.Details = append(in.Details, geminiDetail{Type: rpc + "ErrorInfo", Reason: id, Domain: "googleapis.com"})
	}
	if f.Delay != "" {
		in.Message += " Please retry in " + f.Delay + "."
		in.Details = append(in.Details, geminiDetail{Type: rpc + "RetryInfo", Delay: f.Delay})
	}
	return e
}

func (geminiCodec) readError(raw json.RawMessage, in *findings) {
	if readError(raw, in); !in.Failed {
		return
	}
	var e struct {
		Code    int             `json:"code"`
		Status  string          `json:"status"`
		Details json.RawMessage `json:"details"`
	}
	_ = json.Unmarshal(raw, &e)
	if in.Kind, in.Code = e.Status, ""; in.Status < 400 && e.Code >= 400 && e.Code < 600 {
		in.Status = e.Code
	}
	var details []geminiDetail
	_ = json.Unmarshal(e.Details, &details)
	for _, d := range details {
		if d.Reason != "" {
			in.Code = d.Reason
		}
		for _, v := range d.Violations {
			// If several quotas are spent, report the one per day.
			if in.Code == "" || strings.Contains(v.ID, "PerDay") {
				in.Code = v.ID
			}
		}
		if d.Delay != "" {
			in.Delay = d.Delay
		}
	}
}

package live

import (
	"bytes"
	"encoding/json"
	"strconv"

	"herdlab/mockprovider/wire"
)

// capKeys are the paths of the output limit in the requests of the dialects.
var capKeys = [][]string{
	{"max_completion_tokens"}, {"max_output_tokens"}, {"max_tokens"},
	{"generationConfig", "maxOutputTokens"}, {"inferenceConfig", "maxTokens"}, {"parameters", "max_tokens"},
}

// shrink calls Config.Shrink or does what its default does.
func (cfg *Config) shrink(body []byte, from, to wire.Demand) ([]byte, error) {
	if cfg.Shrink != nil {
		return cfg.Shrink(body, from, to)
	}
	if to.MaxTokens == from.MaxTokens || to.MaxTokens == 0 {
		return body, nil
	}
	most := []byte(strconv.FormatUint(uint64(to.MaxTokens), 10))
	for _, path := range capKeys {
		if changed, ok := splice(body, most, path...); ok {
			return changed, nil
		}
	}
	return body, nil
}

// splice returns a JSON object with another value at a path of keys; false if the
// path does not exist. All other bytes are unchanged.
func splice(body, value []byte, path ...string) ([]byte, bool) {
	from, to, ok := member(body, path[0])
	if !ok {
		return body, false
	}
	if len(path) > 1 {
		if value, ok = splice(body[from:to], value, path[1:]...); !ok {
			return body, false
		}
	}
	return bytes.Join([][]byte{body[:from], value, body[to:]}, nil), true
}

// member returns the position of the value of key in a JSON object.
func member(body []byte, key string) (from, to int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return 0, 0, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 0, 0, false
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return 0, 0, false
		}
		if name == key {
			to = int(dec.InputOffset())
			return to - len(raw), to, true
		}
	}
	return 0, 0, false
}

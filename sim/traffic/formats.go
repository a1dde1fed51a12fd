package traffic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"herdlab/mockprovider/wire"
)

// format reads one row. Its time counts from the epoch of the format and is not
// negative.
type format func(line []byte) (Row, error)

const (
	azureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens"
	ownHeader   = "t,prompt_tokens,output_tokens"
	expected    = "a CSV that begins with " + azureHeader + " or " + ownHeader +
		`, or JSONL like {"t":1.5,"prompt_tokens":10,"output_tokens":5}`
)

// recognise returns the format of a file by its first line, nil if it is unknown,
// and whether that line is a header.
func recognise(line []byte) (parse format, header bool) {
	switch {
	case string(line) == azureHeader:
		return azureRow, true
	case string(line) == ownHeader:
		return ownRow, true
	case line[0] != '{':
		return nil, false
	case bytes.Contains(line, []byte(`"timestamp"`)):
		return mooncakeRow, false
	case isAccessLog(line):
		return accessRow, false
	default:
		return ownJSON, false
	}
}

func unrecognised(line []byte) string {
	const most = 60
	if len(line) > most {
		line = append(line[:most:most], "…"...)
	}
	return fmt.Sprintf("unknown format: the first line is %q; expected %s", line, expected)
}

func azureRow(line []byte) (Row, error) {
	at, demand, err := fields(line, azureHeader)
	if err != nil {
		return Row{}, err
	}
	// The traces of 2024 have a time zone, those of 2023 do not.
	t, err := time.Parse("2006-01-02 15:04:05", strings.TrimSuffix(at, "+00:00"))
	if err != nil {
		return Row{}, fmt.Errorf("TIMESTAMP %s: expected a time in UTC like 2023-11-16 18:17:03.9799600", quote(at))
	}
	since := t.Sub(time.Unix(0, 0))
	if since < 0 || since == math.MaxInt64 {
		return Row{}, fmt.Errorf("TIMESTAMP %s: expected a year from 1970 to 2261", quote(at))
	}
	return Row{since, demand}, nil
}

func ownRow(line []byte) (Row, error) {
	at, demand, err := fields(line, ownHeader)
	if err != nil {
		return Row{}, err
	}
	t, err := decimal(at, 9)
	if err != nil {
		return Row{}, fmt.Errorf("t %s: %w", quote(at), err)
	}
	return Row{t, demand}, nil
}

// fields splits a CSV row of a time and two numbers of tokens.
func fields(line []byte, header string) (at string, d wire.Demand, err error) {
	f := strings.Split(string(line), ",")
	if len(f) != 3 {
		return "", d, fmt.Errorf("there are %d fields; expected %s", len(f), header)
	}
	names := strings.Split(header, ",")
	if d.InputTokens, err = tokens(names[1], f[1]); err != nil {
		return "", d, err
	}
	d.OutputTokens, err = tokens(names[2], f[2])
	return strings.TrimSpace(f[0]), d, err
}

func ownJSON(line []byte) (Row, error) {
	var r struct {
		At     json.Number `json:"t"`
		Prompt json.Number `json:"prompt_tokens"`
		Output json.Number `json:"output_tokens"`
	}
	if err := object(line, &r); err != nil {
		return Row{}, fmt.Errorf(`%w; expected an object like {"t":1.5,"prompt_tokens":10,"output_tokens":5}`, err)
	}
	return numbers("t", r.At, 9, "prompt_tokens", r.Prompt, "output_tokens", r.Output)
}

func mooncakeRow(line []byte) (Row, error) {
	var r struct {
		At     json.Number     `json:"timestamp"`
		Input  json.Number     `json:"input_length"`
		Output json.Number     `json:"output_length"`
		Blocks json.RawMessage `json:"hash_ids"` // for prefix caches; not used
	}
	if err := object(line, &r); err != nil {
		return Row{}, fmt.Errorf(`%w; expected an object like {"timestamp":1500,"input_length":10,"output_length":5}`, err)
	}
	return numbers("timestamp", r.At, 6, "input_length", r.Input, "output_length", r.Output)
}

// object decodes a line that is one JSON object of known fields.
func object[T any](line []byte, into *T) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON object is not complete")
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if dec.More() {
		return errors.New("there is text after the JSON object")
	}
	return nil
}

// numbers makes a row of the fields of an object; 10^digits nanoseconds are the
// unit of its time.
func numbers(atName string, at json.Number, digits int, inName string, in json.Number, outName string, out json.Number) (Row, error) {
	t, err := decimal(string(at), digits)
	if err != nil {
		return Row{}, fmt.Errorf("%s %s: %w", atName, quote(string(at)), err)
	}
	var d wire.Demand
	if d.InputTokens, err = tokens(inName, string(in)); err != nil {
		return Row{}, err
	}
	d.OutputTokens, err = tokens(outName, string(out))
	return Row{t, d}, err
}

func tokens(name, s string) (uint32, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s %s: expected a whole number of tokens, 0 to %d", name, quote(s), uint32(math.MaxUint32))
	}
	return uint32(n), nil
}

// quote quotes a field, or returns that it is missing.
func quote(s string) string {
	const most = 40
	switch {
	case s == "":
		return "is missing"
	case len(s) > most:
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}

var (
	errDecimal = errors.New("expected a number that is not negative, like 1.5")
	errLarge   = errors.New("the number is too large")
)

// decimal reads a decimal number such as 12, 1.5 or 5e-05 as a multiple of
// 10^-digits, rounded half up. It uses no floating point, so values are exact.
func decimal(s string, digits int) (time.Duration, error) {
	mantissa, exp, hasExp := strings.Cut(strings.ToLower(s), "e")
	if hasExp {
		e, err := strconv.ParseInt(exp, 10, 32) // longer exponents do not fit a line
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, errDecimal
		}
		digits += int(e)
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	all := whole + frac
	if all == "" || strings.Trim(all, "0123456789") != "" {
		return 0, errDecimal
	}
	end := len(whole) + digits // where the multiple ends and its fraction begins
	if end < 0 {
		return 0, nil
	}
	up := false
	if end < len(all) {
		up = all[end] >= '5'
		all = all[:end]
	}
	const most = 19 // digits of an int64
	zeros := end - min(end, len(whole)+len(frac))
	all = strings.TrimLeft(all, "0")
	switch {
	case all == "":
		all = "0"
	case len(all)+zeros > most:
		return 0, errLarge
	default:
		all += strings.Repeat("0", zeros)
	}
	n, err := strconv.ParseInt(all, 10, 64)
	if err != nil || n == math.MaxInt64 {
		return 0, errLarge
	}
	if up {
		n++
	}
	return time.Duration(n), nil
}

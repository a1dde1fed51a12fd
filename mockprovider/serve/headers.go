package serve

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"herdlab/mockprovider/wire"
)

// Headers with which a test sets what a client of a real provider cannot: the call
// and the attempt, which its random draws depend on, the region, and the length of
// the answer. Without them, Idempotency-Key identifies the call, and
// X-Stainless-Retry-Count the attempt.
const (
	CallHeader    = "X-Herdlab-Call"
	AttemptHeader = "X-Herdlab-Attempt"
	RegionHeader  = "X-Herdlab-Region"
	OutputHeader  = "X-Herdlab-Output-Tokens"
)

// headerError is an error in one of these headers. The harness refuses the request
// in its dialect.
type headerError string

// Error implements error.
func (e headerError) Error() string { return string(e) }

// header returns the first value of a header; name is in canonical form.
func (a *responder) header(name string) string {
	if values := a.r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// readHeaders sets the fields of q that the headers determine; number is the default
// of its call.
func (a *responder) readHeaders(q *wire.Request, number uint64) error {
	q.Call, q.Attempt = number, 1
	if key := a.header("Idempotency-Key"); key != "" {
		q.Call = hash(a.x.from.tenant, key)
	}
	if text := a.header("X-Stainless-Retry-Count"); text != "" {
		if n, err := strconv.ParseUint(text, 10, 16); err == nil { // SDKs set it, so other values are ignored
			q.Attempt = uint32(n) + 1
		}
	}
	attempt, output := uint64(q.Attempt), uint64(min(q.Demand.OutputTokens, a.s.cfg.MaxTokens))
	for _, h := range []struct {
		name        string
		least, most uint64
		to          *uint64
	}{
		{CallHeader, 0, math.MaxUint64, &q.Call}, {AttemptHeader, 1, math.MaxUint32, &attempt}, {OutputHeader, 0, uint64(a.s.cfg.MaxTokens), &output},
	} {
		text := a.header(h.name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n < h.least || n > h.most {
			return headerError(fmt.Sprintf("%s is %.40q; it must be a whole number from %d to %d", h.name, text, h.least, h.most))
		}
		*h.to = n
	}
	q.Attempt, q.Demand.OutputTokens = uint32(attempt), uint32(output)
	if region := a.header(RegionHeader); region != "" {
		i := slices.Index(a.s.cfg.Regions, region)
		switch {
		case len(a.s.cfg.Regions) == 0:
			return headerError(fmt.Sprintf("%s is %.40q; this provider has no named regions", RegionHeader, region))
		case i < 0:
			return headerError(fmt.Sprintf("%s is %.40q; the regions are %s", RegionHeader, region, strings.Join(a.s.cfg.Regions, ", ")))
		}
		q.Target.Region = uint8(i)
	}
	return nil
}

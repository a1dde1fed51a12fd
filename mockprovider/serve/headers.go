package serve

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"herdlab/mockprovider/wire"
)

// Headers by which a test says what a client of a real provider cannot: which
// call a request belongs to, for the draws that are the call's, which attempt of
// it it is, which region it is for, and how long its answer is to be. Without
// them a call is known by its Idempotency-Key, and an attempt by
// X-Stainless-Retry-Count.
const (
	CallHeader    = "X-Herdlab-Call"
	AttemptHeader = "X-Herdlab-Attempt"
	RegionHeader  = "X-Herdlab-Region"
	OutputHeader  = "X-Herdlab-Output-Tokens"
)

// directionError says what is wrong with one of these headers. It is refused in
// the dialect of the request, by the harness.
type headerError string

// Error implements error.
func (e headerError) Error() string { return string(e) }

// header is the first value of a header with that name, which is canonical.
func (a *responder) header(name string) string {
	if values := a.r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// heed fills in what the headers say of the request with that number, over what
// is there.
func (a *responder) readHeaders(q *wire.Request, number uint64) error {
	q.Call, q.Attempt = number, 1
	if key := a.header("Idempotency-Key"); key != "" {
		q.Call = hash(a.x.from.tenant, key)
	}
	if text := a.header("X-Stainless-Retry-Count"); text != "" {
		if n, err := strconv.ParseUint(text, 10, 16); err == nil { // an SDK's, so whatever else it is
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
			return headerError(fmt.Sprintf("%s is %.40q; this provider has no regions with names", RegionHeader, region))
		case i < 0:
			return headerError(fmt.Sprintf("%s is %.40q; the regions are %s", RegionHeader, region, strings.Join(a.s.cfg.Regions, ", ")))
		}
		q.Target.Region = uint8(i)
	}
	return nil
}

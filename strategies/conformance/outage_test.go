package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// steadily is a drama of so many calls, each after a pause, to a provider that says
// the same to all.
func steadily(speak string, calls int, pause time.Duration, a act) *drama {
	d := &drama{speak: speak, acts: []act{a}}
	for range calls {
		d.pauses = append(d.pauses, pause)
	}
	return d
}

// says is an error of a class in the words of a dialect that has that status for
// it.
func says(status uint16, class wire.Class) act {
	return act{reply: wire.Reply{Status: status, Class: class, Shown: class, Body: wire.ErrorBody, RetryAfter: wire.NoHint}}
}

// An outage costs an AWS client its quota of 500 and then nothing but first
// attempts: at 14 a retry, or 5 after throttling, 35 and 100 retries.
func TestAWSQuotaInAnOutage(t *testing.T) {
	c := clientOf(t, "aws-standard-2026")
	for _, row := range []struct {
		says    act
		retries int
	}{
		{says(503, wire.Overloaded), 500 / 14},
		{says(429, wire.Rate), 500 / 5},
	} {
		d := steadily("bedrock", 80, time.Second, row.says)
		real, model := d.perform(t, c.open), d.perform(t, preset(t, c.preset, d.speak, 1))
		require.Equal(t, real.calls, model.calls)
		require.Equal(t, 80+row.retries, len(real.sent))
	}
}

// An outage of an hour finds cenkalti/backoff and its preset at it for a quarter
// of one, each retry within its interval, and neither is longer than the last
// interval from the end.
func TestCenkaltiInAnOutage(t *testing.T) {
	c := clientOf(t, "cenkalti-backoff")
	def := definition(t, c.preset)
	d := steadily("anthropic", 1, 0, says(529, wire.Overloaded))
	for seed := range uint64(20) {
		for whose, l := range map[string]*life{"the real code": d.perform(t, c.open), "the preset": d.perform(t, preset(t, c.preset, d.speak, seed+1))} {
			l.obeys(t, &def, whose)
			last := l.sent[len(l.sent)-1] - l.sent[0]
			require.LessOrEqual(t, last, 15*time.Minute, whose)
			require.Greater(t, last, 15*time.Minute-90*time.Second, whose)
		}
	}
}

// An empty quota, which has 10 left, allows a retry again after four successes at
// the first try.
func TestAWSQuotaAfterAnOutage(t *testing.T) {
	c, down := clientOf(t, "aws-standard-2026"), says(503, wire.Overloaded)
	for successes, want := range map[int]int{3: 1, 4: 2} {
		const calls = 20 // 17 make three attempts, one makes two, the others one
		d := steadily("bedrock", calls+successes+1, time.Second, down)
		d.acts = append(slices.Repeat([]act{down}, calls+500/14), slices.Repeat([]act{well}, successes)...)
		d.acts = append(d.acts, down)
		real, model := d.perform(t, c.open), d.perform(t, preset(t, c.preset, d.speak, 1))
		require.Equal(t, real.calls, model.calls)
		require.Equal(t, want, real.calls[calls+successes].Attempts)
	}
}

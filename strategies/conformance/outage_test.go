package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"herdlab/mockprovider/wire"
)

// steadyScript returns a script of a number of calls with pauses, to a provider that
// always replies the same.
func steadyScript(speak string, calls int, pause time.Duration, a scriptedReply) *script {
	d := &script{dialect: speak, replies: []scriptedReply{a}}
	for range calls {
		d.pauses = append(d.pauses, pause)
	}
	return d
}

// says returns an error of a class in a dialect that has that status for it.
func says(status uint16, class wire.Class) scriptedReply {
	return scriptedReply{reply: wire.Reply{Status: status, Class: class, Shown: class, Body: wire.ErrorBody, Hint: wire.Hint{Value: wire.NoHint}}}
}

// An outage costs an AWS client its quota of 500 (14 per retry, or 5 after throttling: 35
// and 100 retries), and then it sends only first attempts.
func TestAWSQuotaDuringOutage(t *testing.T) {
	c := clientOf(t, "aws-standard-2026")
	for _, row := range []struct {
		says    scriptedReply
		retries int
	}{
		{says(503, wire.Overloaded), 500 / 14},
		{says(429, wire.Rate), 500 / 5},
	} {
		d := steadyScript("bedrock", 80, time.Second, row.says)
		real, model := d.run(t, c.open), d.run(t, preset(t, c.preset, d.dialect, 1))
		require.Equal(t, real.calls, model.calls)
		require.Equal(t, 80+row.retries, len(real.sent))
	}
}

// In an outage of an hour, cenkalti/backoff and its preset retry for a quarter of an hour,
// each retry within its interval, and stop within the last interval before the end.
func TestCenkaltiDuringOutage(t *testing.T) {
	c := clientOf(t, "cenkalti-backoff")
	def := definition(t, c.preset)
	d := steadyScript("anthropic", 1, 0, says(529, wire.Overloaded))
	for seed := range uint64(20) {
		for whose, l := range map[string]*runResult{"the real code": d.run(t, c.open), "the preset": d.run(t, preset(t, c.preset, d.dialect, seed+1))} {
			l.obeys(t, &def, whose)
			last := l.sent[len(l.sent)-1] - l.sent[0]
			require.LessOrEqual(t, last, 15*time.Minute, whose)
			require.Greater(t, last, 15*time.Minute-90*time.Second, whose)
		}
	}
}

// After the quota has fallen to 10, a retry is possible after four successful first
// attempts.
func TestAWSQuotaAfterOutage(t *testing.T) {
	c, down := clientOf(t, "aws-standard-2026"), says(503, wire.Overloaded)
	for successes, want := range map[int]int{3: 1, 4: 2} {
		const calls = 20 // 17 make three attempts, one makes two, the others one
		d := steadyScript("bedrock", calls+successes+1, time.Second, down)
		d.replies = append(slices.Repeat([]scriptedReply{down}, calls+500/14), slices.Repeat([]scriptedReply{well}, successes)...)
		d.replies = append(d.replies, down)
		real, model := d.run(t, c.open), d.run(t, preset(t, c.preset, d.dialect, 1))
		require.Equal(t, real.calls, model.calls)
		require.Equal(t, want, real.calls[calls+successes].Attempts)
	}
}

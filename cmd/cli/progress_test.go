package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
)

// screen is the line of a terminal that is redrawn.
func screen(written string) string {
	var line []rune
	at := 0
	for _, r := range written {
		if r == '\r' {
			at = 0
			continue
		}
		if at == len(line) {
			line = append(line, r)
		} else {
			line[at] = r
		}
		at++
	}
	return strings.TrimRight(string(line), " ")
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	clock := clockwork.NewFakeClock()
	p := newProgress(&b, clock)
	for _, step := range []struct {
		after time.Duration
		done  int
		want  string
	}{
		{0, 0, "░░░░░░░░░░░░░░░░░░░░░░░░  0 of 260 runs"},
		{time.Second, 13, "█░░░░░░░░░░░░░░░░░░░░░░░  13 of 260 runs, about 19 s left"},
		{50 * time.Millisecond, 14, "█░░░░░░░░░░░░░░░░░░░░░░░  13 of 260 runs, about 19 s left"}, // too soon to draw
		{950 * time.Millisecond, 130, "████████████░░░░░░░░░░░░  130 of 260 runs, about 2 s left"},
		{time.Millisecond, 260, "████████████████████████  260 of 260 runs"}, // the end is always drawn
	} {
		clock.Advance(step.after)
		p.update(step.done, 260)
		assert.Equal(t, step.want, screen(b.String()))
	}
	p.clear()
	assert.Empty(t, screen(b.String()))
	assert.NotContains(t, b.String(), "\n", "it is one line")
	assert.NotContains(t, b.String(), "\x1b", "every terminal understands it")
}

func TestProgressLineFits(t *testing.T) {
	t.Parallel()
	for done := 0; done <= 1_000_000; done += 99_991 {
		assert.Less(t, columns(progressLine(done, 1_000_000, 300*time.Hour)), pageWidth)
	}
}

func TestRoughly(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		300 * time.Millisecond: "less than 1 s", 1500 * time.Millisecond: "about 2 s", 99 * time.Second: "about 99 s",
		150 * time.Second: "about 3 min", 3 * time.Hour: "about 3 h",
	} {
		assert.Equal(t, want, roughly(d))
	}
}

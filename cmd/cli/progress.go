package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/sim/metrics/format"
)

// redrawEvery is the least time between two drawings of the progress line: faster
// changes cannot be read, and slow terminals fall behind.
const redrawEvery = 100 * time.Millisecond

// progress is one line on a terminal with the part of the runs that are complete and
// the estimated remaining time. Its time starts when it is created.
type progress struct {
	w            io.Writer
	clock        clockwork.Clock
	began, drawn time.Time
	width        int // of what is drawn
}

func newProgress(w io.Writer, clock clockwork.Clock) *progress {
	return &progress{w: w, clock: clock, began: clock.Now()}
}

// update draws the progress, done of total runs, unless the last drawing is recent.
func (p *progress) update(done, total int) {
	now := p.clock.Now()
	if !p.drawn.IsZero() && now.Sub(p.drawn) < redrawEvery && done < total {
		return
	}
	p.drawn = now
	p.draw(progressLine(done, total, now.Sub(p.began)))
}

// draw replaces the line. Blanks cover the rest of a longer one, because they work on
// every terminal.
func (p *progress) draw(line string) {
	n := columns(line)
	// An error of the terminal does not stop the runs.
	_, _ = fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-n)))
	p.width = n
}

// clear leaves an empty line with the cursor at its beginning.
func (p *progress) clear() {
	if p.width > 0 {
		p.draw("")
		_, _ = io.WriteString(p.w, "\r")
	}
}

// progressLine returns the line for done of total runs that took the given time.
func progressLine(done, total int, took time.Duration) string {
	const bar = 24
	full := bar * done / max(total, 1)
	line := fmt.Sprintf("%s%s  %s of %s", strings.Repeat("█", full), strings.Repeat("░", bar-full), format.Fixed(float64(done), 0), count(total, "run"))
	if done == 0 || done == total {
		return line
	}
	left := time.Duration(float64(took) / float64(done) * float64(total-done))
	return line + ", " + roughly(left) + " left"
}

// roughly writes a duration to the precision of an estimate.
func roughly(d time.Duration) string {
	switch s := int(d.Round(time.Second) / time.Second); {
	case s < 1:
		return "less than 1 s"
	case s < 100:
		return fmt.Sprintf("about %d s", s)
	case s < 100*60:
		return fmt.Sprintf("about %d min", (s+30)/60)
	default:
		return fmt.Sprintf("about %d h", (s+1800)/3600)
	}
}

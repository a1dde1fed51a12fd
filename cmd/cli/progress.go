package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"herdlab/sim/metrics/format"
)

// redrawEvery bounds how often the line of progress is drawn: faster, nobody
// can read it, and slow terminals fall behind.
const redrawEvery = 100 * time.Millisecond

// progress is one line on a terminal that says how much is done and how long
// the rest will take. It starts when it is made.
type progress struct {
	w            io.Writer
	clock        clockwork.Clock
	began, drawn time.Time
	width        int // of what is drawn
}

func newProgress(w io.Writer, clock clockwork.Clock) *progress {
	return &progress{w: w, clock: clock, began: clock.Now()}
}

// update draws that done of total runs are done, if it is time to.
func (p *progress) update(done, total int) {
	now := p.clock.Now()
	if !p.drawn.IsZero() && now.Sub(p.drawn) < redrawEvery && done < total {
		return
	}
	p.drawn = now
	p.draw(progressLine(done, total, now.Sub(p.began)))
}

// say draws a line of words.
func (p *progress) say(text string) { p.draw(text) }

// draw replaces the line. Blanks cover what is left of a longer one: every
// terminal knows them.
func (p *progress) draw(line string) {
	n := columns(line)
	// The terminal's failure is no reason to stop the work.
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

// progressLine says that done of total runs took so long.
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

// roughly writes a duration as a person would guess it.
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

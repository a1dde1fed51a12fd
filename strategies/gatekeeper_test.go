package strategies

import (
	"fmt"
	"time"
)

// gatekeeper is a guard that decides as it is told, and notes what it hears.
type Gatekeeper struct {
	Decide func(now time.Duration, c *Call) Decision
	Heard *[]string
}

func (g Gatekeeper) Build(b *Build, inner Strategy) (Strategy, error) { return b.Guard(g, inner) }

func (g Gatekeeper) Admit(now time.Duration, c *Call) Decision { return g.Decide(now, c) }

func (g Gatekeeper) Observe(_ time.Duration, _ *Call, e Event, d Decision) {
	*g.Heard = append(*g.Heard, fmt.Sprint(d.End.Reason, " ", e.Kind))
}

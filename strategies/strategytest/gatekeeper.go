package strategytest

import (
	"fmt"
	"time"

	"herdlab/strategies"
)

// Gatekeeper is a guard that decides by the function Decide and appends each Observe
// to Heard.
type Gatekeeper struct {
	Decide func(now time.Duration, c *strategies.Call) strategies.Decision
	Heard  *[]string
}

func (g Gatekeeper) Build(b *strategies.Build, inner strategies.Strategy) (strategies.Strategy, error) {
	return b.Guard(g, inner)
}

func (g Gatekeeper) Admit(now time.Duration, c *strategies.Call) strategies.Decision {
	return g.Decide(now, c)
}

func (g Gatekeeper) Observe(_ time.Duration, _ *strategies.Call, e strategies.Event, d strategies.Decision) {
	*g.Heard = append(*g.Heard, fmt.Sprint(d.End.Reason, " ", e.Kind))
}

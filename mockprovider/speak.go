package mockprovider

import (
	"time"

	"herdlab/mockprovider/wire"
)

// Speak makes f the forms of replies to requests of that wire.Request.Dialect,
// in place of Config.Forms, which stay those of dialect 0. A provider has one
// dialect; a server lets clients of several meet it. f must not change.
func (p *Provider) Speak(dialect uint8, f *wire.Forms) {
	if dialect == 0 {
		p.forms = *f
		return
	}
	for int(dialect) > len(p.spoken) {
		p.spoken = append(p.spoken, &p.forms)
	}
	p.spoken[dialect-1] = f
}

// formsFor are the forms of replies to r.
func (p *Provider) formsFor(r *wire.Request) *wire.Forms {
	if d := r.Dialect; d > 0 && int(d) <= len(p.spoken) {
		return p.spoken[d-1]
	}
	return &p.forms
}

// Counts returns what limits with these terms count.
func (t Terms) Counts() Unit { return t.Charge.Count }

// Clock returns what the provider's clock shows at now: the time of the run,
// unless a fault has set it wrong.
func (p *Provider) Clock(now time.Duration) time.Duration { return p.clock(now) }

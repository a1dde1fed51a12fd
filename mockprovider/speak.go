package mockprovider

import "herdlab/mockprovider/wire"

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

package mockprovider

import "herdlab/mockprovider/wire"

// SetForms makes f the forms of replies to requests of that wire.Request.Dialect,
// in place of Config.Forms, which stay those of dialect 0. A provider has one
// dialect; a server lets clients of several meet it. f must not change.
func (p *Provider) SetForms(dialect uint8, f *wire.Forms) {
	if dialect == 0 {
		p.forms = *f
		return
	}
	for int(dialect) > len(p.otherForms) {
		p.otherForms = append(p.otherForms, &p.forms)
	}
	p.otherForms[dialect-1] = f
}

// formsFor are the forms of replies to r.
func (p *Provider) formsFor(r *wire.Request) *wire.Forms {
	if d := r.Dialect; d > 0 && int(d) <= len(p.otherForms) {
		return p.otherForms[d-1]
	}
	return &p.forms
}

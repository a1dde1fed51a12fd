package strategies

import "time"

// pooled is the layer around a pool: what is inside begins once the pool has
// granted its units, and gives them back when it ends if they are held and not
// spent. It needs no Guard to decide anything, and so none is asked.
type pooled struct {
	inner   Strategy
	waiting Waiting // set while the call stands in line
	take    Take
	// held counts the grants that the call holds; it has no words if they are
	// spent.
	held Slot
}

// Spend wraps pool id around inner: what is inside begins once the pool has granted a
// unit, which is spent. Reports call the layer by the given name.
func (b *Build) Spend(layer string, id PoolID, inner Strategy) (Strategy, error) {
	waiting, err := b.Waiting(layer)
	if err != nil {
		return nil, err
	}
	return &pooled{inner: inner, waiting: waiting, take: Take{Pool: id, N: 1}}, nil
}

// Hold is Spend for units that are given back when what is inside has ended.
func (b *Build) Hold(layer string, id PoolID, inner Strategy) (Strategy, error) {
	waiting, err := b.Waiting(layer)
	if err != nil {
		return nil, err
	}
	held, err := b.Reserve(PerCall, 1, "")
	return &pooled{inner: inner, waiting: waiting, take: Take{Pool: id, N: 1}, held: held}, err
}

// Next implements Strategy.
func (p *pooled) Next(now time.Duration, c *Call, e Event) Decision {
	waiting := p.waiting.In(c)
	switch {
	case e.Kind == Begin:
		if !c.TryTake(p.take) {
			p.waiting.Set(c)
			return Decision{Kind: Acquire, Take: p.take}
		}
		p.waiting.Clear(c)
		p.granted(c)
	case waiting && e.Kind == Admitted:
		p.waiting.Clear(c)
		p.granted(c)
		e = Event{Kind: Begin}
	case waiting && e.Kind == Cancelled: // nothing inside has begun
		p.waiting.Clear(c)
		return StopCancelled()
	}
	d := p.inner.Next(now, c, e)
	if p.held.n > 0 && d.Settles() {
		p.giveBack(c)
	}
	return d
}

func (p *pooled) granted(c *Call) {
	if p.held.n > 0 {
		*c.Word(p.held, 0)++
	}
}

// giveBack gives one grant back. A call that is cancelled while attempts of it
// are under way is heard of once for each of them and once more for itself.
func (p *pooled) giveBack(c *Call) {
	if held := c.Word(p.held, 0); *held > 0 {
		*held--
		c.Put(p.take.Pool, p.take.N)
	}
}

package strategies

import "time"

// pooled is a layer that waits for a pool: the layers inside begin once the pool has
// granted the units. Held units are returned when the layers inside end; spent
// units are not. It needs no decisions of a Guard.
type pooled struct {
	inner   Strategy
	waiting Waiting // set while the call waits in the queue of the pool
	take    Take
	// held counts the grants that the call holds; it has no words if units are
	// spent.
	held Slot
}

// Spend wraps pool id around inner: inner begins once the pool has granted one unit,
// which is not returned. Layer is the name of the layer in reports.
func (b *Build) Spend(layer string, id PoolID, inner Strategy) (Strategy, error) {
	waiting, err := b.Waiting(layer)
	if err != nil {
		return nil, err
	}
	return &pooled{inner: inner, waiting: waiting, take: Take{Pool: id, N: 1}}, nil
}

// Hold is like Spend, but returns the unit when inner has ended.
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
	case waiting && e.Kind == Cancelled: // the layers inside have not begun
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

// giveBack returns one grant. It does nothing if none is left, because the layers
// inside of a cancelled call may settle several times: once for each attempt in
// flight, and once for the call.
func (p *pooled) giveBack(c *Call) {
	if held := c.Word(p.held, 0); *held > 0 {
		*held--
		c.Put(p.take.Pool, p.take.N)
	}
}

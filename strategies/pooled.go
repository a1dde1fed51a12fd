package strategies

import "time"

// pooled is the layer around a pool: what is inside begins once the pool has
// granted its units, and gives them back when it ends if they are held and not
// spent. It needs no Guard to decide anything, and so none is asked.
type pooled struct {
	inner Strategy
	bit   uint32 // set while the call stands in line
	take  Take
	// held counts the grants that the call holds; it has no words if they are
	// spent.
	held Slot
}

// pooled wraps pool id around inner: units are spent, or held while what is
// inside is under way. name is what errors call the layer.
func (b *Build) pooled(name string, id PoolID, held bool, inner Strategy) (Strategy, error) {
	bit, err := b.phase(name)
	if err != nil {
		return nil, err
	}
	p := &pooled{inner: inner, bit: bit, take: Take{Pool: id, N: 1}}
	if held {
		p.held, err = b.Reserve(PerCall, 1, "")
	}
	return p, err
}

// Next implements Strategy.
func (p *pooled) Next(now time.Duration, c *Call, e Event) Decision {
	waiting := c.Phase&p.bit != 0
	switch {
	case e.Kind == Begin:
		if c.Pools == nil || !c.Pools.TryTake(c, p.take) {
			c.Phase |= p.bit
			return Decision{Kind: Acquire, Take: p.take}
		}
		c.Phase &^= p.bit
		p.granted(c)
	case waiting && e.Kind == Admitted:
		c.Phase &^= p.bit
		p.granted(c)
		e = Event{Kind: Begin}
	case waiting && e.Kind == Cancelled: // nothing inside has begun
		c.Phase &^= p.bit
		return withdrawn()
	}
	d := p.inner.Next(now, c, e)
	if p.held.n > 0 && d.settles() {
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
